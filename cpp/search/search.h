/// The exact search for a robust tree.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "search/branch_and_bound.h"
#include "search/primal_heuristics.h"

namespace hardwood::search {

/// The state of a search.
struct SearchState {
    double seconds;
    double value;        // of the incumbent: (weighted) samples correct in the worst case
    int n_splits;        // of the incumbent
    double upper_bound;  // no tree keeps more samples correct; in the fractional case, more than
                         // this and `zero_multiplier` together
    bool proved;         // no tree has a larger objective
    long long work;
};

struct SearchLimits {
    double seconds = infinity;
    long long work = -1;
};

/// Bytes per pair of splits and class, which a search keeps at least.
constexpr double bytes_per_pair = 8.0;

/// Bytes that a search takes at least.
double memory_needed(const Instance& instance, int n_jobs);

/// Finds a tree, then proves that none is better: one proof for each value of the number of correct
/// samples to beat, about trees with at most the largest number of splits that has it.
class Search {
public:
    Search(const Instance& instance, int depth, double penalty, const SearchParams& params,
           const SearchLimits& limits, int n_jobs,
           std::function<bool(const SearchState&)> on_progress);

    /// Known beforehand: a tree, and a number of correct samples that no tree exceeds.
    void start_from(const HeapTree& tree);
    void start_below(double upper_bound) { upper_bound_ = std::min(upper_bound_, upper_bound); }

    void run();
    /// Only trees with the splits of `tree`: finds the best labels of its leaves. (Single leaves
    /// are allowed, too: there, all labels are equal.)
    void run_labels(const HeapTree& tree);
    /// Before `run`: trees that the pool accepts are kept.
    void collect_into(SolutionPool& pool) { incumbent_.collect_into(pool); }
    /// After `run`: finds all trees that the pool accepts. True if no other tree belongs there.
    bool collect();

    HeapTree best_tree() const { return incumbent_.incumbent().tree; }
    long long n_nodes() const { return context_.n_nodes; }
    /// What each bound did.
    std::vector<std::pair<std::string, BoundStatistics>> statistics() const;
    /// No classifier of any kind keeps more samples correct.
    double any_model_bound() const { return any_model_bound_; }
    SearchState state() const;
    /// As in hardwood.solvers.base.StopReason.
    const char* stop_reason() const;

private:
    bool is_trivial() const;
    void prove();
    void search_shallower();
    void tighten_any_model_bound(double slack);
    double dual_bound() const {
        return std::max(incumbent_.target().cutoff, context_.open_bound.value());
    }

    const Instance& instance_;
    SearchParams params_;
    SearchLimits limits_;
    std::function<bool(const SearchState&)> on_progress_;
    StopToken stop_;
    SharedIncumbent incumbent_;
    SearchContext context_;
    PrimalHeuristics heuristics_;
    BranchAndBound branch_and_bound_;
    double upper_bound_;
    double any_model_bound_;
    bool proved_ = false;
    bool bounds_all_sizes_ = false;  // whether the current proof is about trees of all sizes
};

}  // namespace hardwood::search
