/// Lower bounds on the losses of a partial tree's completions (docs/extending.md, "A bound").
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "dp/error_by_size.h"
#include "dual/multiplier_intervals.h"
#include "dual/potentials.h"
#include "model/partial_tree.h"
#include "util/stop_token.h"

namespace hardwood::search {

class EvaluationCache;

/// Where bounds find their target, and where they hand in trees that they meet.
class TreeSink {
public:
    virtual ~TreeSink() = default;
    virtual Target target() const = 0;
    /// True if the cache had not seen the tree at this or a lower multiplier: then it holds the
    /// tree's margins.
    virtual bool offer(const HeapTree& tree, EvaluationCache& cache, double multiplier) = 0;
};

/// Losses at one multiplier: for each branching, a lower bound for every completion after it.
struct BranchBounds {
    double multiplier;
    std::vector<double> loss;  // by branching
    /// Where bounds were computed by size, by branching: the same for completions with at most 0,
    /// 1, ... splits.
    std::vector<ErrorBySize> by_size = {};

    LossBound least() const;
    /// The bounds for completions with at most this many splits.
    BranchBounds for_size(int max_splits) const;
};

/// One open node of a partial tree is to be decided, at one multiplier.
struct BoundRequest {
    const PartialTree& tree;
    std::size_t node;  // the open node
    const std::vector<Branching>& branchings;
    double multiplier;    // of the bound
    double highest_open;  // the highest multiplier to be closed; not above `multiplier`. Losses
                          // rise as multipliers fall, so a loss at `multiplier` holds there, too
    double lowest_open;   // a larger loss closes lower multipliers, too, down to this at most
    int max_steps;
    /// Lower bounds on the losses after each branching that are known already, from multipliers
    /// that are not lower; empty: none. Branchings that they close need no work.
    std::vector<double> known_loss = {};
    bool values_only = false;  // branchings are valued once, by the potentials as they are
};

/// What bounds at this multiplier and at higher ones state about each branching: losses rise as
/// multipliers fall.
std::vector<double> known_losses(std::span<const BranchBounds> bounds, double multiplier,
                                 std::size_t n_branchings);

struct BoundStatistics {
    long long calls = 0;
    long long steps = 0;       // of whatever the bound counts
    long long branchings = 0;  // that were open when it was asked ...
    long long closed = 0;      // ... and that it closed
    double seconds = 0.0;
};

/// A lower bound on the loss of every completion, for each branching of an open node.
class Bound {
public:
    virtual ~Bound() = default;
    virtual std::string_view name() const = 0;
    virtual bool applies_to(const PartialTree&) const { return true; }
    /// The contract: `loss[b]` is at most the loss at `request.multiplier` of every admissible
    /// completion after branching b that keeps within the levels of its nodes and the target's
    /// `max_splits`; `by_size[b][n]` likewise for at most n splits. A bound that is stopped returns
    /// what it knows. The potentials belong to the search node; a bound may use and improve them.
    virtual BranchBounds compute(const BoundRequest& request, Potentials& potentials) = 0;

    BoundStatistics statistics;
};

/// Bounds in sequence, the cheap ones first, until every branching is closed; the largest number
/// counts.
class BoundSequence {
public:
    explicit BoundSequence(const TreeSink& sink) : sink_(sink) {}

    void add(std::unique_ptr<Bound> bound) { bounds_.push_back(std::move(bound)); }
    BranchBounds compute(const BoundRequest& request, Potentials& potentials);
    const std::vector<std::unique_ptr<Bound>>& bounds() const { return bounds_; }

private:
    const TreeSink& sink_;
    std::vector<std::unique_ptr<Bound>> bounds_;
};

}  // namespace hardwood::search
