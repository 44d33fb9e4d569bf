#include "evaluation.h"

#include <algorithm>
#include <cmath>

namespace hardwood::search {

Evaluation Evaluator::operator()(const Skeleton& tree) {
    leaves_ = leaves_of(instance_, tree);
    margin_.assign(instance_.n_rows(), infinity);
    nearest_.assign(instance_.n_rows(), 0);
    for (std::size_t l = 0; l < leaves_.size(); ++l) {
        const BoxCost cost(instance_, leaves_[l].box);
        for (std::size_t i = 0; i < margin_.size(); ++i) {
            if (instance_.label(i) == leaves_[l].label) continue;
            const double price = cost(i);
            if (price < margin_[i]) {
                margin_[i] = price;
                nearest_[i] = l;
            }
        }
    }
    return worst_case();
}

// Flips the cheapest samples first. All prices and the budget are whole multiples of one power of two, so sums and
// products up to the budget are exact, and what is larger exceeds the budget beyond doubt.
Evaluation Evaluator::worst_case() {
    sorted_.clear();
    for (std::size_t i = 0; i < margin_.size(); ++i) {
        if (margin_[i] < infinity) sorted_.emplace_back(margin_[i], instance_.count(i));
    }
    std::sort(sorted_.begin(), sorted_.end());
    double left = instance_.budget(), lost = 0.0;
    for (const auto& [margin, count] : sorted_) {
        if (margin * count <= left) {
            left -= margin * count;
            lost += count;
            continue;
        }
        double copies = std::floor(left / margin);
        while (copies > 0 && copies * margin > left) copies -= 1;
        while ((copies + 1) * margin <= left) copies += 1;
        const double correct = instance_.n_samples() - lost - copies;
        return {correct, instance_.n_samples() - lost - left / margin, 1.0 / margin};
    }
    return {instance_.n_samples() - lost, instance_.n_samples() - lost, 0.0};
}

}  // namespace hardwood::search
