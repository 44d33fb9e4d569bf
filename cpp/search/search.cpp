#include "search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hardwood::search {

namespace {

// A tree as text: tests in preorder, and for each leaf its label.
void write(const Skeleton& tree, std::size_t at, std::string& text) {
    const std::int32_t entry = tree[at].test >= 0 ? tree[at].test : -1 - tree[at].label;
    text.append(reinterpret_cast<const char*>(&entry), sizeof entry);
    if (tree[at].test < 0) return;
    write(tree, 2 * at, text);
    write(tree, 2 * at + 1, text);
}

// Two bounds at one price: the larger of both, everywhere.
void keep_larger(PriceBound& bound, const PriceBound& other) {
    const auto raise = [](double& value, double to) { value = std::max(value, to); };
    raise(bound.value, other.value);
    for (std::size_t k = 0; k < bound.by_test.size(); ++k) {
        raise(bound.by_leaf[k], other.by_leaf[k]);
        for (std::size_t t = 0; t < bound.by_test[k].size(); ++t) raise(bound.by_test[k][t], other.by_test[k][t]);
    }
}

}  // namespace

Search::Search(const Instance& instance, int depth, double penalty, const Options& options, const Limits& limits,
               std::function<bool(const State&)> on_progress)
    : instance_(instance),
      depth_(depth),
      penalty_(penalty),
      options_(options),
      watch_(limits.seconds, limits.work, [this] { return on_progress_(state()); }),
      on_progress_(std::move(on_progress)),
      limits_(limits),
      lean_(memory_of_all_children(instance) > limits.memory),
      decomposition_(instance, watch_),
      solver_(instance, options_, decomposition_, watch_),
      sharing_(instance, watch_),
      evaluate_tree_(instance),
      upper_bound_(instance.n_samples()),
      integral_(instance.smallest_price() > instance.budget()),
      most_tests_(all_tests()) {
    weight = instance.count();
    for (std::size_t c = 0; c < instance.n_classes(); ++c) {
        Skeleton leaf(std::size_t{2} << depth);
        leaf[1] = {-1, static_cast<int>(c)};
        offer(leaf);
    }
}

State Search::state() const {
    double bound = upper_bound_;
    const std::lock_guard lock(team_.mutex);
    if (!pending_.empty() && test_price == 0.0) {
        double dual = std::max(open_bound_, rival_);  // what is closed is below the rival, not below the best tree
        for (const double pending : pending_) dual = std::max(dual, pending);
        bound = std::min(bound, std::max(best_.correct, std::ceil(dual)));
    }
    return {watch_.elapsed(), best_.correct, best_.tests, bound, proved_, work()};
}

const char* Search::stop_reason() const {
    if (!watch_.has_stopped()) return "finished";
    if (watch_.worked()) return "work_limit";
    return watch_.interrupted() ? "interrupted" : "time_limit";
}

// A tree beats the rival iff its dual value exceeds it at some price: n - price * budget - loss > rival. The goal is
// raised by the rounding that a bound may carry, so that a bound at or above it is a proof. If all losses are whole
// numbers, the dual value is one, too, and less is enough.
double Search::goal(double price) const {
    const double tests = test_price * most_tests_;
    if (integral_) return instance_.n_samples() - rival_ - 1.0 + 2.0 * instance_.rounding() + tests;
    return instance_.n_samples() - price * instance_.budget() - rival_ + instance_.rounding() + tests;
}

void Search::offer(const Skeleton& tree) {
    // The whole tree is the key, not a hash of it: a tree that is skipped must have been evaluated before.
    std::string key;
    write(tree, 1, key);
    if (seen_.size() > 200'000) seen_.clear();
    if (!seen_.insert(std::move(key)).second) return;
    const Evaluation evaluation = evaluate_tree_(tree);
    const int tests = count_tests(tree);
    const bool smaller = evaluation.correct == best_.correct && tests < best_.tests;  // matters if tests cost nothing
    if (best_.correct >= 0 && evaluation.correct <= to_beat(tests) && !smaller) return;
    adopt({tree, evaluation.correct, tests, evaluation.dual_price});
}

void Search::adopt(const Best& best) {
    best_ = best;
    if (rival_ >= 0) rival_ = std::max(rival_, to_beat(most_tests_));
}

// Objectives that differ by less than 1e-9 are equal.
double Search::to_beat(int tests) const {
    return std::floor(best_.correct - penalty_ * (best_.tests - tests) + 1e-9);
}

void Search::run() {
    if (depth_ > 0 && !instance_.tests().empty()) {
        if (solve_ordinary()) return;
        find_first_trees();
        shrink();
        prove();
    } else {
        upper_bound_ = best_.correct;
        proved_ = true;
    }
}

// If nobody can afford to change anything that is tested, the problem is that of the ordinary optimal tree, and one dynamic
// programme solves it, penalty and all. Depth by depth, so that there is a good tree early.
bool Search::solve_ordinary() {
    if (!integral_ || !shares() || !sharing_.nobody_crosses(0.0)) return false;
    for (int depth = 1; depth <= depth_; ++depth) {
        const RegionPtr root = root_region(instance_, depth);
        Skeleton tree;
        const double value = sharing_.least_own_loss(*root, 0.0, penalty_, tree);
        tree.resize(std::size_t{2} << depth_);
        offer(tree);
        if (watch_.has_stopped()) return true;
        if (depth < depth_) continue;
        // No tree has a larger objective, so none keeps more correct than this, whatever its size.
        const double most = instance_.n_samples() - value + instance_.rounding() + penalty_ * most_tests_;
        upper_bound_ = std::min(upper_bound_, std::max(best_.correct, std::floor(most)));
        proved_ = true;
    }
    return true;
}

double Search::cost_of(const Node& node) const {
    double cost = 0.0;
    for (const RegionPtr& region : node.open) {
        cost += 3.0 * static_cast<double>(region->size()) *
                std::pow(static_cast<double>(region->tests.size()), std::max(1, region->levels));
    }
    return cost;
}

// Shared weights first where there are many levels; shares point by point where they are affordable.
PriceBound Search::bound_at(const Node& node, double price, double target, bool thorough) {
    const int levels = node.levels();
    const bool single = node.open.size() == 1;
    if (!shares() || (!single && levels < 3)) {
        return decomposition_.bound(node, price, *this, target, iterations_for(levels));
    }
    // With several regions, a bound for a test on one of them would have to allow for tests that are left out of the others,
    // of which no more is known than that they miss the goal at this very price.
    std::vector<bool> closed;
    for (std::size_t t = 0; t < node.open[0]->tests.size() && single; ++t) closed.push_back(is_closed(node, 0, t, price));
    PriceBound bound = sharing_.bound(node, price, *this, target, single ? (thorough ? 12 : 3) : 4, closed);
    const bool reached = bound.value >= target;
    if (std::ranges::find(closed, true) != closed.end()) bound.value = std::min(bound.value, goal(price));
    if (single || levels > 3 || reached || watch_.stopped()) return bound;
    PriceBound fine = decomposition_.bound(node, price, *this, target, iterations_for(levels), &bound.shares);
    fine.crossings = bound.crossings;
    keep_larger(fine, bound);
    return fine;
}

void Search::evaluate(Node& node, bool thorough) {
    const int levels = node.levels();
    const double resolution = (levels == 1 ? 0.5 : 1.0) / instance_.budget();
    int left = node.open.size() == 1 ? 10 : 6;
    if (node.open.size() > 1 && cost_of(node) > 3e8) left = 3;
    if (node.open.size() > 1 && !thorough) left = 2;
    double ambition = 0.1;
    std::vector<Interval> work = node.alive;
    while (!work.empty() && left > 0) {
        Interval interval = work.back();
        work.pop_back();
        const auto overlap = std::ranges::find_if(node.alive, [&](const Interval& alive) {
            return std::max(alive.low, interval.low) <= std::min(alive.high, interval.high);
        });
        if (overlap == node.alive.end()) continue;
        interval = {std::max(overlap->low, interval.low), std::min(overlap->high, interval.high)};
        const double price = interval.high;
        --left;
        PriceBound bound = bound_at(node, price, goal(interval.low), thorough);
        if (watch_.stopped()) return;
        if (thorough && options_.nesting && node.open.size() > 1 && bound.value < goal(interval.low)) {
            const double now = goal(price);
            const double target = std::min(goal(interval.low), now + std::max(1.0, ambition * price * instance_.budget()));
            if (bound.value < target) solver_.raise(node, *this, target, now, bound);
            if (watch_.stopped()) return;
            const bool reached = bound.value >= now + 0.9 * (target - now);
            ambition = reached ? std::min(0.5, ambition * 1.5) : std::max(0.05, ambition * 0.4);
        }
        const double gap = bound.value - goal(price);
        node.bounds.push_back(std::move(bound));
        if (gap >= 0) discard(node.alive, price, node.bounds.back().value);
        if (node.bounds.back().crossings) narrow(node);
        if (node.is_root()) pending_ = {dual_bound(node)};
        if (integral_) break;
        const double width = interval.high - interval.low;
        // Far enough to go on from there; where the bound hardly clears the goal, lower prices are tried instead.
        if (gap >= std::min(0.5, 0.02 * width * instance_.budget())) {
            if (gap > 0.3) ++left;
            const double next = price - gap / instance_.budget();
            if (next > interval.low) work.push_back({interval.low, next});
        } else if (width > resolution) {
            const double middle = 0.5 * (interval.low + interval.high);
            if (node.open.size() > 1 && interval.high - middle > 4 * resolution) {
                work.push_back({middle, 0.5 * (middle + interval.high)});
            }
            work.push_back({interval.low, middle});
        }
    }
}

Node Search::make_child(const Node& node, std::size_t region, std::size_t test, std::vector<Interval> alive) {
    double lowest = infinity;
    for (const Interval& interval : alive) lowest = std::min(lowest, interval.low);
    const double ceiling = lowest > 0 && lowest < infinity ? 1.0 / lowest * (1.0 + 1e-12) : infinity;
    const int tests_left = most_tests_ - node.n_tests - 1;
    Node child = child_of(instance_, node, region, test, tests_left, ceiling, options_.inherit_shares);
    child.alive = std::move(alive);
    child.ceiling = ceiling;
    pass_on(node, region, test, child);
    return child;
}

// What is known of a child from its parent.
void Search::pass_on(const Node& node, std::size_t region, std::size_t test, Node& child) {
    child.inherited = node.inherited;
    for (const PriceBound& bound : node.bounds) {
        if (bound.crossings) child.inherited_crossings.emplace_back(bound.price, bound.crossings);
        const double value = test == no_point ? bound.by_leaf[region] : bound.by_test[region][test];
        child.inherited.emplace_back(bound.price, std::max(bound.value, value));
    }
    if (child.inherited_crossings.empty()) child.inherited_crossings = node.inherited_crossings;
}

// (s; t, t) and (t; s, s) are the same tree if the tests are on different features: only one of them is looked at.
bool Search::is_twin(const Node& node, const Region& region, std::size_t test) const {
    if (!options_.skip_twins || region.position <= 1) return false;
    const std::size_t sibling = region.position ^ 1, parent = region.position / 2;
    for (const RegionPtr& open : node.open) {
        if (open->position == sibling) return false;
    }
    const int here = region.tests[test], above = node.fixed[parent].test;
    return node.fixed[sibling].test == here && here < above &&
           instance_.tests()[static_cast<std::size_t>(here)].feature !=
               instance_.tests()[static_cast<std::size_t>(above)].feature;
}

// The tests that may stand on top of a region, and a leaf if it counts: where the bounds miss their goals by most comes first.
std::vector<std::size_t> Search::tests_by_promise(const Node& node, std::size_t region) const {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t t = 0; t < node.open[region]->tests.size(); ++t) {
        double promise = infinity;
        for (const PriceBound& bound : node.bounds) {
            promise = std::min(promise, bound.by_test[region][t] - goal(bound.price));
        }
        order.emplace_back(promise, t);
    }
    if (test_price > 0 || order.empty()) order.emplace_back(-infinity, no_point);
    std::ranges::stable_sort(order);
    std::vector<std::size_t> tests;
    for (const auto& [promise, test] : order) tests.push_back(test);
    return tests;
}

void Search::expand(Node& node) {
    if (node.levels() <= 1) {
        finish(node);
        if (watch_.stopped()) leave_open(dual_bound(node));
        return;
    }
    std::vector<std::size_t> survivors(node.open.size(), 0);
    for (std::size_t k = 0; k < node.open.size(); ++k) {
        if (node.open[k]->levels < 2) continue;
        for (std::size_t t = 0; t < node.open[k]->tests.size(); ++t) survivors[k] += !child_alive(node, k, t).empty();
    }
    const std::size_t region = region_to_branch(node, survivors);
    for (const std::size_t test : tests_by_promise(node, region)) {
        if (test != no_point && is_twin(node, *node.open[region], test)) continue;
        std::vector<Interval> alive = child_alive(node, region, test);
        if (alive.empty()) continue;
        if (watch_.stopped()) {
            Node unseen;
            unseen.alive = std::move(alive);
            pass_on(node, region, test, unseen);
            leave_open(dual_bound(unseen));
            continue;
        }
        Node child = make_child(node, region, test, std::move(alive));
        if (child.n_tests > most_tests_) continue;
        evaluate(child, true);
        if (child.alive.empty()) continue;
        if (watch_.stopped()) {
            leave_open(dual_bound(child));
        } else {
            expand(child);
        }
    }
}

void Search::finish(Node& node) {
    std::vector<Interval> work = node.alive;
    while (!work.empty() && !watch_.stopped()) {
        const Interval interval = work.back();
        work.pop_back();
        const double price = interval.high;
        PriceBound bound = decomposition_.bound(node, price, *this, goal(interval.low), 20);
        if (watch_.stopped()) return;
        const double gap = bound.value - goal(price);
        if (integral_ && gap >= 0) continue;
        const double width = (interval.high - interval.low) * instance_.budget();
        if (gap >= std::min(0.25 * width, 0.5)) {
            const double next = price - gap / instance_.budget() * (1.0 - 1e-12);
            if (next > interval.low) work.push_back({interval.low, next});
            continue;
        }
        if (width > 0.5) {
            const double middle = 0.5 * (interval.low + interval.high);
            work.push_back({middle, interval.high});
            work.push_back({interval.low, middle});
            continue;
        }
        // For prices in between, the loss is at least the loss at the upper end, the goal at most that of the lower end.
        Completion(instance_, node, bound, *this, interval.low, watch_).run();
    }
}

}  // namespace hardwood::search
