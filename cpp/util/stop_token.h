/// When to stop: a deadline, a limit on work, or the caller's wish.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <utility>

namespace hardwood::search {

/// Tells a search when to stop, and counts its work.
///
/// Every call of `should_stop` counts as one unit of work. The sequence of calls is deterministic:
/// without a break, a search that stopped at a deadline is repeated exactly by a limit on its work.
/// The caller is asked (`keep_going`) every tenth of a second only. Helping threads only ask
/// whether the search has `stopped`.
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
        if (work() < max_work_) work_.store(work() + 1, std::memory_order_relaxed);
        if (work() >= max_work_) return stopped_ = reached_work_limit_ = true;
        if (work() >= break_work_) return stopped_ = at_break_ = true;
        if (work() >= pause_at_) return stopped_ = paused_ = true;
        return should_stop_waiting();
    }

    /// The same without counting work, inside a unit of work.
    bool should_stop_waiting() {
        if (stopped_) return true;
        const double now = elapsed();
        const bool late = now >= seconds_;
        if (late || now >= next_poll_) {  // an interrupt just before the deadline must not get lost
            next_poll_ = now + poll_interval;
            interrupted_ = !keep_going_();
        }
        if (!late && !interrupted_ && now >= break_seconds_) at_break_ = true;
        return stopped_ = late || interrupted_ || at_break_;
    }

    /// Stop once when half of the limits is used up, until `end_break`.
    void break_halfway() {
        break_seconds_ = 0.5 * seconds_;
        break_work_ = max_work_ / 2;
    }
    /// Lifts or cancels the break. True if the break is what stopped the search.
    bool end_break() {
        break_seconds_ = std::numeric_limits<double>::infinity();
        break_work_ = std::numeric_limits<long long>::max();
        if (!at_break_) return false;
        stopped_ = at_break_ = false;
        return true;
    }
    /// Work that was done on behalf of this search, during a break.
    void add_work(long long work) { work_.store(this->work() + work, std::memory_order_relaxed); }

    /// Stop after this much more work, until `resume`: a limit for a part of the search.
    void pause_after(long long work) { pause_at_ = this->work() + work; }
    /// Lifts the pause. True if the pause is what stopped the thread; any other reason persists.
    bool resume() {
        pause_at_ = std::numeric_limits<long long>::max();
        if (!paused_) return false;
        stopped_ = paused_ = false;
        return true;
    }

    /// The caller wished to stop while another token asked.
    void interrupt() { stopped_ = interrupted_ = true; }

    /// Other threads may ask, too.
    bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
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
    double next_poll_ = poll_interval;
    std::atomic<bool> stopped_ = false;  // read by helpers
    double break_seconds_ = std::numeric_limits<double>::infinity();
    long long break_work_ = std::numeric_limits<long long>::max();
    bool at_break_ = false;
    bool paused_ = false;
    bool interrupted_ = false;
    bool reached_work_limit_ = false;
    std::function<bool()> keep_going_;
};

}  // namespace hardwood::search
