#include "dual/potentials.h"

#include <algorithm>
#include <cmath>

#include "dp/subset_sums.h"

namespace hardwood::search {

namespace {

/// Attractions lie between the exponentials of these, so that sums and quotients of them are
/// positive numbers of full precision.
constexpr double min_exponent = -300.0, max_raise = 100.0;

constexpr std::size_t points_per_task = 2048;

/// Threads share the points from `begin` on, in ranges.
template <class Use>
void in_ranges(std::size_t begin, std::size_t end, ThreadTeam& team, const Use& use) {
    team.run(n_ranges(end - begin, points_per_task), [&](std::size_t task, std::size_t) {
        const std::size_t first = begin + task * points_per_task;
        use(first, std::min(first + points_per_task, end));
    });
}

}  // namespace

void Potentials::add(const PointSet& points, const HeapTree& tree, double step, ThreadTeam& team) {
    extend(points, team);
    const Step own{.tree = tree, .size = step};
    in_ranges(0, points.size(), team,
              [&](std::size_t begin, std::size_t end) { apply(points, own, begin, end); });
    finish_step(step);
    const auto known = std::ranges::find(steps_, tree, &Step::tree);
    if (known != steps_.end()) {
        known->size += step;
    } else {
        steps_.push_back(own);
    }
}

void Potentials::add(const ByClass& mass, double step) {
    const double factor = std::exp(step);
    for (std::size_t z = 0; z < values_[0].size(); ++z) {
        std::size_t label = 0;
        for (std::size_t c = 1; c < values_.size(); ++c)
            label = mass[c][z] > mass[label][z] ? c : label;
        for (std::size_t c = 0; c < values_.size(); ++c) {
            values_[c][z] += c == label ? 0.0 : step;
            attractions_[c][z] *= c == label ? 1.0 : factor;
        }
    }
    finish_step(step);
}

Potentials Potentials::moved_to(const PointSet& points, ThreadTeam& team) const {
    Potentials moved(to_int(values_.size()));
    moved.steps_ = steps_;
    moved.extend(points, team);
    moved.update_attractions();
    return moved;
}

void Potentials::extend(const PointSet& points, ThreadTeam& team) {
    const std::size_t from = values_[0].size();
    if (from == points.size()) return;
    for (std::size_t c = 0; c < values_.size(); ++c) {
        values_[c].resize(points.size(), 0.0);
        attractions_[c].resize(points.size(), 0.0);
    }
    in_ranges(from, points.size(), team, [&](std::size_t begin, std::size_t end) {
        for (const Step& step : steps_) apply(points, step, begin, end);
        for (std::size_t c = 0; c < values_.size(); ++c) {
            for (std::size_t z = begin; z < end; ++z) attractions_[c][z] = attraction_of(c, z);
        }
    });
}

void Potentials::apply(const PointSet& points, const Step& step, std::size_t begin,
                       std::size_t end) {
    const std::vector<std::uint16_t> labels = points.labels(step.tree, begin, end);
    const double factor = std::exp(step.size);
    for (std::size_t c = 0; c < values_.size(); ++c) {
        double* const own = values_[c].data() + begin;
        double* const attraction = attractions_[c].data() + begin;
        for (std::size_t z = 0; z < labels.size(); ++z) {
            own[z] += labels[z] == c ? 0.0 : step.size;
            attraction[z] *= labels[z] == c ? 1.0 : factor;
        }
    }
}

/// New points may have potentials above the reference, but not by more than what was raised.
double Potentials::attraction_of(std::size_t label, std::size_t point) const {
    return std::exp(
        std::clamp(values_[label][point] - references_[label], min_exponent, max_raise + 1.0));
}

void Potentials::update_attractions() {
    raised_ = 0.0;
    for (std::size_t c = 0; c < values_.size(); ++c) {
        if (values_[c].empty()) continue;
        references_[c] = std::ranges::max(values_[c]);
        for (std::size_t z = 0; z < values_[c].size(); ++z)
            attractions_[c][z] = attraction_of(c, z);
    }
}

void Potentials::finish_step(double step) {
    raised_ += step;
    if (raised_ > max_raise) update_attractions();
}

void Potentials::compress(double range) {
    double widest = 0.0;
    for (const auto& own : values_) {
        if (own.empty()) continue;
        const auto [low, high] = std::ranges::minmax(own);
        widest = std::max(widest, high - low);
    }
    if (widest <= range) return;
    for (auto& own : values_) {
        for (double& value : own) value *= range / widest;
    }
    for (Step& step : steps_) step.size *= range / widest;
    update_attractions();
}

/// docs/theory.md#numbers: 4 ^ levels sums of this many terms, each at most the total, and room for
/// twice as many.
double rounding_error(const Instance& instance, const PointSet& points,
                      const ReachableSets& reachable, int levels) {
    const int subtractions = std::clamp(levels, 3, SubsetSums::max_order);
    const std::size_t bins = idx(subtractions * instance.n_bins());
    const auto terms =
        static_cast<double>(instance.n_rows() + points.size() + bins + reachable.max_size()) +
        256.0;
    return std::ldexp(terms * instance.total(), 2 * subtractions + 1 - 53);
}

PointWeights dp_weights(const ByClass& weights, const SearchParams& params,
                        std::span<const double> sizes, std::vector<std::uint32_t>& points) {
    const bool two_classes = weights.size() == 2;
    const std::size_t n = weights[0].size();
    PointWeights result{.n_channels = two_classes ? 1 : to_int(weights.size())};
    result.values.resize(n * idx(result.n_channels));
    points.clear();
    double neglected = 0.0;
    for (std::size_t z = 0; z < n; ++z) {
        double magnitude = 0.0;
        if (two_classes) {
            const double difference = weights[1][z] - weights[0][z];
            result.unavoidable_error += std::min(weights[0][z], weights[1][z]);
            result.values[z] = difference;
            magnitude = std::abs(difference);
        } else {
            for (std::size_t c = 0; c < weights.size(); ++c) {
                result.values[z * weights.size() + c] = weights[c][z];
                magnitude += weights[c][z];
            }
        }
        const bool has_observations = !sizes.empty() && sizes[z] > 0.0;
        const bool negligible = magnitude == 0.0 || (magnitude < params.negligible_weight &&
                                                     neglected + magnitude < params.max_neglected);
        if (!has_observations && negligible) {
            neglected += magnitude;
        } else {
            points.push_back(to_id(z));
        }
    }
    return result;
}

double any_labelling_error(const ByClass& weights) {
    double error = 0.0;
    for (std::size_t z = 0; z < weights[0].size(); ++z) {
        double all = 0.0, largest = 0.0;
        for (const auto& own : weights) {
            all += own[z];
            largest = std::max(largest, own[z]);
        }
        error += all - largest;
    }
    return error;
}

}  // namespace hardwood::search
