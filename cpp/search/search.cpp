#include "search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hardwood::search {

namespace {

void subtract(std::vector<Interval>& alive, double low, double high) {
    std::vector<Interval> left;
    for (const Interval& interval : alive) {
        if (high < interval.low || low > interval.high) {
            left.push_back(interval);
            continue;
        }
        if (interval.low < low) left.push_back({interval.low, low});
        if (interval.high > high) left.push_back({high, interval.high});
    }
    alive = std::move(left);
}

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

// Two numbers for each point and test of a region, and about as much again while it is worked on.
double of_region(const Instance& instance) {
    return 32.0 * static_cast<double>(instance.n_points()) * static_cast<double>(instance.tests().size());
}

double all_children(const Instance& instance) {
    return of_region(instance) * (static_cast<double>(instance.tests().size()) + 8.0);
}

}  // namespace

double least_memory(const Instance& instance, int depth, int n_jobs) {
    const auto n_tests = static_cast<double>(instance.tests().size());
    const double pairs = 24.0 * static_cast<double>(instance.n_classes()) * n_tests * n_tests;  // sums for pairs of tests
    return of_region(instance) * (1.0 + (depth + 1.0) * n_jobs) + pairs * n_jobs;
}

Search::Search(const Instance& instance, int depth, double penalty, const Options& options, const Limits& limits,
               std::function<bool(const State&)> on_progress)
    : instance_(instance),
      depth_(depth),
      penalty_(penalty),
      options_(options),
      watch_(limits.seconds,
             [this] { return on_progress_(state()) && (limits_.work < 0 || work() < limits_.work); }),
      on_progress_(std::move(on_progress)),
      limits_(limits),
      lean_(all_children(instance) > limits.memory),
      decomposition_(instance, watch_),
      solver_(instance, options_, decomposition_, watch_),
      sharing_(instance, watch_),
      evaluate_tree_(instance),
      upper_bound_(instance.n_samples()),
      integral_(instance.smallest_price() > instance.budget()),
      most_tests_((1 << std::min(depth, 20)) - 1) {
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
    if (!watch_.interrupted()) return "time_limit";
    return limits_.work >= 0 && work() >= limits_.work ? "work_limit" : "interrupted";
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
    if (!integral_ || !options_.sharing || !sharing_.fits() || !sharing_.nobody_crosses(0.0)) return false;
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

// With a bound at a price: every lower price down to a distance of gap / budget is closed, because losses fall with the
// price; and every higher price up to price * rival / (rival - gap), because the dual value of a tree is concave in the
// price and not negative at 0, so that its ratio to the price falls.
void Search::discard(std::vector<Interval>& alive, double price, double value) const {
    const double gap = value - goal(price);
    if (gap < 0) return;
    if (integral_) {
        alive.clear();
        return;
    }
    double high = price;
    if (options_.right_discard && test_price == 0.0 && gap > 0) {
        high = rival_ > gap ? price * (rival_ / (rival_ - gap)) * (1.0 - 1e-12) : infinity;
    }
    subtract(alive, price - gap / instance_.budget() * (1.0 - 1e-12), std::max(high, price));
}

// The largest dual value that a completion of the node may have at a price that is alive: between two known prices, the
// loss is at least what is known at the higher one or beyond. The rounding makes it exceed every dual value strictly, so
// that the next whole number also covers trees whose best price is 0 (see `close`).
double Search::dual_bound(const Node& node) const {
    std::vector<std::pair<double, double>> known = node.inherited;
    for (const PriceBound& bound : node.bounds) known.emplace_back(bound.price, bound.value);
    std::ranges::sort(known);
    for (std::size_t z = known.size(); z-- > 1;) known[z - 1].second = std::max(known[z - 1].second, known[z].second);
    const double fixed = instance_.n_samples() + instance_.rounding() + test_price * most_tests_;
    double bound = rival_;
    for (const Interval& interval : node.alive) {
        double from = interval.low;
        bool covered = false;
        for (const auto& [price, value] : known) {
            if (price < from || from > interval.high) continue;
            bound = std::max(bound, fixed - from * instance_.budget() - value);
            from = price;
            covered = true;
        }
        if (!covered || from < interval.high) bound = std::max(bound, fixed - from * instance_.budget());
    }
    return bound;
}

bool Search::is_closed(const Node& node, std::size_t region, std::size_t test, double price) const {
    return std::ranges::none_of(child_alive(node, region, test), [&](const Interval& interval) {
        return interval.low <= price && price <= interval.high;
    });
}

// Every completion has some test on top of each open region, so only prices at which one of them is alive are. (A leaf counts
// as a test with leaves of the same label, which bounds for two and more levels allow; a last test has two labels.)
void Search::narrow(Node& node) const {
    for (std::size_t k = 0; k < node.open.size(); ++k) {
        if (node.open[k]->levels < 2 || node.open[k]->tests.empty()) continue;
        std::vector<Interval> pieces;
        const auto add = [&](std::size_t test) {
            for (const Interval& interval : child_alive(node, k, test)) pieces.push_back(interval);
        };
        for (std::size_t t = 0; t < node.open[k]->tests.size(); ++t) add(t);
        if (test_price > 0) add(no_point);
        std::ranges::sort(pieces, {}, &Interval::low);
        std::vector<Interval> alive;
        for (const Interval& piece : pieces) {
            if (!alive.empty() && piece.low <= alive.back().high) {
                alive.back().high = std::max(alive.back().high, piece.high);
            } else {
                alive.push_back(piece);
            }
        }
        node.alive = std::move(alive);
    }
}

// Shared weights first where there are many levels; shares point by point where they are affordable.
PriceBound Search::bound_at(const Node& node, double price, double target, bool thorough) {
    const int levels = node.levels();
    const bool single = node.open.size() == 1;
    if (!options_.sharing || !sharing_.fits() || (!single && levels < 3)) {
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

std::vector<Interval> Search::child_alive(const Node& node, std::size_t region, std::size_t test) const {
    std::vector<Interval> alive = node.alive;
    for (const PriceBound& bound : node.bounds) {
        const double child = test == no_point ? bound.by_leaf[region] : bound.by_test[region][test];
        discard(alive, bound.price, options_.child_bounds ? std::max(bound.value, child) : bound.value);
    }
    return alive;
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

void Search::expand_root(Node& root) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t t = 0; t < root.open[0]->tests.size(); ++t) {
        double promise = infinity;
        for (const PriceBound& bound : root.bounds) promise = std::min(promise, bound.by_test[0][t] - goal(bound.price));
        order.emplace_back(root.bounds.empty() ? 0.0 : promise, t);
    }
    if (test_price > 0) order.emplace_back(-infinity, no_point);
    std::ranges::stable_sort(order);
    std::vector<Node> children;
    for (const auto& [promise, test] : order) {
        std::vector<Interval> alive = child_alive(root, 0, test);
        if (alive.empty()) continue;
        children.push_back(make_child(root, 0, test, std::move(alive)));
        if (children.back().n_tests > most_tests_) children.pop_back();
        else if (lean_) children.back().open.clear();
    }
    const auto note = [&](std::size_t z, double bound) {
        const std::lock_guard lock(team_.mutex);
        pending_[z] = bound;
    };
    const auto drop = [](Node& child) { child.open.clear(); };
    // All children get a cheap look, then a thorough one, before any is expanded: the bound falls steadily, and what is
    // learnt from one about the best tree helps the others.
    for (const bool thorough : {false, true}) {
        prepare(children);
        for_each_child(children, [&](Search& worker, Node& child, std::size_t z) {
            worker.restore(root, child);
            worker.evaluate(child, thorough);
            note(z, worker.dual_bound(child));
            if (lean_) drop(child);
        });
    }
    prepare(children);
    for_each_child(children, [&](Search& worker, Node& child, std::size_t z) {
        worker.refresh(child);
        worker.restore(root, child);
        if (!child.alive.empty()) worker.expand(child);
        child = Node();
        note(z, std::max(worker.rival_, worker.open_bound_));
    });
    for (const Node& child : children) {
        if (!child.alive.empty()) leave_open(dual_bound(child));  // nobody came to it before the end
    }
}

// Makes the regions of a child of the root again, if they were dropped.
void Search::restore(const Node& root, Node& child) const {
    if (!child.open.empty()) return;
    const auto& tests = root.open[0]->tests;
    const auto found = std::ranges::find(tests, child.fixed[1].test);
    const std::size_t test = child.n_tests == 0 ? no_point : static_cast<std::size_t>(found - tests.begin());
    child.open = child_of(instance_, root, 0, test, most_tests_ - 1, child.ceiling, false).open;
}

// Closes the prices that a better rival closes, too.
void Search::refresh(Node& node) const {
    for (const PriceBound& bound : node.bounds) discard(node.alive, bound.price, bound.value);
}

// Leaves out the children that are closed, and sorts the others: the largest bound first.
void Search::prepare(std::vector<Node>& children) {
    for (Node& child : children) refresh(child);
    std::erase_if(children, [](const Node& child) { return child.alive.empty(); });
    std::ranges::stable_sort(children, [&](const Node& a, const Node& b) { return dual_bound(a) > dual_bound(b); });
    const std::lock_guard lock(team_.mutex);
    pending_.clear();
    for (const Node& child : children) pending_.push_back(dual_bound(child));
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
    for (const auto& [promise, test] : order) {
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
