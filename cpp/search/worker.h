/// What computes bounds.
#pragma once

#include <memory>

#include "dual/lagrangian_bound.h"
#include "search/shared_incumbent.h"

namespace hardwood::search {

struct Worker {
    Worker(const Instance& instance, SharedIncumbent& incumbent, StopToken& stop, ThreadTeam& team,
           const SearchParams& params)
        : stop(stop), support(instance, params), evaluations(instance), bounds(incumbent) {
        auto bound = std::make_unique<LagrangianBound>(instance, incumbent.depth(), support,
                                                       incumbent, evaluations, stop, team, params);
        lagrangian = bound.get();
        bounds.add(std::move(bound));
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    StopToken& stop;
    Support support;
    EvaluationCache evaluations;
    BoundSequence bounds;
    LagrangianBound* lagrangian;  // one of the bounds; it bounds any model, too
};

}  // namespace hardwood::search
