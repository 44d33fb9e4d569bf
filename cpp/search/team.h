// What the threads of a search share.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>

#include "region.h"

namespace hardwood::search {

// The best tree so far, samples it keeps correct in the worst case, its tests, and a price that attains its dual value.
struct Best {
    Skeleton tree;
    double correct = -1.0;
    int tests = 0;
    double dual_price = 0.0;
};

struct Team {
    mutable std::mutex mutex;
    Best best;
    std::exception_ptr failure;
    std::atomic<bool> stop{false};
    std::atomic<long long> work{0};  // of the helpers
};

}  // namespace hardwood::search
