#include "search/branch_and_bound.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace hardwood::search {

namespace {

/// The multipliers to skip after a bound that closes almost nothing; an empty interval if it closes
/// enough.
Interval skip_interval(const SearchParams& params, const Target& target, const LossBound& bound) {
    const double gap = bound.loss - target.required_loss(bound.multiplier);
    if (gap >= params.negligible_gap) return {.low = infinity, .high = -infinity};
    const double unit = target.budget > 0 ? 1.0 / target.budget : 0.0;
    const double half = std::max(params.min_skip, -params.skip_per_gap * gap) * unit;
    if (bound.multiplier == 0.0) return {.low = 0.0, .high = 0.0};
    return {.low = std::max(bound.multiplier - half, std::numeric_limits<double>::min()),  // not 0
            .high = bound.multiplier + half};
}

/// Records a bound of a node. `remaining` loses what the bound closes, and what it cannot close.
void record(const SearchParams& params, const Target& target, BranchBounds bounds, SearchNode& node,
            MultiplierIntervals& remaining, std::vector<BranchBounds>& found) {
    const LossBound least = bounds.least();
    found.push_back(std::move(bounds));
    node.known.push_back(least);
    node.open.close(target, least);
    remaining.close(target, least);
    remaining.remove(skip_interval(params, target, least));
}

}  // namespace

/// A branching that bounds leave open.
struct BranchAndBound::Child {
    double dual;
    std::size_t branching;
    MultiplierIntervals open;
    std::vector<LossBound> known;
};

bool BranchAndBound::prove() {
    const Target target = context_.incumbent.target();
    const int depth = context_.incumbent.depth();
    SearchNode root =
        context_.root(target.limits_size ? std::min(depth, target.max_splits) : depth);
    std::vector<BranchBounds> known = context_.root_bounds.recall(target);
    for (const BranchBounds& bounds : known) {
        root.known.push_back(bounds.least());
        root.open.close(target, root.known.back());
    }
    context_.open_bound.begin(root.open.max_dual(target, root.known));
    process_root(root, std::move(known));
    return context_.open_bound.end();
}

/// Searches shallower trees first, each as far as a little work leads. Bounds for shallower trees
/// do not hold for all trees and are dropped. So are the points and the step size of the worker,
/// which would mislead deeper searches (kr-vs-kp, depth 4, .7/.75: 20 s instead of 6); the
/// potentials are kept.
void BranchAndBound::deepen() {
    const SearchParams& params = context_.params;
    StopToken& stop = context_.stop;
    Worker worker(context_.instance, context_.incumbent, stop, context_.team, params);
    for (int levels = params.deepening_from;
         levels < context_.incumbent.depth() && !stop.should_stop(); ++levels) {
        context_.incumbent.set_target_for_all_sizes();
        SearchNode root = context_.root(levels);
        root.potentials = root.potentials.moved_to(worker.support.points(), context_.team);
        stop.pause_after(params.deepening_work);
        process(worker, root);
        stop.resume();
        context_.root_potentials =
            root.potentials.moved_to(context_.worker.support.points(), context_.team);
        if (params.local_search)
            context_.local_search.run(params.local_search_work);  // with all levels
    }
    context_.incumbent.set_target_for_all_sizes();
}

bool BranchAndBound::prove_by_deepening() {
    const SearchParams& params = context_.params;
    if (!params.iterative_deepening || context_.incumbent.depth() <= params.deepening_from)
        return prove();
    StopToken& stop = context_.stop;
    stop.pause_after(params.deepening_after);  // easy problems need no help
    const bool proved = prove();
    if (!stop.resume()) return proved;
    deepen();
    return prove();
}

bool BranchAndBound::prove_labels(const HeapTree& tree) {
    Worker& worker = context_.worker;
    only_labels_ = true;
    context_.local_search.relabel(tree, infinity);
    context_.incumbent.set_target(context_.incumbent.incumbent().score.correct,
                                  context_.incumbent.max_splits());
    SearchNode root = context_.root(0);
    root.tree.fixed = tree;
    root.tree.nodes.clear();
    for (const LeafBox& leaf : leaves_of(context_.instance, tree)) {
        root.tree.nodes.push_back(
            {.position = leaf.position, .box = {.key = leaf.box, .splits = {}}, .levels = 0});
    }
    context_.open_bound.begin(context_.instance.total());
    process(worker, root);
    return context_.open_bound.end() && !worker.stop.stopped();
}

/// From the highest multiplier down; those that withstand stay open.
void BranchAndBound::close_multipliers(Worker& worker, SearchNode& node, std::size_t open_node,
                                       const std::vector<Branching>& branchings,
                                       std::vector<BranchBounds>& found) {
    MultiplierIntervals remaining = node.open;
    const auto known = [&](double multiplier) {
        return context_.params.known_losses ? known_losses(found, multiplier, branchings.size())
                                            : std::vector<double>{};
    };
    while (!remaining.empty() && !worker.stop.should_stop()) {
        const Interval top = remaining.intervals().back();
        BranchBounds bounds = worker.bounds.compute({.tree = node.tree,
                                                     .node = open_node,
                                                     .branchings = branchings,
                                                     .multiplier = top.high,
                                                     .highest_open = top.high,
                                                     .lowest_open = top.low,
                                                     .max_steps = context_.params.max_node_steps,
                                                     .known_loss = known(top.high)},
                                                    node.potentials);
        if (worker.stop.stopped()) return;
        run_local_search(worker);
        record(context_.params, context_.incumbent.target(), std::move(bounds), node, remaining,
               found);
    }
}

/// Whether 0 is settled by a search of its own, with fewer splits. If several trees are wanted, all
/// of them count, not only one for each number of samples.
bool BranchAndBound::zero_is_apart() const {
    const Instance& instance = context_.instance;
    const Target target = context_.incumbent.target();
    if (!context_.params.zero_apart || !target.zero_counts() || target.collects_all) return false;
    return instance.max_finite_margin(context_.incumbent.depth()) <= instance.max_cost();
}

/// Columns in which every row can afford every bin do not count at 0 (docs/theory.md#zero).
void BranchAndBound::settle_zero(SearchNode& root) {
    const Instance& instance = context_.instance;
    SearchNode zero = root;
    std::erase_if(zero.tree.nodes[0].box.splits,
                  [&](int split) { return instance.is_affordable(instance.column_of(split)); });
    zero.open.remove({.low = std::numeric_limits<double>::min(), .high = infinity});
    process(context_.worker, zero);
    root.open.remove_zero();
}

/// A poor incumbent makes every proof harder than necessary: the longer the ascents, the more is
/// done for a better one.
void BranchAndBound::run_local_search(const Worker& worker) {
    const long long steps = worker.lagrangian->statistics.steps;
    if (!context_.params.local_search || only_labels_) return;
    if (&worker != &context_.worker || steps < next_local_search_) return;
    next_local_search_ = 2 * steps;
    context_.local_search.run(context_.params.local_search_work);
}

/// From the highest multiplier down. Where rows have lists of their own, jumps are limited: the
/// further the next multiplier is away, the less the potentials are worth there.
void BranchAndBound::close_root_multipliers(SearchNode& root,
                                            const std::vector<Branching>& branchings,
                                            std::vector<BranchBounds>& found) {
    const SearchParams& params = context_.params;
    Worker& worker = context_.worker;
    MultiplierIntervals remaining = root.open;
    if (zero_is_apart()) remaining.remove_zero();
    root.potentials.extend(worker.support.points(), context_.team);
    double last = 0.0;
    while (!remaining.empty() && !worker.stop.should_stop()) {
        const Interval top = remaining.intervals().back();
        const double multiplier = worker.support.has_own_lists() && top.high > 0.0
                                      ? std::max(top.high, last / params.max_multiplier_ratio)
                                      : top.high;
        last = multiplier;
        std::vector<double> known;
        if (params.known_losses) known = known_losses(found, multiplier, branchings.size());
        BranchBounds bounds = worker.bounds.compute({.tree = root.tree,
                                                     .node = 0,
                                                     .branchings = branchings,
                                                     .multiplier = multiplier,
                                                     .highest_open = top.high,
                                                     .lowest_open = top.low,
                                                     .max_steps = params.max_root_steps,
                                                     .known_loss = std::move(known)},
                                                    root.potentials);
        if (worker.stop.stopped()) return;
        run_local_search(worker);
        const Target target = context_.incumbent.target();
        context_.root_bounds.remember(bounds, target);
        record(params, target, std::move(bounds), root, remaining, found);
        context_.open_bound.set_pending({root.open.max_dual(target, root.known)});
    }
}

/// The branchings that bounds leave open, those with the largest dual values first.
std::vector<BranchAndBound::Child> BranchAndBound::open_children(
    const SearchNode& parent, const std::vector<Branching>& branchings,
    const std::vector<BranchBounds>& bounds) const {
    std::vector<Child> children;
    const Target target = context_.incumbent.target();
    for (std::size_t b = 0; b < branchings.size() && !parent.open.empty(); ++b) {
        Child child{.dual = 0.0, .branching = b, .open = parent.open, .known = parent.known};
        for (const BranchBounds& bound : bounds) {
            child.known.push_back({.multiplier = bound.multiplier, .loss = bound.loss[b]});
            child.open.close(target, child.known.back());
        }
        if (child.open.empty()) continue;
        child.dual = child.open.max_dual(target, child.known);
        children.push_back(std::move(child));
    }
    std::ranges::stable_sort(children, std::greater<>(), &Child::dual);
    return children;
}

void BranchAndBound::process_child(Worker& worker, const SearchNode& parent, std::size_t node,
                                   const Branching& branching, Child& child) {
    for (const LossBound& bound : child.known) child.open.close(context_.incumbent.target(), bound);
    if (child.open.empty()) return;
    if (worker.stop.should_stop()) {
        context_.open_bound.leave_open(child.dual);
        return;
    }
    SearchNode next{.tree = child_after(context_.instance, parent.tree, node, branching),
                    .open = std::move(child.open),
                    .known = std::move(child.known),
                    .potentials = parent.potentials};
    process(worker, next);
}

/// How many branchings of an open node stay open at the highest open multiplier, by the potentials
/// of the search node.
std::size_t BranchAndBound::n_open_branchings(Worker& worker, const SearchNode& node,
                                              std::size_t open_node) {
    const Target target = context_.incumbent.target();
    const std::vector<Branching> branchings =
        branchings_of(context_.instance, node.tree, open_node, target);
    const Interval top = node.open.intervals().back();
    Potentials potentials = node.potentials;
    const BranchBounds bounds = worker.bounds.compute({.tree = node.tree,
                                                       .node = open_node,
                                                       .branchings = branchings,
                                                       .multiplier = top.high,
                                                       .highest_open = top.high,
                                                       .lowest_open = top.low,
                                                       .max_steps = 1,
                                                       .values_only = true},
                                                      potentials);
    const double required = target.required_loss(top.high);
    return idx(std::ranges::count_if(bounds.loss, [&](double loss) { return loss < required; }));
}

/// The open node with the fewest open branchings. Where a node holds little mass, any of its
/// branchings does: to decide it first repeats one proof for each of them. A node further down must
/// leave far fewer open, because deciding it settles less.
std::size_t BranchAndBound::choose_node(Worker& worker, const SearchNode& node) {
    const std::size_t nearest = next_open_node(node.tree);
    const std::vector<OpenNode>& nodes = node.tree.nodes;
    const auto is_candidate = [](const OpenNode& own) {
        return !own.is_decided() && own.levels > 0 && !own.box.splits.empty();
    };
    if (!context_.params.choose_nodes || std::ranges::count_if(nodes, is_candidate) < 2)
        return nearest;
    std::size_t chosen = nearest;
    double least = infinity;
    for (std::size_t k = 0; k < nodes.size() && !worker.stop.stopped(); ++k) {
        if (!is_candidate(nodes[k])) continue;
        const double handicap =
            std::pow(context_.params.branchings_per_level, nodes[nearest].levels - nodes[k].levels);
        const double n_open = handicap * static_cast<double>(n_open_branchings(worker, node, k));
        if (n_open < least || (n_open == least && k == nearest)) {
            least = n_open;
            chosen = k;
        }
    }
    return chosen;
}

void BranchAndBound::process(Worker& worker, SearchNode& node) {
    ++context_.n_nodes;
    const std::size_t open_node = choose_node(worker, node);
    if (open_node == node.tree.nodes.size()) {
        context_.incumbent.offer(node.tree.fixed, worker.evaluations);
        return;
    }
    const std::vector<Branching> branchings =
        branchings_of(context_.instance, node.tree, open_node, context_.incumbent.target());
    std::vector<BranchBounds> bounds;
    close_multipliers(worker, node, open_node, branchings, bounds);
    for (Child& child : open_children(node, branchings, bounds)) {
        process_child(worker, node, open_node, branchings[child.branching], child);
    }
}

void BranchAndBound::process_root(SearchNode& root, std::vector<BranchBounds> bounds) {
    ++context_.n_nodes;
    const std::vector<Branching> branchings =
        branchings_of(context_.instance, root.tree, 0, context_.incumbent.target());
    close_root_multipliers(root, branchings, bounds);
    context_.root_potentials = root.potentials;
    if (zero_is_apart() && root.open.contains_zero()) settle_zero(root);
    std::vector<Child> children = open_children(root, branchings, bounds);
    std::vector<double> duals;
    for (const Child& child : children) duals.push_back(child.dual);
    context_.open_bound.set_pending(std::move(duals));
    for (std::size_t c = 0; c < children.size(); ++c) {
        process_child(context_.worker, root, 0, branchings[children[c].branching], children[c]);
        context_.open_bound.finish(c);
    }
}

}  // namespace hardwood::search
