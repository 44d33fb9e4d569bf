#include "dual/potentials.h"

#include <algorithm>
#include <cmath>

#include "dp/subset_sums.h"

namespace hardwood::search {

void Potentials::add(const PointSet& points, const HeapTree& tree, double step) {
    extend(points);
    apply(points, tree, step, 0);
    const auto known = std::ranges::find(steps_, tree, &Step::tree);
    if (known != steps_.end()) {
        known->size += step;
    } else {
        steps_.push_back({.tree = tree, .size = step});
    }
}

void Potentials::add(const ByClass& weights, double step) {
    for (std::size_t z = 0; z < values_[0].size(); ++z) {
        std::size_t label = 0;
        for (std::size_t c = 1; c < values_.size(); ++c)
            label = weights[c][z] > weights[label][z] ? c : label;
        for (std::size_t c = 0; c < values_.size(); ++c) values_[c][z] += c == label ? 0.0 : step;
    }
}

Potentials Potentials::moved_to(const PointSet& points) const {
    Potentials moved(to_int(values_.size()));
    moved.steps_ = steps_;
    moved.extend(points);
    return moved;
}

void Potentials::extend(const PointSet& points) {
    const std::size_t from = values_[0].size();
    if (from == points.size()) return;
    for (auto& own : values_) own.resize(points.size(), 0.0);
    for (const Step& step : steps_) apply(points, step.tree, step.size, from);
}

void Potentials::apply(const PointSet& points, const HeapTree& tree, double step,
                       std::size_t from) {
    const std::vector<std::uint16_t> labels = points.labels(tree, from);
    for (std::size_t c = 0; c < values_.size(); ++c) {
        double* const own = values_[c].data() + from;
        for (std::size_t z = 0; z < labels.size(); ++z) own[z] += labels[z] == c ? 0.0 : step;
    }
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
}

/// One pass over the points of a row by increasing cost: the slice of mass between two costs k and
/// l has size multiplier * (l - k) / class weight and is divided among all points up to cost k in
/// proportion to their attraction. Property (P) must hold for doubles: each weight is a sum of at
/// most m products, each within m + 4 roundings of a sum of positive numbers, so 2m + 16 units in
/// the last place are subtracted.
void distribute_mass(const Instance& instance, const ReachableSets& reachable, double multiplier,
                     const ByClass& potentials, ByClass& weights) {
    ByClass attraction(potentials.size());
    weights.resize(potentials.size());
    for (std::size_t c = 0; c < potentials.size(); ++c) {
        const double largest = potentials[c].empty() ? 0.0 : std::ranges::max(potentials[c]);
        attraction[c].resize(potentials[c].size());
        weights[c].assign(potentials[c].size(), 0.0);
        for (std::size_t z = 0; z < potentials[c].size(); ++z) {
            attraction[c][z] = std::exp(std::max(potentials[c][z] - largest, -40.0));
        }
    }
    std::vector<double> slices;
    for (std::size_t set = 0; set < reachable.n_sets(); ++set) {
        const auto [levels, points] = reachable[set];
        for (std::size_t i = reachable.first_row(set); i < reachable.end_row(set); ++i) {
            const std::size_t label = idx(instance.label(i));
            const double own_multiplier = multiplier / instance.class_weight(instance.label(i));
            const double* const pull = attraction[label].data();
            double* const weight = weights[label].data();
            slices.clear();
            double sum = 0.0;
            std::size_t k = 0;  // points of the levels so far
            for (std::size_t l = 0; l < levels.size() && own_multiplier * levels[l].cost < 1.0;
                 ++l) {
                for (; k < levels[l].end; ++k) sum += pull[points[k]];
                const double next = l + 1 < levels.size()
                                        ? std::min(1.0, own_multiplier * levels[l + 1].cost)
                                        : 1.0;
                slices.push_back((next - own_multiplier * levels[l].cost) / sum);
            }
            const double share =
                instance.weight(i) * (1.0 - static_cast<double>(2 * k + 16) * 0x1p-52);
            double all = 0.0;
            for (std::size_t l = slices.size(); l-- > 0;) {
                all += slices[l];
                for (std::size_t w = l > 0 ? levels[l - 1].end : 0; w < levels[l].end; ++w) {
                    weight[points[w]] += share * all * pull[points[w]];
                }
            }
        }
    }
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
