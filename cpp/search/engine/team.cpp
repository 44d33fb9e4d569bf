#include "team.h"

#include <chrono>
#include <mutex>
#include <thread>

namespace hardwood::search {

Team::Team(Watch& watch, int n_jobs) : watch_(watch) {
    for (int k = 1; k < n_jobs; ++k) {
        watches_.push_back(std::make_unique<Watch>(std::numeric_limits<double>::infinity(), -1, [this] { return !stop_.load(); }));
    }
}

void Team::all(const std::function<void(int)>& job) {
    std::exception_ptr failure;
    std::mutex guard;
    std::atomic<int> running = 0;
    const auto fail = [&] {
        const std::lock_guard lock(guard);
        failure = std::current_exception();
        stop_ = true;
        watch_.stop();
    };
    const auto run = [&](int k) {
        try {
            job(k);
        } catch (...) {
            fail();
        }
    };
    {
        std::vector<std::jthread> threads;
        try {
            threads.reserve(watches_.size());
            for (int k = 1; k < size(); ++k) {
                threads.emplace_back([&run, &running, k] {
                    run(k);
                    --running;
                });
                ++running;  // may be late: the count is looked at when all have begun
            }
        } catch (...) {  // there may be no more threads
            fail();
        }
        run(0);
        while (running > 0) {
            if (watch_.stopped_while_waiting()) stop_ = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    if (watch_.has_stopped()) stop_ = true;
    if (failure) std::rethrow_exception(failure);
}

long long Team::work() const {
    long long looks = watch_.looks();
    for (const auto& watch : watches_) looks += watch->looks();
    return looks;
}

}  // namespace hardwood::search
