// What is asked: is there a tree with at most so many tests that keeps more samples correct than the rival?
#pragma once

#include <algorithm>

#include "../model/instance.h"

namespace hardwood::search {

struct Question {
    double n_samples;
    double budget;
    double rival;       // a tree is wanted that keeps more correct than this ...
    int most_tests;     // ... with at most so many tests
    bool counted;       // whether that is a limit at all
    bool upward;        // whether a bound closes higher prices, too
    double head_start;  // a better tree has a dual value above the rival by more than this (docs/theory.md#ties)
    bool collecting = false;  // whether all such trees are wanted, not only a better one each time

    // A loss of at least this at a price: no better tree there.
    double goal(double price) const { return n_samples - price * budget - rival - head_start; }
};

// Sums of prices are multiples of the grain, so a tree that keeps more samples correct than the rival has a dual value that is
// larger by grain / budget at least; if nobody can pay for anything, values are whole numbers. Half of it is used, and always less than
// the quarter that a better tree has at the price that stands for 0: a tree that loses nothing there must not count as closed. Where the
// last row may be lost in part, nothing is known.
inline double head_start_of(const Instance& instance) {
    if (instance.in_part()) return 0.0;
    if (instance.budget() <= 0) return 0.5;
    return std::min(0.2, 0.5 * instance.grain() / instance.budget());
}

}  // namespace hardwood::search
