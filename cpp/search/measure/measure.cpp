#include "measure.h"

#include <algorithm>
#include <cmath>

#include "../programme/tuple_sums.h"

namespace hardwood::search {

void Potentials::add(const Points& points, const Skeleton& tree, double step) {
    extend(points);
    attract(points, tree, step, 0);
    const auto known = std::ranges::find(steps_, tree, &Step::tree);
    if (known != steps_.end()) {
        known->size += step;
    } else {
        steps_.push_back({tree, step});
    }
}

void Potentials::add(const ByClass& weights, double step) {
    for (std::size_t z = 0; z < of_[0].size(); ++z) {
        std::size_t label = 0;
        for (std::size_t c = 1; c < of_.size(); ++c) label = weights[c][z] > weights[label][z] ? c : label;
        for (std::size_t c = 0; c < of_.size(); ++c) of_[c][z] += c == label ? 0.0 : step;
    }
}

Potentials Potentials::moved_to(const Points& points) const {
    Potentials moved(static_cast<int>(of_.size()));
    moved.steps_ = steps_;
    moved.extend(points);
    return moved;
}

void Potentials::extend(const Points& points) {
    const std::size_t from = of_[0].size();
    if (from == points.size()) return;
    for (auto& own : of_) own.resize(points.size(), 0.0);
    for (const Step& step : steps_) attract(points, step.tree, step.size, from);
}

void Potentials::attract(const Points& points, const Skeleton& tree, double step, std::size_t from) {
    const std::vector<std::uint16_t> labels = points.labels(tree, from);
    for (std::size_t c = 0; c < of_.size(); ++c) {
        double* const own = of_[c].data() + from;
        for (std::size_t z = 0; z < labels.size(); ++z) own[z] += labels[z] == c ? 0.0 : step;
    }
}

void Potentials::compress(double range) {
    double widest = 0.0;
    for (const auto& own : of_) {
        if (own.empty()) continue;
        const auto [least, most] = std::ranges::minmax(own);
        widest = std::max(widest, most - least);
    }
    if (widest <= range) return;
    for (auto& own : of_) {
        for (double& value : own) value *= range / widest;
    }
    for (Step& step : steps_) step.size *= range / widest;
}

// One pass over the points of a row in the order of their costs: the slices between two costs k and l weigh price * (l - k) / worth,
// and are shared out among all points up to cost k in proportion to their attraction.
// Property (P) must hold for the doubles: each weight is a sum of at most m products, each right to within m + 4 roundings of
// a sum of positive numbers, so 2m + 16 units in the last place are taken off.
void spread(const Instance& instance, const Reach& reach, double price, const ByClass& potentials, ByClass& weights) {
    ByClass attraction(potentials.size());
    weights.resize(potentials.size());
    for (std::size_t c = 0; c < potentials.size(); ++c) {
        const double most = potentials[c].empty() ? 0.0 : std::ranges::max(potentials[c]);
        attraction[c].resize(potentials[c].size());
        weights[c].assign(potentials[c].size(), 0.0);
        for (std::size_t z = 0; z < potentials[c].size(); ++z) {
            attraction[c][z] = std::exp(std::max(potentials[c][z] - most, -40.0));
        }
    }
    std::vector<double> slice;
    for (std::size_t list = 0; list < reach.n_lists(); ++list) {
        const auto [levels, points] = reach[list];
        for (std::size_t i = reach.first_row(list); i < reach.end_row(list); ++i) {
            const auto label = static_cast<std::size_t>(instance.label(i));
            const double own_price = price / instance.worth(instance.label(i));
            const double* const pull = attraction[label].data();
            double* const weight = weights[label].data();
            slice.clear();
            double sum = 0.0;
            std::size_t k = 0;  // points of the levels so far
            for (std::size_t l = 0; l < levels.size() && own_price * levels[l].cost < 1.0; ++l) {
                for (; k < levels[l].end; ++k) sum += pull[points[k]];
                const double next = l + 1 < levels.size() ? std::min(1.0, own_price * levels[l + 1].cost) : 1.0;
                slice.push_back((next - own_price * levels[l].cost) / sum);
            }
            const double share = instance.count(i) * (1.0 - static_cast<double>(2 * k + 16) * 0x1p-52);
            double all = 0.0;
            for (std::size_t l = slice.size(); l-- > 0;) {
                all += slice[l];
                for (std::size_t w = l > 0 ? levels[l - 1].end : 0; w < levels[l].end; ++w) {
                    weight[points[w]] += share * all * pull[points[w]];
                }
            }
        }
    }
}

// docs/theory.md#numbers: 4 ^ levels sums of so many terms, each at most n_samples in size, and room for twice as many.
double rounding(const Instance& instance, const Points& points, const Reach& reach, int levels) {
    const int subtractions = std::clamp(levels, 3, TupleSums::longest);
    const auto bins = static_cast<std::size_t>(subtractions * instance.n_bins());
    const auto terms = static_cast<double>(instance.n_rows() + points.size() + bins + reach.longest()) + 256.0;
    return std::ldexp(terms * instance.n_samples(), 2 * subtractions + 1 - 53);
}

Weights weights_for_programme(const ByClass& weights, const Effort& effort, std::span<const double> sizes,
                              std::vector<std::uint32_t>& members) {
    const bool two = weights.size() == 2;
    const std::size_t n = weights[0].size();
    Weights result;
    result.channels = two ? 1 : static_cast<int>(weights.size());
    result.of.resize(n * static_cast<std::size_t>(result.channels));
    members.clear();
    double left_out = 0.0;
    for (std::size_t z = 0; z < n; ++z) {
        double size = 0.0;
        if (two) {
            const double difference = weights[1][z] - weights[0][z];
            result.unavoidable += std::min(weights[0][z], weights[1][z]);
            result.of[z] = difference;
            size = std::abs(difference);
        } else {
            for (std::size_t c = 0; c < weights.size(); ++c) {
                result.of[z * weights.size() + c] = weights[c][z];
                size += weights[c][z];
            }
        }
        const bool counts = !sizes.empty() && sizes[z] > 0.0;
        if (!counts && (size == 0.0 || (size < effort.tiny_weight && left_out + size < effort.most_left_out))) {
            left_out += size;
        } else {
            members.push_back(static_cast<std::uint32_t>(z));
        }
    }
    return result;
}

double error_of_any_labelling(const ByClass& weights) {
    double error = 0.0;
    for (std::size_t z = 0; z < weights[0].size(); ++z) {
        double all = 0.0, most = 0.0;
        for (const auto& own : weights) {
            all += own[z];
            most = std::max(most, own[z]);
        }
        error += all - most;
    }
    return error;
}

}  // namespace hardwood::search
