// Everything that a thread needs for itself.
#pragma once

#include "measure_bound.h"

namespace hardwood::search {

struct Worker {
    Worker(const Instance& instance, Contest& contest, Watch& watch, const Effort& effort)
        : watch(watch), support(instance, effort), judge(instance), ladder(contest) {
        auto bound = std::make_unique<MeasureBound>(instance, support, contest, judge, watch, effort);
        measures = bound.get();
        ladder.add(std::move(bound));
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    Watch& watch;
    Support support;
    Judge judge;
    BoundLadder ladder;
    MeasureBound* measures;  // on the ladder; it knows about any model, too
};

}  // namespace hardwood::search
