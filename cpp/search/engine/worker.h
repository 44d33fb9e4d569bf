// Everything that a thread needs for itself.
#pragma once

#include "measure_bound.h"

namespace hardwood::search {

struct Worker {
    Worker(const Instance& instance, Contest& contest, Watch& watch, const Effort& effort)
        : watch(watch),
          support(instance, effort),
          judge(instance),
          bound(instance, support, contest, judge, watch, effort) {}
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    Watch& watch;
    Support support;
    Judge judge;
    MeasureBound bound;
};

}  // namespace hardwood::search
