#include "search/primal_heuristics.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "model/constraint.h"
#include "search/coarse_splits.h"
#include "search/greedy_tree.h"

namespace hardwood::search {

void PrimalHeuristics::find_greedy_tree() {
    const HeapTree tree = greedy_tree(context_.instance, context_.incumbent.depth());
    context_.local_search.relabel(tree, context_.params.relabel_work);
}

void PrimalHeuristics::find_first_trees() {
    const SearchParams& params = context_.params;
    SharedIncumbent& incumbent = context_.incumbent;
    Worker& worker = context_.worker;
    incumbent.set_target_for_all_sizes();
    const int max_levels = std::min(incumbent.depth(), params.first_depth);
    SearchNode node = context_.root(max_levels);
    if (node.open.empty()) return;
    OpenNode& root = node.tree.nodes[0];
    const bool is_selection = context_.has_many_splits();
    if (is_selection) {
        root.box.splits = coarse_splits(context_.instance, params.first_splits);
        keep_admitted_splits(context_.instance, root.box);
    }
    const std::vector<Branching> branchings =
        branchings_of(context_.instance, node.tree, 0, incumbent.target());
    const double high = node.open.highest();
    const double range = std::max(node.open.lowest() / high, params.first_range);
    std::set<std::pair<int, double>> tried;  // levels and multipliers
    const auto try_multiplier = [&](double multiplier) {
        if (!tried.insert({root.levels, multiplier}).second) return;
        const BranchBounds bounds = worker.bounds.compute({.tree = node.tree,
                                                           .node = 0,
                                                           .branchings = branchings,
                                                           .multiplier = multiplier,
                                                           .highest_open = multiplier,
                                                           .lowest_open = multiplier,
                                                           .max_steps = params.first_steps},
                                                          node.potentials);
        // Bounds for fewer levels or splits do not hold for all trees.
        if (worker.stop.stopped() || is_selection || root.levels < incumbent.depth()) return;
        const Target target = incumbent.target();
        context_.root_bounds.remember(bounds, target);
        node.known.push_back(bounds.least());
        context_.open_bound.set_pending({node.open.max_dual(target, node.known)});
    };
    for (root.levels = 1; root.levels < max_levels && !worker.stop.should_stop(); ++root.levels)
        try_multiplier(high);
    const int n_multipliers = range < 1.0 ? params.first_multipliers : 1;
    int n_failures = 0;
    for (int k = 0;
         k < n_multipliers && n_failures < params.first_failures && !worker.stop.should_stop();
         ++k) {
        const Score before = incumbent.incumbent().score;
        try_multiplier(high * std::pow(range, k / (params.first_multipliers - 1.0)));
        n_failures = incumbent.incumbent().score == before ? n_failures + 1 : 0;
    }
    for (int k = 0; k < params.first_multipliers && !worker.stop.should_stop(); ++k) {
        const double multiplier = incumbent.incumbent().dual_multiplier;
        if (multiplier > 0) try_multiplier(multiplier);
        if (incumbent.incumbent().dual_multiplier == multiplier) break;
    }
}

void PrimalHeuristics::refine_first_trees() {
    const SearchParams& params = context_.params;
    if (context_.has_many_splits() && params.local_search)
        context_.local_search.run(params.local_search_work);
}

void PrimalHeuristics::shrink() {
    Worker& worker = context_.worker;
    context_.incumbent.shrink(worker.evaluations, worker.stop);
}

}  // namespace hardwood::search
