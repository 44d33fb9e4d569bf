#include "sharing.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "decomposition.h"

namespace hardwood::search {

namespace {

constexpr double first_part = 0.25;  // of a point that crosses, where nothing is known yet

}  // namespace

Sharing::Sharing(const Instance& instance, Watch& watch)
    : instance_(instance) {
    if (Programme::fits(instance)) programme_.emplace(instance, watch);
}

Relaxed Sharing::ask_root(const Region& root, double price, Rule rule, double test_price) {
    std::vector<double> weight(root.size(), 0.0);
    for (std::size_t j = 0; j < root.size(); ++j) {
        if (root.points[j] != no_point) weight[j] = instance_.count()[root.points[j]];
    }
    Programme::Question question;
    question.price = price;
    question.rule = rule;
    question.test_price = test_price;
    return programme_->solve(root, weight, question);
}

Skeleton Sharing::best_by_sum(const Region& root, double price) { return ask_root(root, price, Rule::sum, 0.0).best; }

double Sharing::least_own_loss(const Region& root, double price, double test_price, Skeleton& tree) {
    Relaxed relaxed = ask_root(root, price, Rule::own, test_price);
    tree = std::move(relaxed.best);
    return relaxed.value;
}

bool Sharing::nobody_crosses(double price) {
    programme_->set(price, Crossings(instance_.n_classes(), instance_.tests().size(), 0.0));
    for (std::size_t t = 0; t < instance_.tests().size(); ++t) {
        for (std::size_t i = 0; i < instance_.n_points(); ++i) {
            if (programme_->slope(i, t) > 0) return false;
        }
    }
    return true;
}

// Of each point of an open region: the part that the fixed tests send there.
std::vector<double> Sharing::parts_of(const Node& node, const Region& region) const {
    std::vector<double> parts(region.size(), 0.0);
    for (std::size_t j = 0; j < region.size(); ++j) {
        if (region.points[j] == no_point) continue;
        parts[j] = 1.0;
        for (std::size_t at = region.position; at > 1; at /= 2) {
            const auto test = static_cast<std::size_t>(node.fixed[at / 2].test);
            parts[j] *= programme_->part(region.points[j], test, static_cast<int>(at % 2));
        }
    }
    return parts;
}

Sharing::Solved Sharing::solve(const Node& node, double price, const Task& task, const Crossings& crossings,
                               double cutoff, bool each_test, const std::vector<bool>& closed) {
    programme_->set(price, crossings);
    Solved solved;
    solved.value = task.test_price * node.n_tests;
    solved.tree = node.fixed;
    std::vector<double> least(node.open.size(), 0.0);
    for (const RegionPtr& region : node.open) {
            std::vector<double> weight = parts_of(node, *region);
        for (std::size_t j = 0; j < region->size(); ++j) {
            if (region->points[j] != no_point) weight[j] *= task.weight[region->points[j]];
        }
        Programme::Question question;
        question.price = price;
        question.rule = Rule::shared;
        question.crossings = &crossings;
        question.test_price = task.test_price;
        question.cutoff = cutoff - solved.value;
        question.each_test = each_test;
        if (!closed.empty()) question.left_out = &closed;
        solved.regions.push_back(programme_->solve(*region, weight, question));
        solved.value += solved.regions.back().value;
        put_subtree(solved.regions.back().best, *region, solved.tree);
    }
    return solved;
}

// What was best at the nearest price, here or at the parent; otherwise nothing crosses, or some of all.
std::vector<Crossings> Sharing::first_crossings(const Node& node, double price) const {
    const Crossings* nearest = nullptr;
    double distance = infinity;
    const auto consider = [&](double known_price, const std::shared_ptr<const Crossings>& crossings) {
        if (!crossings || std::abs(known_price - price) >= distance) return;
        distance = std::abs(known_price - price);
        nearest = crossings.get();
    };
    for (const PriceBound& bound : node.bounds) consider(bound.price, bound.crossings);
    if (nearest == nullptr) {
        for (const auto& [known_price, crossings] : node.inherited_crossings) consider(known_price, crossings);
    }
    if (nearest != nullptr) return {*nearest};
    return {Crossings(instance_.n_classes(), instance_.tests().size(), 0.0),
            Crossings(instance_.n_classes(), instance_.tests().size(), first_part)};
}

PriceBound Sharing::bound(const Node& node, double price, Task& task, double target, int iterations,
                          const std::vector<bool>& closed) {
    PriceBound result;
    result.price = price;
    std::vector<Crossings> first = first_crossings(node, price);
    Crossings crossings, best;
    double stretch = 1.0;
    int stalled = 0;
    for (int iteration = 0; iteration < iterations; ++iteration) {
        if (!first.empty()) {
            crossings = std::move(first.front());
            first.erase(first.begin());
        }
        const Solved solved = solve(node, price, task, crossings, target, false, closed);
        stalled = solved.value > result.value + 0.02 * std::max(1.0, target - solved.value) ? 0 : stalled + 1;
        if (solved.value > result.value) {
            result.value = solved.value;
            best = crossings;
        }
        if (result.value >= target) break;
        task.offer(solved.tree);
        if (!first.empty()) continue;
        if (stalled >= 3) {
            stretch *= 0.5;
            crossings = best;
            stalled = 0;
            if (stretch < 0.2) break;
            continue;
        }
        const double goal = std::min(target, result.value + 0.02 * instance_.n_samples());
        if (!step(solved.tree, price, task, stretch * (goal - solved.value + 0.3), crossings)) break;
    }
    // Once the target is reached, that is enough for every test.
    std::vector<Relaxed> regions;
    if (result.value < target) regions = solve(node, price, task, best, target, true, closed).regions;
    double sum = task.test_price * node.n_tests;
    for (const Relaxed& region : regions) sum += region.value;
    result.value = std::max(result.value, regions.empty() ? -infinity : sum);
    programme_->set(price, best);
    for (std::size_t k = 0; k < node.open.size(); ++k) {
        std::vector<double>& by_test = result.by_test.emplace_back(node.open[k]->tests.size(), result.value);
        result.by_leaf.push_back(result.value);
        result.shares.push_back(parts_of(node, *node.open[k]));
        if (regions.empty()) continue;
        const double others = sum - regions[k].value;
        for (std::size_t t = 0; t < by_test.size(); ++t) by_test[t] = std::max(by_test[t], regions[k].by_test[t] + others);
        result.by_leaf[k] = std::max(result.value, regions[k].leaf + others);
    }
    for (std::size_t t = 0; t < closed.size(); ++t) {
        if (closed[t]) result.by_test[0][t] = task.goal(price);
    }
    result.crossings = std::make_shared<const Crossings>(std::move(best));
    return result;
}

double Sharing::quick_bound(const Node& node, double price, const Task& task) {
    const Crossings crossings(instance_.n_classes(), instance_.tests().size(), first_part);
    return solve(node, price, task, crossings, infinity, false, {}).value;
}

bool Sharing::step(const Skeleton& tree, double price, const Task& task, double gain, Crossings& crossings) {
    limits_.clear();
    for (std::size_t f = 0; f < instance_.n_features(); ++f) limits_.push_back(instance_.open_limit(f));
    cost_.resize(std::max<std::size_t>(1, cost_.size()));
    share_.resize(cost_.size());
    value_.resize(cost_.size());
    cost_[0].assign(instance_.n_points(), 0.0);
    share_[0].assign(instance_.n_points(), 1.0);
    gradient_.assign(crossings.parts().size(), 0.0);
    follow(tree, 1, 0, price, task);
    double norm = 0.0;
    for (std::size_t z = 0; z < gradient_.size(); ++z) {
        const double part = crossings.parts()[z];
        if ((gradient_[z] < 0 && part <= 0) || (gradient_[z] > 0 && part >= 1)) gradient_[z] = 0.0;
        norm += gradient_[z] * gradient_[z];
    }
    if (norm < 1e-12) return false;
    for (std::size_t z = 0; z < gradient_.size(); ++z) {
        crossings.parts()[z] = std::clamp(crossings.parts()[z] + gain / norm * gradient_[z], 0.0, 1.0);
    }
    return true;
}

// The loss of each point under shared weights in the subtree at a position, and how it changes with each part that crosses.
void Sharing::follow(const Skeleton& tree, std::size_t at, std::size_t depth, double price, const Task& task) {
    const std::size_t n = instance_.n_points();
    value_[depth].assign(n, 0.0);
    const auto presence = [&](std::size_t i) {
        return cost_[depth][i] <= instance_.budget() ? std::max(0.0, 1.0 - price * cost_[depth][i]) : 0.0;
    };
    if (tree[at].test < 0) {
        for (std::size_t i = 0; i < n; ++i) {
            if (static_cast<int>(instance_.label(i)) != tree[at].label) value_[depth][i] = presence(i);
        }
        return;
    }
    const auto t = static_cast<std::size_t>(tree[at].test);
    const Test& test = instance_.tests()[t];
    const Limit before = limits_[test.feature];
    const LimitPrice old_price = instance_.price_of(before);
    if (cost_.size() < depth + 2) {
        cost_.resize(depth + 2);
        share_.resize(depth + 2);
        value_.resize(depth + 2);
    }
    std::array<std::vector<double>, 2> side_value;
    for (int side = 0; side < 2; ++side) {
        std::vector<double>& value = side_value[static_cast<std::size_t>(side)];
        limits_[test.feature] = instance_.restricted(before, test, side);
        if (instance_.empty(limits_[test.feature])) {
            value.assign(n, 0.0);
            continue;
        }
        const LimitPrice new_price = instance_.price_of(limits_[test.feature]);
        cost_[depth + 1].resize(n);
        share_[depth + 1].resize(n);
        std::visit(
            [&](const auto& old_part, const auto& new_part) {
                for (std::size_t i = 0; i < n; ++i) {
                    const double cost = cost_[depth][i];
                    cost_[depth + 1][i] = cost < infinity ? cost + (new_part(i) - old_part(i)) : infinity;
                    share_[depth + 1][i] = share_[depth][i] * programme_->part(i, t, side);
                }
            },
            old_price, new_price);
        follow(tree, 2 * at + static_cast<std::size_t>(side), depth + 1, price, task);
        value = value_[depth + 1];
    }
    limits_[test.feature] = before;
    const bool last = tree[2 * at].test < 0 && tree[2 * at + 1].test < 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double left = side_value[0][i], right = side_value[1][i];
        if (last) {
            value_[depth][i] = std::max(left, right);
            continue;
        }
        value_[depth][i] = programme_->part(i, t, 0) * left + programme_->part(i, t, 1) * right;
        const int home = programme_->home_side(i, t);
        const double gain = home == 0 ? right - left : left - right;
        gradient_[Crossings::index(instance_.label(i), home, t, instance_.tests().size())] +=
            task.weight[i] * share_[depth][i] * programme_->slope(i, t) * gain;
    }
}

}  // namespace hardwood::search
