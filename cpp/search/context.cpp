#include "search/context.h"

#include <algorithm>

#include "model/constraint.h"

namespace hardwood::search {

void RootBounds::remember(const BranchBounds& bounds, const Target& target) {
    if (target.max_splits > 0)
        entries_.push_back({.bounds = bounds, .max_splits = target.max_splits});
}

std::vector<BranchBounds> RootBounds::recall(const Target& target) const {
    std::vector<BranchBounds> known;
    for (const Entry& entry : entries_) {
        if (target.max_splits > 0 && target.max_splits <= entry.max_splits) {
            known.push_back(entry.bounds.for_size(target.max_splits));
        }
    }
    return known;
}

void OpenDualBound::begin(double dual) {
    open_ = -infinity;
    pending_ = {dual};
}

void OpenDualBound::set_pending(std::vector<double> duals) {
    pending_ = std::move(duals);
}

void OpenDualBound::finish(std::size_t subproblem) {
    pending_[subproblem] = -infinity;
}

void OpenDualBound::leave_open(double dual) {
    open_ = std::max(open_, dual);
}

bool OpenDualBound::end() {
    pending_.clear();
    return open_ == -infinity;
}

double OpenDualBound::value() const {
    double largest = open_;
    for (const double dual : pending_) largest = std::max(largest, dual);
    return largest;
}

SearchContext::SearchContext(const Instance& instance, SharedIncumbent& incumbent, StopToken& stop,
                             const SearchParams& params, int n_jobs)
    : instance(instance),
      incumbent(incumbent),
      params(params),
      stop(stop),
      team(n_jobs),
      worker(instance, incumbent, stop, team, params),
      local_search(instance, incumbent, stop),
      root_potentials(instance.n_classes()),
      open_bound(instance.total()) {
    if (params.breakpoints && instance.budget() > 0) {
        breakpoints =
            Breakpoints(instance, incumbent.target(), incumbent.depth(), params.max_breakpoints);
    }
}

SearchNode SearchContext::root(int levels) const {
    const Breakpoints* const used = breakpoints.multipliers.empty() ? nullptr : &breakpoints;
    Box all = whole_domain(instance);
    keep_admitted_splits(instance, all);
    return {.tree = {.fixed = empty_tree(incumbent.depth()),
                     .nodes = {{.position = 1, .box = std::move(all), .levels = levels}}},
            .open = MultiplierIntervals::all(instance, incumbent.target(), incumbent.depth(), used),
            .known = {},
            .potentials = root_potentials};
}

bool SearchContext::has_many_splits() const {
    return params.coarse_splits && idx(instance.n_splits()) > params.many_splits;
}

}  // namespace hardwood::search
