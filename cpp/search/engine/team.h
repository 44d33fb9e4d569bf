// Threads that work on one thing, under the eyes of the first of them: it alone looks at the clock and asks the caller.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "../support/watch.h"

namespace hardwood::search {

class Team {
public:
    Team(Watch& watch, int n_jobs);

    int size() const { return static_cast<int>(watches_.size()) + 1; }
    Watch& watch(int k) { return k == 0 ? watch_ : *watches_[static_cast<std::size_t>(k) - 1]; }

    // Every thread does the job, which is told its number, until it returns. What one of them throws ends all, and is thrown again.
    void all(const std::function<void(int)>& job);

    // Looks of all threads.
    long long work() const;

private:
    Watch& watch_;
    std::atomic<bool> stop_ = false;
    std::vector<std::unique_ptr<Watch>> watches_;  // of the others
};

}  // namespace hardwood::search
