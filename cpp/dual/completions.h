/// The completions of a partial tree under one placement of mass: least errors and best trees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dp/tree_dp.h"
#include "dual/bound.h"

namespace hardwood::search {

/// One subproblem of the tree DP for each open node; errors add up over them. The node to be
/// decided takes one of the request's branchings, the others the best subtrees that their levels
/// allow.
class Completions {
public:
    Completions(TreeDp& dp, const BoundRequest& request) : dp_(dp), request_(request) {}

    /// Poses the subproblems for the weights that the DP holds. `considered` are the points of the
    /// support that count. With `sizes_at_root`, errors are computed for every number of splits
    /// where that costs little, although none is excluded.
    void pose(const PointSet& points, std::span<const std::uint32_t> considered,
              const Target& target, bool sizes_at_root);
    /// Errors of the nodes that are not decided now, exact if the sum of all is below the cutoff.
    void value_other_nodes(double cutoff);

    bool has_all_sizes() const { return all_sizes_; }
    /// How trees of the node to be decided are found (`Subproblem`).
    bool is_shallow() const { return branched().is_shallow(); }
    bool is_columnwise() const { return branched().columnwise; }
    /// Whether all branchings of the root are valued together, for all sizes.
    bool solve_at_once() const { return all_sizes_ && branched().solves_at_once(); }

    /// Prepares the errors of several branchings.
    void prepare(std::span<const Branching> branchings);
    /// Least errors of the completions after a branching, in excess of the unavoidable error. The
    /// cutoff is for the whole tree, as in `TreeDp::least_error`.
    ErrorBySize errors(const Branching& branching, double cutoff);
    /// A lower bound on them for all thresholds between two splits (`TreeDp::least_error_between`).
    double least_error_between(int first, int last, double cutoff);
    /// The completion that attains the last of `errors`.
    HeapTree best(const Branching& branching);

private:
    /// Of the node that is to be decided.
    const Subproblem& branched() const { return subproblems_[request_.node]; }
    SizeRange whole() const;
    SizeRange sizes_of(const OpenNode& node) const;
    ErrorBySize own_errors(const Branching& branching, double cutoff);
    HeapTree best_within_size(const Branching& branching);
    void extract(std::size_t node, const Branching& branching, int max_splits, HeapTree& tree);

    TreeDp& dp_;
    const BoundRequest& request_;
    int max_splits_ = 0;  // that are left to the open nodes
    bool limits_size_ = false;
    bool all_sizes_ = false;  // whether errors are by size, although no size is excluded
    std::vector<Subproblem> subproblems_;  // by open node
    ErrorBySize others_ = {0.0};           // least errors of the nodes that are not decided now
};

}  // namespace hardwood::search
