/// What the parts of the search share.
#pragma once

#include <vector>

#include "search/local_search.h"
#include "search/node.h"
#include "search/worker.h"
#include "util/thread_team.h"

namespace hardwood::search {

/// Bounds at the root, kept for later targets with fewer splits.
class RootBounds {
public:
    void remember(const BranchBounds& bounds, const Target& target);
    /// What the bounds so far say about a target.
    std::vector<BranchBounds> recall(const Target& target) const;

private:
    struct Entry {
        BranchBounds bounds;
        int max_splits;  // of the trees that the bounds are about
    };
    std::vector<Entry> entries_;
};

/// An upper bound on the dual values of the trees that are not excluded yet.
class OpenDualBound {
public:
    explicit OpenDualBound(double total) : pending_{total} {}

    /// A new proof begins, with one pending subproblem.
    void begin(double dual);
    /// The pending subproblems, by number.
    void set_pending(std::vector<double> duals);
    void finish(std::size_t subproblem);
    /// A subproblem remains open because the search was stopped.
    void leave_open(double dual);
    /// The proof ends. True if nothing remained open.
    bool end();
    double value() const;

private:
    std::vector<double> pending_;
    double open_ = -infinity;
};

struct SearchContext {
    SearchContext(const Instance& instance, SharedIncumbent& incumbent, StopToken& stop,
                  const SearchParams& params, int n_jobs);

    /// The node that stands for all trees with at most this many levels.
    SearchNode root(int levels) const;
    bool has_many_splits() const;

    const Instance& instance;
    SharedIncumbent& incumbent;
    const SearchParams& params;
    StopToken& stop;
    ThreadTeam team;
    Worker worker;
    LocalSearch local_search;
    Breakpoints breakpoints;
    Potentials root_potentials;
    RootBounds root_bounds;
    OpenDualBound open_bound;
    long long n_nodes = 0;  // of the search, complete trees included
};

}  // namespace hardwood::search
