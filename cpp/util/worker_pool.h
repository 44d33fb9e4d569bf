/// Threads that run one job together.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "util/stop_token.h"

namespace hardwood::search {

/// Runs a job on several threads. The calling thread takes part as worker 0; it alone watches the
/// clock and asks the caller, and it passes a stop on to the others.
class WorkerPool {
public:
    WorkerPool(StopToken& main_token, int n_jobs);

    int size() const { return static_cast<int>(tokens_.size()) + 1; }
    StopToken& token(int worker) {
        return worker == 0 ? main_token_ : *tokens_[static_cast<std::size_t>(worker) - 1];
    }

    /// Every worker runs the job, which is given the worker's number, until it returns. An
    /// exception of one worker stops all of them and is rethrown here.
    void run(const std::function<void(int)>& job);

    /// Work of all threads.
    long long work() const;

private:
    StopToken& main_token_;
    std::atomic<bool> stop_ = false;
    std::vector<std::unique_ptr<StopToken>> tokens_;  // of the other workers
};

}  // namespace hardwood::search
