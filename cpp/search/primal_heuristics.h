/// First trees.
#pragma once

#include "search/context.h"

namespace hardwood::search {

class PrimalHeuristics {
public:
    explicit PrimalHeuristics(SearchContext& context) : context_(context) {}

    /// One tree at once.
    void find_greedy_tree();
    /// Good trees to begin with: a few steps of dual ascent at a range of multipliers, then at the
    /// multiplier of the incumbent. Shallower trees, which are the fastest to find, come first.
    /// With many splits, a selection is used.
    void find_first_trees();
    /// Local search, if the first trees used a selection of the splits.
    void refine_first_trees();
    /// Removes splits from the incumbent as long as it stays as good.
    void shrink();

private:
    SearchContext& context_;
};

}  // namespace hardwood::search
