#include "util/worker_pool.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace hardwood::search {

namespace {

/// How often a waiting main thread looks at the clock and asks the caller.
constexpr std::chrono::milliseconds poll_interval{20};

}  // namespace

WorkerPool::WorkerPool(StopToken& main_token, int n_jobs) : main_token_(main_token) {
    for (int k = 1; k < n_jobs; ++k) {
        tokens_.push_back(std::make_unique<StopToken>(std::numeric_limits<double>::infinity(), -1,
                                                      [this] { return !stop_.load(); }));
    }
}

void WorkerPool::run(const std::function<void(int)>& job) {
    std::mutex mutex;
    std::condition_variable finished;
    std::exception_ptr failure;
    int n_running = 0;
    const auto fail = [&] {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        stop_ = true;
        main_token_.request_stop();
    };
    const auto guarded_job = [&](int worker) {
        try {
            job(worker);
        } catch (...) {
            fail();
        }
    };
    {
        std::vector<std::jthread> threads;
        try {
            threads.reserve(tokens_.size());
            for (int k = 1; k < size(); ++k) {
                {
                    const std::lock_guard lock(mutex);
                    ++n_running;
                }
                try {
                    threads.emplace_back([&, k] {
                        guarded_job(k);
                        const std::lock_guard lock(mutex);
                        --n_running;
                        finished.notify_one();
                    });
                } catch (...) {  // the system may have no more threads
                    const std::lock_guard lock(mutex);
                    --n_running;
                    throw;
                }
            }
        } catch (...) {
            fail();
        }
        guarded_job(0);
        std::unique_lock lock(mutex);
        while (!finished.wait_for(lock, poll_interval, [&] { return n_running == 0; })) {
            lock.unlock();  // the caller's callback may take its time
            if (main_token_.should_stop_waiting()) stop_ = true;
            lock.lock();
        }
    }
    if (main_token_.stopped()) stop_ = true;
    if (failure) std::rethrow_exception(failure);
}

long long WorkerPool::work() const {
    long long work = main_token_.work();
    for (const auto& token : tokens_) work += token->work();
    return work;
}

}  // namespace hardwood::search
