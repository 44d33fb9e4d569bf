// The exact search: questions that prove a tree optimal, one after the other.
#pragma once

#include <functional>

#include "branch_and_bound.h"

namespace hardwood::search {

// value, tests     of the best tree so far: samples that it keeps correct
// upper_bound      no tree keeps more samples correct. Where the last row may be lost in part: more than this and what is left open
//                  near price 0 (`price_for_zero`)
// proved           no tree has a larger objective
struct State {
    double seconds;
    double value;
    int tests;
    double upper_bound;
    bool proved;
    long long work;
};

struct Limits {
    double seconds = infinity;
    long long work = -1;
};

// Bytes that a search takes at least.
double memory_needed(const Instance& instance, int n_jobs);

class Search {
public:
    Search(const Instance& instance, int depth, double penalty, const Effort& effort, const Limits& limits,
           int n_jobs, std::function<bool(const State&)> on_progress);

    // Known beforehand: a tree, and a number of correct samples that no tree exceeds.
    void start_from(const Skeleton& tree);
    void start_below(double upper_bound) { upper_bound_ = std::min(upper_bound_, upper_bound); }

    void run();
    // Only trees with these tests: the best labels for their leaves. (Single leaves take part, too: all labels are one there.)
    void run_labels(const Skeleton& tests);
    // After `run`, when the collection was there from the beginning: all trees that it wants. True if no other one belongs there.
    void collect_into(Collection& collection) { contest_.collect_into(collection); }
    bool collect();

    Skeleton best_tree() const { return contest_.incumbent().tree; }
    long long nodes() const { return tree_search_.nodes(); }
    std::vector<std::pair<std::string, BoundStatistics>> statistics() const { return tree_search_.statistics(); }
    // No classifier of any kind keeps more samples correct.
    double any_model_bound() const { return any_model_bound_; }
    State state() const;
    // As the statuses of hardwood.solvers.base.StopReason.
    const char* stop_reason() const;

private:
    void prove();

    const Instance& instance_;
    Effort effort_;
    std::function<bool(const State&)> on_progress_;
    Watch watch_;
    Contest contest_;
    BranchAndBound tree_search_;
    double upper_bound_;
    double any_model_bound_;
    bool proved_ = false;
    bool asking_about_all_ = false;
};

}  // namespace hardwood::search
