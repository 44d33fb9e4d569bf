#include "evaluation.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "../support/row_numbers.h"

namespace hardwood::search {

Evaluation Evaluator::operator()(const Skeleton& tree) {
    leaves_.clear();
    margin_.assign(instance_.n_rows(), infinity);
    nearest_.assign(instance_.n_rows(), 0);
    for (const auto& [box, label, position] : leaves_of(instance_, tree)) {
        const auto number = static_cast<std::uint32_t>(leaves_.size());
        const BoxCost& cost = leaves_.emplace_back(instance_, box);
        for (std::size_t i = 0; i < margin_.size(); ++i) {
            if (instance_.label(i) == label) continue;
            const double price = cost(i);
            if (price < margin_[i]) {
                margin_[i] = price;
                nearest_[i] = number;
            }
        }
    }
    return worst_case();
}

// How much can be lost at each price of losing one, ascending; there are few different ones as a rule.
std::vector<std::pair<double, double>> Evaluator::tally() const {
    RowNumbers<std::uint64_t> numbers(1);
    std::vector<std::pair<double, double>> tally;
    for (std::size_t i = 0; i < margin_.size(); ++i) {
        if (margin_[i] == infinity) continue;
        const double price = margin_[i] / instance_.worth(instance_.label(i));
        const auto bits = std::bit_cast<std::uint64_t>(price);
        const auto [number, is_new] = numbers.add(&bits);
        if (is_new) tally.emplace_back(price, 0.0);
        tally[number].second += instance_.count(i);
    }
    std::ranges::sort(tally);
    return tally;
}

// Flips the cheapest samples first. All prices and the budget are whole multiples of one power of two, so sums and
// products up to the budget are exact, and what is larger exceeds the budget beyond doubt. In part, roundings are allowed for where
// values are claimed (docs/theory.md#numbers).
Evaluation Evaluator::worst_case() const {
    double left = instance_.budget(), lost = 0.0;
    for (const auto& [margin, count] : tally()) {
        if (margin * count <= left) {
            left -= margin * count;
            lost += count;
            continue;
        }
        const double dual = instance_.n_samples() - lost - left / margin;
        if (instance_.in_part()) return {std::ceil(dual), dual, 1.0 / margin};
        double copies = std::floor(left / margin);
        while (copies > 0 && copies * margin > left) copies -= 1;
        while ((copies + 1) * margin <= left) copies += 1;
        return {instance_.n_samples() - lost - copies, dual, 1.0 / margin};
    }
    const double dual = std::max(0.0, instance_.n_samples() - lost);
    return {std::ceil(dual), dual, 0.0};
}

}  // namespace hardwood::search
