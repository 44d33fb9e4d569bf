#include "dual/bound.h"

#include <algorithm>

namespace hardwood::search {

LossBound BranchBounds::least() const {
    return {.multiplier = multiplier, .loss = loss.empty() ? infinity : std::ranges::min(loss)};
}

BranchBounds BranchBounds::for_size(int max_splits) const {
    BranchBounds small{.multiplier = multiplier, .loss = loss};
    for (std::size_t b = 0; b < by_size.size(); ++b) {
        if (by_size[b].empty()) continue;
        const std::size_t n = std::min(idx(max_splits), by_size[b].size() - 1);
        small.loss[b] = std::max(small.loss[b], by_size[b][n]);
    }
    return small;
}

std::vector<double> known_losses(std::span<const BranchBounds> bounds, double multiplier,
                                 std::size_t n_branchings) {
    std::vector<double> known(n_branchings, 0.0);
    for (const BranchBounds& own : bounds) {
        if (own.multiplier < multiplier) continue;
        for (std::size_t b = 0; b < n_branchings; ++b) known[b] = std::max(known[b], own.loss[b]);
    }
    return known;
}

namespace {

/// The larger number counts, for every branching and size.
void merge(BranchBounds& known, const BranchBounds& own) {
    for (std::size_t b = 0; b < known.loss.size(); ++b)
        known.loss[b] = std::max(known.loss[b], own.loss[b]);
    known.by_size.resize(std::max(known.by_size.size(), own.by_size.size()));
    for (std::size_t b = 0; b < own.by_size.size(); ++b)
        raise_bounds(known.by_size[b], own.by_size[b]);
}

}  // namespace

BranchBounds BoundSequence::compute(const BoundRequest& request, Potentials& potentials) {
    BranchBounds known{.multiplier = request.multiplier,
                       .loss = request.known_loss.empty()
                                   ? std::vector<double>(request.branchings.size(), 0.0)
                                   : request.known_loss};
    const auto count_open = [&] {
        const double required = sink_.target().required_loss(request.highest_open);
        return std::ranges::count_if(known.loss, [&](double loss) { return loss < required; });
    };
    for (const std::unique_ptr<Bound>& bound : bounds_) {
        if (!bound->applies_to(request.tree)) continue;
        const auto n_open = count_open();
        if (n_open == 0 && bound != bounds_.front()) break;
        const auto start = StopToken::Clock::now();
        BoundRequest open = request;
        open.known_loss = known.loss;
        merge(known, bound->compute(open, potentials));
        BoundStatistics& statistics = bound->statistics;
        ++statistics.calls;
        statistics.seconds +=
            std::chrono::duration<double>(StopToken::Clock::now() - start).count();
        statistics.branchings += n_open;
        statistics.closed += n_open - count_open();
    }
    return known;
}

}  // namespace hardwood::search
