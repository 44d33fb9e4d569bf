#include "model/evaluator.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "util/row_ids.h"

namespace hardwood::search {

Evaluation Evaluator::operator()(const HeapTree& tree) {
    leaves_.clear();
    margin_.assign(instance_.n_rows(), infinity);
    nearest_.assign(instance_.n_rows(), 0);
    for (const auto& [box, label, position] : leaves_of(instance_, tree)) {
        const std::uint32_t leaf = to_id(leaves_.size());
        const BoxCost& cost_of = leaves_.emplace_back(instance_, box);
        for (std::size_t i = 0; i < margin_.size(); ++i) {
            if (instance_.label(i) == label) continue;
            const double cost = cost_of(i);
            if (cost < margin_[i]) {
                margin_[i] = cost;
                nearest_[i] = leaf;
            }
        }
    }
    return worst_case();
}

/// Weight that can be flipped at each margin per unit of class weight, ascending; there are usually
/// few different ones.
std::vector<std::pair<double, double>> Evaluator::weight_by_margin() const {
    RowIds<std::uint64_t> ids(1);
    std::vector<std::pair<double, double>> weights;
    for (std::size_t i = 0; i < margin_.size(); ++i) {
        if (margin_[i] == infinity) continue;
        const double margin = margin_[i] / instance_.class_weight(instance_.label(i));
        const auto bits = std::bit_cast<std::uint64_t>(margin);
        const auto [id, is_new] = ids.add(&bits);
        if (is_new) weights.emplace_back(margin, 0.0);
        weights[id].second += instance_.weight(i);
    }
    std::ranges::sort(weights);
    return weights;
}

/// Flips the cheapest samples first. All costs and the budget are multiples of one power of two, so
/// sums and products up to the budget are exact, and larger ones exceed the budget beyond doubt. In
/// the fractional case, claims allow for rounding (docs/theory.md#numbers).
Evaluation Evaluator::worst_case() const {
    double left = instance_.budget(), flipped = 0.0;
    for (const auto& [margin, weight] : weight_by_margin()) {
        if (margin * weight <= left) {
            left -= margin * weight;
            flipped += weight;
            continue;
        }
        const double dual = instance_.total() - flipped - left / margin;
        if (instance_.fractional()) {
            return {.correct = std::ceil(dual), .dual = dual, .dual_multiplier = 1.0 / margin};
        }
        double copies = std::floor(left / margin);
        while (copies > 0 && copies * margin > left) copies -= 1;
        while ((copies + 1) * margin <= left) copies += 1;
        return {.correct = instance_.total() - flipped - copies,
                .dual = dual,
                .dual_multiplier = 1.0 / margin};
    }
    const double dual = std::max(0.0, instance_.total() - flipped);
    return {.correct = std::ceil(dual), .dual = dual, .dual_multiplier = 0.0};
}

}  // namespace hardwood::search
