// When to stop.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

namespace hardwood::search {

// Tells when to stop: at a deadline, or when the caller says so. Asks the caller only every so often.
class Watch {
public:
    using Clock = std::chrono::steady_clock;

    Watch(double seconds, std::function<bool()> keep_going)
        : began_(Clock::now()), seconds_(seconds), keep_going_(std::move(keep_going)) {}

    double elapsed() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

    bool stopped() {
        if (stopped_) return true;
        const double now = elapsed();
        if (now >= seconds_) return stopped_ = true;
        if (now >= next_question_) {
            next_question_ = now + 0.1;
            if (!keep_going_()) {
                stopped_ = interrupted_ = true;
            }
        }
        return stopped_;
    }

    bool has_stopped() const { return stopped_; }
    bool interrupted() const { return interrupted_; }

private:
    Clock::time_point began_;
    double seconds_;
    double next_question_ = 0.1;
    bool stopped_ = false;
    bool interrupted_ = false;
    std::function<bool()> keep_going_;
};

}  // namespace hardwood::search
