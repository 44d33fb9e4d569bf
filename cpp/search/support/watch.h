// When to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <utility>

namespace hardwood::search {

// Tells when to stop: at a deadline, after so many looks (negative: no limit), or when the caller says so, who is asked only
// every so often. Looks count the work: a search that stopped at a deadline is repeated exactly by a limit on its looks.
class Watch {
public:
    using Clock = std::chrono::steady_clock;

    Watch(double seconds, long long most_looks, std::function<bool()> keep_going)
        : began_(Clock::now()),
          seconds_(seconds),
          most_looks_(most_looks < 0 ? std::numeric_limits<long long>::max() : most_looks),
          keep_going_(std::move(keep_going)) {}

    double elapsed() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

    bool stopped() {
        if (stopped_) return true;
        // Others may read it while this thread works on.
        looks_.store(looks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        if (looks() >= most_looks_) return stopped_ = worked_ = true;
        if (looks() >= pause_at_) return stopped_ = paused_ = true;
        return stopped_while_waiting();
    }

    // The same for a thread that only waits, which is no work.
    bool stopped_while_waiting() {
        if (stopped_ || told_.load(std::memory_order_relaxed)) return stopped_ = true;
        const double now = elapsed();
        const bool late = now >= seconds_;
        if (late || now >= next_question_) {  // whoever was told to stop in the last moment is told so
            next_question_ = now + 0.1;
            interrupted_ = !keep_going_();
        }
        return stopped_ = late || interrupted_;
    }

    // Stops after so many looks more, until `resume`: for work that is not worth more than that.
    void pause_after(long long looks) { pause_at_ = this->looks() + looks; }
    // Whatever stopped it in the meantime but the pause, it stays stopped. Whether it was the pause.
    bool resume() {
        pause_at_ = std::numeric_limits<long long>::max();
        if (!paused_) return false;
        stopped_ = paused_ = false;
        return true;
    }

    // Another thread says so.
    void stop() { told_.store(true, std::memory_order_relaxed); }

    bool has_stopped() const { return stopped_; }
    bool interrupted() const { return interrupted_; }
    bool worked() const { return worked_; }
    long long looks() const { return looks_.load(std::memory_order_relaxed); }

private:
    Clock::time_point began_;
    double seconds_;
    long long most_looks_;
    std::atomic<long long> looks_ = 0;
    std::atomic<bool> told_ = false;
    double next_question_ = 0.1;
    bool stopped_ = false;
    bool interrupted_ = false;
    bool worked_ = false;
    long long pause_at_ = std::numeric_limits<long long>::max();
    bool paused_ = false;
    std::function<bool()> keep_going_;
};

}  // namespace hardwood::search
