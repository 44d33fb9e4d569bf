#include "evaluation.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace hardwood::search {

Evaluation Evaluator::operator()(const Skeleton& tree) {
    limits_.clear();
    for (std::size_t f = 0; f < instance_.n_features(); ++f) limits_.push_back(instance_.open_limit(f));
    points_.resize(instance_.n_points());
    for (std::size_t i = 0; i < points_.size(); ++i) points_[i] = i;
    cost_.resize(std::max<std::size_t>(cost_.size(), 1));
    cost_[0].assign(points_.size(), 0.0);
    margin_.assign(points_.size(), infinity);
    visit(tree, 1, 0);
    return worst_case();
}

void Evaluator::losses(const Region& region, const Skeleton& tree, double price, std::vector<double>& loss) {
    limits_ = region.limits;
    points_ = region.points;
    cost_.resize(std::max<std::size_t>(cost_.size(), 1));
    cost_[0] = region.cost;
    margin_.assign(points_.size(), infinity);
    visit(tree, region.position, 0);
    loss.resize(points_.size());
    for (std::size_t j = 0; j < loss.size(); ++j) {
        loss[j] = margin_[j] < infinity ? std::max(0.0, 1.0 - price * margin_[j]) : 0.0;
    }
}

void Evaluator::visit(const Skeleton& tree, std::size_t position, std::size_t depth) {
    const Choice& choice = tree[position];
    if (choice.test < 0) {
        for (std::size_t j = 0; j < points_.size(); ++j) {
            if (points_[j] == no_point || cost_[depth][j] >= margin_[j]) continue;
            if (instance_.label(points_[j]) != static_cast<std::size_t>(choice.label)) margin_[j] = cost_[depth][j];
        }
        return;
    }
    const Test& test = instance_.tests()[static_cast<std::size_t>(choice.test)];
    const Limit before = limits_[test.feature];
    const LimitPrice old_price = instance_.price_of(before);
    if (cost_.size() < depth + 2) cost_.resize(depth + 2);
    for (int side = 0; side < 2; ++side) {
        limits_[test.feature] = instance_.restricted(before, test, side);
        if (!instance_.empty(limits_[test.feature])) {
            const LimitPrice new_price = instance_.price_of(limits_[test.feature]);
            cost_[depth + 1].resize(points_.size());
            std::visit(
                [&](const auto& old_part, const auto& new_part) {
                    for (std::size_t j = 0; j < points_.size(); ++j) {
                        const bool here = points_[j] != no_point && cost_[depth][j] < infinity;
                        const double cost =
                            here ? cost_[depth][j] + (new_part(points_[j]) - old_part(points_[j])) : infinity;
                        cost_[depth + 1][j] = cost <= instance_.budget() ? cost : infinity;
                    }
                },
                old_price, new_price);
            visit(tree, 2 * position + static_cast<std::size_t>(side), depth + 1);
        }
    }
    limits_[test.feature] = before;
}

// Flips the cheapest samples first. All prices and the budget are whole multiples of one power of two, so sums and
// products up to the budget are exact, and what is larger exceeds the budget beyond doubt.
Evaluation Evaluator::worst_case() {
    sorted_.clear();
    for (std::size_t i = 0; i < margin_.size(); ++i) {
        if (margin_[i] < infinity) sorted_.emplace_back(margin_[i], instance_.count()[i]);
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

int count_tests(const Skeleton& tree, std::size_t position) {
    if (tree[position].test < 0) return 0;
    return 1 + count_tests(tree, 2 * position) + count_tests(tree, 2 * position + 1);
}

}  // namespace hardwood::search
