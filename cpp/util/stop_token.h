/// When to stop: a deadline, a limit on work, or the caller's wish.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <utility>

namespace hardwood::search {

/// Tells one thread when to stop, and counts its work.
///
/// Every call of `should_stop` counts as one unit of work. With one thread, the sequence of calls
/// is deterministic, so a search that stopped at a deadline is repeated exactly by a limit on its
/// work. The caller is asked (`keep_going`) every tenth of a second only.
class StopToken {
public:
    using Clock = std::chrono::steady_clock;

    /// `max_work` < 0: no limit.
    StopToken(double seconds, long long max_work, std::function<bool()> keep_going)
        : start_(Clock::now()),
          seconds_(seconds),
          max_work_(max_work < 0 ? std::numeric_limits<long long>::max() : max_work),
          keep_going_(std::move(keep_going)) {}

    double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    /// Counts one unit of work; true if the thread has to stop.
    bool should_stop() {
        if (stopped_) return true;
        // Only this thread writes; others may read the count at any time.
        work_.store(work() + 1, std::memory_order_relaxed);
        if (work() >= max_work_) return stopped_ = reached_work_limit_ = true;
        if (work() >= pause_at_) return stopped_ = paused_ = true;
        return should_stop_waiting();
    }

    /// The same without counting work, for threads that wait and inside a unit of work.
    bool should_stop_waiting() {
        if (stopped_ || stop_requested_.load(std::memory_order_relaxed)) return stopped_ = true;
        const double now = elapsed();
        const bool late = now >= seconds_;
        if (late || now >= next_poll_) {  // an interrupt just before the deadline must not get lost
            next_poll_ = now + poll_interval;
            interrupted_ = !keep_going_();
        }
        return stopped_ = late || interrupted_;
    }

    /// Stop after this much more work, until `resume`: a limit for a part of the search.
    void pause_after(long long work) { pause_at_ = this->work() + work; }
    /// Lifts the pause. True if the pause is what stopped the thread; any other reason persists.
    bool resume() {
        pause_at_ = std::numeric_limits<long long>::max();
        if (!paused_) return false;
        stopped_ = paused_ = false;
        return true;
    }

    /// Another thread asks this one to stop.
    void request_stop() { stop_requested_.store(true, std::memory_order_relaxed); }

    bool stopped() const { return stopped_; }
    bool interrupted() const { return interrupted_; }
    bool reached_work_limit() const { return reached_work_limit_; }
    long long work() const { return work_.load(std::memory_order_relaxed); }

private:
    static constexpr double poll_interval = 0.1;  // seconds

    Clock::time_point start_;
    double seconds_;
    long long max_work_;
    long long pause_at_ = std::numeric_limits<long long>::max();
    std::atomic<long long> work_ = 0;
    std::atomic<bool> stop_requested_ = false;
    double next_poll_ = poll_interval;
    bool stopped_ = false;
    bool paused_ = false;
    bool interrupted_ = false;
    bool reached_work_limit_ = false;
    std::function<bool()> keep_going_;
};

}  // namespace hardwood::search
