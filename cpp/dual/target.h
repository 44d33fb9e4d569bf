/// What a tree must beat.
#pragma once

#include <algorithm>

#include "model/instance.h"

namespace hardwood::search {

/// The question that a proof settles: is there a tree with at most `max_splits` splits and more
/// than `cutoff` (weighted) samples correct in the worst case?
struct Target {
    double total = 0.0;
    double budget = 0.0;
    double cutoff = -1.0;
    int max_splits = 0;
    bool limits_size = false;    // whether max_splits excludes any tree of the depth
    bool upward_closing = true;  // whether a bound closes higher multipliers, too
    double tie_margin = 0.0;     // the dual maximum of a better tree exceeds the cutoff by more
                                 // than this (docs/theory.md#ties)
    double zero_margin = 0.0;    // the same at multiplier 0, if 0 counts; otherwise 0
    bool collects_all =
        false;  // whether all such trees are wanted, not only one that is better each time

    bool zero_counts() const { return zero_margin > 0.0; }
    double margin_at(double multiplier) const {
        return multiplier > 0.0 ? tie_margin : zero_margin;
    }
    /// If every tree loses at least this much at a multiplier, no better tree has its dual maximum
    /// there.
    double required_loss(double multiplier) const {
        return total - multiplier * budget - cutoff - margin_at(multiplier);
    }
};

/// At 0, dual values are whole numbers in the integral case, so that of a better tree exceeds the
/// cutoff by 1 (docs/theory.md#zero). A little is left to the roundings of sums as large as the
/// total.
inline double zero_margin_of(const Instance& instance) {
    if (instance.fractional() || instance.budget() <= 0) return 0.0;
    return instance.total() < 0x1p40 ? 1.0 - 0x1p-10 : 0.5;
}

/// Sums of costs are multiples of the cost unit, so the dual maximum of a tree with more than
/// `cutoff` samples correct exceeds the cutoff by at least cost_unit / budget; without affordable
/// moves, values are integers. Half of that is used, and always less than the quarter that a better
/// tree has at the multiplier that stands for 0: a tree that loses nothing there must not count as
/// closed. In the fractional case nothing is known.
inline double tie_margin_of(const Instance& instance) {
    if (instance.fractional()) return 0.0;
    if (instance.budget() <= 0) return 0.5;
    return std::min(0.2, 0.5 * instance.cost_unit() / instance.budget());
}

}  // namespace hardwood::search
