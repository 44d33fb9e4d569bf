// What a search minimises, and when it is done.
#pragma once

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "node.h"

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

// The loss that is minimised: points with weights, and a price for each test.
// A subtree or completion is of interest only if its loss is below `goal`.
class Task {
public:
    virtual ~Task() = default;
    virtual double goal(double price) const = 0;
    // A complete tree that a bound came across.
    virtual void offer(const Skeleton& tree) = 0;

    bool offer_often = true;     // whether each step of a bound may offer its tree, or only the last
    std::vector<double> weight;  // by point
    double test_price = 0.0;
};

}  // namespace hardwood::search
