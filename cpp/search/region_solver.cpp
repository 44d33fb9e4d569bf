#include "region_solver.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hardwood::search {

namespace {

constexpr int largest_nested = 3;       // levels of a region that is solved exactly inside a bound
constexpr std::size_t pool_size = 24;
constexpr int rounds = 6;
constexpr int model_steps = 30;

// Losses that differ by less are not told apart. Exact values of regions come with this taken off, so a region with one
// more level, which adds up a few of them, must be less particular, or its bounds would miss every tie by a hair.
double tie(const Instance& instance, int levels) {
    return std::pow(10.0, levels) * std::max(1e-9, instance.rounding());
}

}  // namespace

// Minimises the weighted loss of subtrees of one region. Ties are not worth a search: a bound closes that comes within
// `tie` of the best loss, and `solve` takes that and the possible rounding off its result.
class RegionSolver::InnerTask : public Task {
public:
    InnerTask(const Region& region, double price, double cutoff, Evaluator& evaluator)
        : best(cutoff), region_(region), price_(price), evaluator_(evaluator) {
        offer_often = false;
    }

    double goal(double) const override { return best - tie; }
    double tie = 0.0;

    void offer(const Skeleton& tree) override {
        evaluator_.losses(region_, tree, price_, loss_);
        double value = test_price * count_tests(tree, region_.position);
        for (std::size_t j = 0; j < region_.size(); ++j) {
            if (region_.points[j] != no_point) value += weight[region_.points[j]] * loss_[j];
        }
        if (value < best) {
            best = value;
            best_tree = tree;
            found = true;
        }
    }

    double best;
    bool found = false;
    Skeleton best_tree;

private:
    const Region& region_;
    double price_;
    Evaluator& evaluator_;
    std::vector<double> loss_;
};

RegionPtr as_leaf(const Region& region) {
    auto leaf = std::make_shared<Region>();
    leaf->position = region.position;
    leaf->limits = region.limits;
    leaf->points = region.points;
    leaf->cost = region.cost;
    leaf->class_begin = region.class_begin;
    return leaf;
}

Node child_of(const Instance& instance, const Node& node, std::size_t region, std::size_t k, int tests_left,
              double ceiling, bool inherit_shares) {
    Node child;
    child.fixed = node.fixed;
    child.n_tests = node.n_tests;
    const Region& parent = *node.open[region];
    for (std::size_t o = 0; o < node.open.size(); ++o) {
        if (o != region) child.open.push_back(node.open[o]);
    }
    if (k == no_point) {
        child.open.push_back(as_leaf(parent));
    } else {
        child.fixed[parent.position] = {parent.tests[k], 0};
        child.n_tests += 1;
        for (int side = 0; side < 2; ++side) {
            child.open.push_back(part_of(instance, parent, k, side, tests_left, ceiling));
        }
    }
    if (!inherit_shares) return child;
    std::vector<std::size_t> place(instance.n_points(), no_point);
    for (std::size_t j = 0; j < parent.size(); ++j) {
        if (parent.points[j] != no_point) place[parent.points[j]] = j;
    }
    for (const PriceBound& bound : node.bounds) {
        if (bound.shares.empty()) continue;
        Shares shares;
        for (std::size_t o = 0; o < node.open.size(); ++o) {
            if (o != region) shares.push_back(bound.shares[o]);
        }
        if (k == no_point) {
            shares.push_back(bound.shares[region]);
        } else {
            for (int side = 0; side < 2; ++side) {
                const Region& part = *child.open[child.open.size() - 2 + static_cast<std::size_t>(side)];
                std::vector<double> split(part.size(), 0.0);
                for (std::size_t j = 0; j < part.size(); ++j) {
                    if (part.points[j] == no_point) continue;
                    const std::size_t at = place[part.points[j]];
                    const std::size_t crossing = k * parent.size() + at;
                    const double here = 1.0 - bound.price * parent.cost[at];
                    const double cross = parent.cross[crossing] < ceiling
                                             ? std::max(0.0, 1.0 - bound.price * parent.cross[crossing])
                                             : 0.0;
                    const double away = here > 1e-9 ? 0.5 * cross / here : 0.0;
                    const bool own = (parent.side[crossing] > 0) == (side == 1);
                    split[j] = bound.shares[region][at] * (own ? 1.0 - away : away);
                }
                shares.push_back(std::move(split));
            }
        }
        child.inherited_shares.emplace_back(bound.price, std::move(shares));
    }
    return child;
}

std::size_t region_to_branch(const Node& node, const std::vector<std::size_t>& survivors) {
    std::size_t best = no_point;
    for (std::size_t k = 0; k < node.open.size(); ++k) {
        if (node.open[k]->levels < 2) continue;
        if (best == no_point || survivors[k] < survivors[best] ||
            (survivors[k] == survivors[best] && node.open[k]->levels > node.open[best]->levels)) {
            best = k;
        }
    }
    return best;
}

RegionSolver::Outcome RegionSolver::solve(const Region& region, const std::vector<double>& shares, const Task& parent,
                                          double price, double cutoff) {
    std::vector<double> weight(instance_.n_points(), 0.0);
    std::vector<bool> wanted(region.size(), false);
    for (std::size_t j = 0; j < region.size(); ++j) {
        if (region.points[j] == no_point || price * region.cost[j] >= 1.0) continue;
        weight[region.points[j]] = shares[j] * parent.weight[region.points[j]];
        wanted[j] = weight[region.points[j]] > 0;
    }
    const RegionPtr counted = only(instance_, region, wanted);
    InnerTask task(*counted, price, cutoff, evaluator_);
    task.weight = std::move(weight);
    task.tie = tie(instance_, region.levels);
    task.test_price = parent.test_price;
    for (const Skeleton& tree : region.pool) task.offer(tree);
    Node node;
    node.fixed.resize(std::size_t{2} << (std::bit_width(region.position) - 1 + static_cast<std::size_t>(region.levels)));
    node.open.push_back(counted);
    search(node, task, price);
    if (task.found && options_.pool) remember(region, task.best_tree);
    if (watch_.stopped()) return {-infinity, false, {}};
    return {task.best - task.tie - instance_.rounding(), task.found, task.best_tree};
}

void RegionSolver::remember(const Region& region, const Skeleton& tree) {
    if (std::ranges::find(region.pool, tree) != region.pool.end()) return;
    if (region.pool.size() >= pool_size) region.pool.erase(region.pool.begin());
    region.pool.push_back(tree);
}

void RegionSolver::search(Node& node, InnerTask& task, double price) {
    PriceBound bound =
        decomposition_.bound(node, price, task, task.goal(price), iterations_for(node.levels()));
    if (watch_.stopped() || bound.value >= task.goal(price)) return;
    if (options_.nesting) raise(node, task, task.goal(price), task.goal(price), bound);
    if (watch_.stopped() || bound.value >= task.goal(price)) return;
    if (node.levels() <= 1) {
        Completion(instance_, node, bound, task, price, watch_).run();
    } else {
        branch(node, task, price, bound);
    }
}

void RegionSolver::branch(Node& node, InnerTask& task, double price, const PriceBound& bound) {
    std::vector<std::size_t> survivors(node.open.size(), 0);
    for (std::size_t k = 0; k < node.open.size(); ++k) {
        survivors[k] = static_cast<std::size_t>(
            std::ranges::count_if(bound.by_test[k], [&](double value) { return value < task.goal(price); }));
    }
    const std::size_t region = region_to_branch(node, survivors);
    std::vector<std::pair<double, std::size_t>> children;
    for (std::size_t t = 0; t < bound.by_test[region].size(); ++t) children.emplace_back(bound.by_test[region][t], t);
    // Without a price on tests, a leaf is a test with equal labels on both sides.
    if (task.test_price > 0 || children.empty()) children.emplace_back(bound.by_leaf[region], no_point);
    std::ranges::sort(children);
    node.bounds = {bound};
    for (const auto& [value, test] : children) {
        if (value >= task.goal(price) || watch_.stopped()) break;
        Node child = child_of(instance_, node, region, test, node.open[region]->levels,
                              price > 0 ? 1.0 / price : infinity, options_.inherit_shares);
        search(child, task, price);
    }
}

// Subtrees of each region with their losses: the least of them under some shares is what the exact least loss can reach
// at most. Cheap to evaluate, so shares are tried on it first.
class RegionSolver::Model {
public:
    Model(RegionSolver& solver, const Node& node, Task& task, double price)
        : solver_(solver), node_(node), task_(task), price_(price), entries_(node.open.size()), best_(node.open.size()) {
        for (const RegionPtr& region : node.open) views_.push_back(view_of(solver.instance_, *region, price));
        for (std::size_t k = 0; k < node.open.size(); ++k) {
            if (node.open[k]->levels < 2) continue;
            for (const Skeleton& tree : node.open[k]->pool) add(k, tree);
        }
    }

    void add(std::size_t k, const Skeleton& tree) {
        Entry entry{tree, {}, task_.test_price * count_tests(tree, node_.open[k]->position)};
        solver_.evaluator_.losses(*node_.open[k], tree, price_, entry.loss);
        entries_[k].push_back(std::move(entry));
    }

    bool complete() const {
        for (std::size_t k = 0; k < entries_.size(); ++k) {
            if (node_.open[k]->levels >= 2 && entries_[k].empty()) return false;
        }
        return true;
    }

    // The sum over the regions of the least known losses. Regions of one level are solved, not modelled.
    double value(const Shares& shares) {
        double total = task_.test_price * node_.n_tests;
        for (std::size_t k = 0; k < entries_.size(); ++k) {
            const Region& region = *node_.open[k];
            if (region.levels < 2) {
                const Relaxed relaxed = solver_.decomposition_.relax(region, views_[k], shares[k], task_);
                Entry entry{Skeleton(node_.fixed.size()), {}, 0.0};
                put_subtree(relaxed.best, region, entry.tree);
                solver_.decomposition_.relaxed_losses(region, views_[k], relaxed.best, entry.loss);
                entries_[k].assign(1, std::move(entry));
                best_[k] = {relaxed.value, 0};
                total += relaxed.value;
                continue;
            }
            best_[k] = {infinity, 0};
            for (std::size_t e = 0; e < entries_[k].size(); ++e) {
                double sum = entries_[k][e].tests;
                for (std::size_t j = 0; j < region.size(); ++j) {
                    if (region.points[j] == no_point) continue;
                    sum += shares[k][j] * task_.weight[region.points[j]] * entries_[k][e].loss[j];
                }
                if (sum < best_[k].first) best_[k] = {sum, e};
            }
            total += best_[k].first;
        }
        return total;
    }

    double part(std::size_t k) const { return best_[k].first; }
    View& view(std::size_t k) { return views_[k]; }

    std::vector<const std::vector<double>*> losses() const {
        std::vector<const std::vector<double>*> result;
        for (std::size_t k = 0; k < entries_.size(); ++k) result.push_back(&entries_[k][best_[k].second].loss);
        return result;
    }

    Skeleton tree() const {
        Skeleton tree = node_.fixed;
        for (std::size_t k = 0; k < entries_.size(); ++k) {
            const std::size_t at = node_.open[k]->position;
            graft(entries_[k][best_[k].second].tree, at, tree, at);
        }
        return tree;
    }

private:
    struct Entry {
        Skeleton tree;
        std::vector<double> loss;
        double tests;
    };

    RegionSolver& solver_;
    const Node& node_;
    Task& task_;
    double price_;
    std::vector<View> views_;
    std::vector<std::vector<Entry>> entries_;
    std::vector<std::pair<double, std::size_t>> best_;
};

// What is known about the least loss of each region under some shares.
struct RegionSolver::Known {
    std::vector<double> low, high;
    std::vector<Relaxed> relaxed;
    double sum = 0.0;  // of the lower ones, and of the price of fixed tests
};

void RegionSolver::raise(const Node& node, Task& task, double target, double least, PriceBound& bound) {
    if (node.open.size() < 2 || node.levels() < 2 || node.levels() > largest_nested) return;
    const Meetings meetings(instance_, node, task, bound.price);
    Model model(*this, node, task, bound.price);
    Shares shares = bound.shares;
    for (int round = 0; round < rounds && !watch_.stopped(); ++round) {
        bool last = false;
        if (model.complete()) {
            const double promised = fit_shares(model, meetings, target, 0.02 * std::abs(target - bound.value), shares);
            if (promised < target && promised > least + 0.3) {
                target = least + 0.7 * (promised - least);
            } else if (promised < target) {
                last = true;  // even the known subtrees do better than the goal under all shares that were tried
            }
        }
        Known known = relax_all(node, task, shares, model);
        const double reach = model.value(shares);
        for (std::size_t k = 0; k < node.open.size(); ++k) known.high[k] = model.part(k);
        // Every exact value comes with something taken off; aim higher by that, or the target is missed by a hair.
        double aim = target + hair(node) * static_cast<double>(node.open.size());
        if (reach < target) aim = last ? known.sum + 0.6 * (reach - known.sum) : reach;
        solve_regions(node, task, bound.price, aim, shares, model, known);
        if (watch_.stopped()) return;
        take_over(known, shares, bound);
        if (bound.value >= target || last) return;
        model.value(shares);
        task.offer(model.tree());
        const double goal = task.goal(bound.price);
        if (goal < least) {
            target -= least - goal;
            least = goal;
        }
        if (bound.value >= target) return;
    }
}

double RegionSolver::hair(const Node& node) const { return 1.5 * tie(instance_, node.levels()); }

double RegionSolver::fit_shares(Model& model, const Meetings& meetings, double target, double margin,
                                Shares& shares) const {
    double value = model.value(shares), best = value, stretch = 1.0;
    Shares best_shares = shares;
    int stalled = 0;
    for (int step = 0; step < model_steps && value < target + 0.05; ++step) {
        if (!meetings.step(model.losses(), stretch * (target - value + 0.1 + margin), shares)) break;
        value = model.value(shares);
        if (value > best) {
            best = value;
            best_shares = shares;
            stalled = 0;
        } else if (++stalled >= 4) {
            stretch *= 0.6;
            stalled = 0;
        }
    }
    shares = std::move(best_shares);
    return best;
}

RegionSolver::Known RegionSolver::relax_all(const Node& node, Task& task, const Shares& shares, Model& model) {
    Known known;
    known.high.resize(node.open.size());
    known.sum = task.test_price * node.n_tests;
    for (std::size_t k = 0; k < node.open.size(); ++k) {
        const Region& region = *node.open[k];
        known.relaxed.push_back(decomposition_.relax(region, model.view(k), shares[k], task));
        known.low.push_back(known.relaxed[k].value);
        known.sum += known.low[k];
        if (region.levels < 2) continue;
        Skeleton tree(node.fixed.size());
        put_subtree(known.relaxed[k].best, region, tree);
        model.add(k, tree);
    }
    return known;
}

// Small regions first; every region is asked for its part of what is missing, in proportion to what it may give.
void RegionSolver::solve_regions(const Node& node, Task& task, double price, double aim, const Shares& shares,
                                 Model& model, Known& known) {
    std::vector<bool> solved(node.open.size(), false);
    while (known.sum < aim && !watch_.stopped()) {
        double room = 0.0;
        std::size_t next = no_point;
        for (std::size_t k = 0; k < node.open.size(); ++k) {
            if (node.open[k]->levels < 2 || solved[k] || known.high[k] <= known.low[k]) continue;
            room += known.high[k] - known.low[k];
            const auto size = [&](std::size_t o) { return std::pair(node.open[o]->levels, node.open[o]->size()); };
            if (next == no_point || size(k) < size(next)) next = k;
        }
        if (next == no_point || room < aim - known.sum) return;
        const double asked = std::min(1.0, (aim - known.sum) / room) * (known.high[next] - known.low[next]);
        const Outcome outcome = solve(*node.open[next], shares[next], task, price, known.low[next] + asked + hair(node));
        if (watch_.stopped()) return;
        solved[next] = true;
        if (outcome.value > known.low[next]) {
            known.sum += outcome.value - known.low[next];
            known.low[next] = outcome.value;
        }
        if (outcome.found) {
            known.high[next] = std::min(known.high[next], std::max(outcome.value, known.low[next]));
            model.add(next, outcome.subtree);
        }
    }
}

void RegionSolver::take_over(const Known& known, const Shares& shares, PriceBound& bound) {
    for (std::size_t k = 0; k < known.low.size(); ++k) {
        const double others = known.sum - known.low[k];
        for (std::size_t t = 0; t < known.relaxed[k].by_test.size(); ++t) {
            bound.by_test[k][t] = std::max(bound.by_test[k][t], others + known.relaxed[k].by_test[t]);
        }
        bound.by_leaf[k] = std::max(bound.by_leaf[k], others + known.relaxed[k].leaf);
    }
    if (known.sum > bound.value) {
        bound.value = known.sum;
        bound.shares = shares;
    }
}

}  // namespace hardwood::search
