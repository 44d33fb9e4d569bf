/// The best tree so far.
#pragma once

#include <cmath>

#include "model/heap_tree.h"

namespace hardwood::search {

/// What counts about a tree: samples correct in the worst case, splits, and the value, which in the
/// fractional case includes what is left of the last row (otherwise it equals `correct`).
struct Score {
    double correct = -1.0;
    int n_splits = 0;
    double value = -1.0;

    bool operator==(const Score&) const = default;
    /// A tree with `other_splits` splits is better iff it keeps more samples correct than this:
    /// correct + penalty * (other_splits - n_splits), rounded down in exact arithmetic (a product
    /// of doubles and its rounding error are two doubles).
    double to_beat(int other_splits, double penalty) const {
        const double more = other_splits - n_splits;
        const double product = penalty * more, error = std::fma(penalty, more, -product);
        const double down = std::floor(product);
        return correct + (product == down && error < 0 ? down - 1.0 : down);
    }
};

struct Incumbent {
    Score score = {};
    HeapTree tree = {};
    double dual_multiplier = 0.0;
    double penalty = 0.0;  // per split

    /// Trees with this many splits need more correct samples than this to be better.
    double to_beat(int n_splits) const { return score.to_beat(n_splits, penalty); }
    /// Among trees with equal objectives, the smaller one that is as robust is kept (with a penalty
    /// of 0, of the trees that happen to be found); among trees of the same size, the one with the
    /// larger fractional value.
    bool is_beaten_by(const Score& other) const {
        const bool as_robust = other.correct == score.correct;
        const bool smaller = as_robust && other.n_splits < score.n_splits;
        const bool larger_value =
            as_robust && other.n_splits == score.n_splits && other.value > score.value;
        return score.correct < 0 || other.correct > to_beat(other.n_splits) || smaller ||
               larger_value;
    }
};

}  // namespace hardwood::search
