/// Multipliers of the budget at which a better tree may still exist.
#pragma once

#include <utility>
#include <vector>

#include "dual/target.h"

namespace hardwood::search {

struct Interval {
    double low;
    double high;
};

/// A lower bound on losses at one multiplier.
struct LossBound {
    double multiplier;
    double loss;
};

/// Multipliers at which the dual values of trees may bend, as functions of the multiplier
/// (docs/theory.md#breakpoints): class weight over possible margin. Their maxima lie there.
struct Breakpoints {
    std::vector<double> multipliers = {};  // ascending; all of them from `complete_from` on
    double complete_from = infinity;

    Breakpoints() = default;
    Breakpoints(const Instance& instance, const Target& target, int depth,
                std::size_t max_breakpoints);
};

/// `zero_multiplier` in the fractional case.
constexpr double fractional_zero_multiplier = 0.25;

/// Times 1 / budget: the multiplier that stands for 0 where 0 itself does not count
/// (docs/theory.md#zero). Dual values fall by at most the budget per unit of the multiplier,
/// so a maximum at 0 is less by at most this number there. In the fractional case, claims are
/// larger by this.
double zero_multiplier(const Instance& instance);

/// Disjoint closed intervals, ascending.
class MultiplierIntervals {
public:
    MultiplierIntervals() = default;
    /// Ascending intervals. `breakpoints` may be null: any multiplier counts. It must outlive them.
    MultiplierIntervals(std::vector<Interval> intervals, const Breakpoints* breakpoints)
        : breakpoints_(breakpoints), intervals_(std::move(intervals)) {
        trim();
    }
    MultiplierIntervals(Interval all, const Breakpoints* breakpoints)
        : MultiplierIntervals(std::vector{all}, breakpoints) {}

    /// An interval that contains, for every classifier that uses at least two labels, restricts at
    /// most `columns` columns in each region and beats the cutoff, a multiplier at which its dual
    /// value exceeds the cutoff by more than the tie margin (docs/theory.md#multipliers).
    /// Classifiers with one label must have been offered before. Without a budget, any multiplier
    /// serves.
    static MultiplierIntervals all(const Instance& instance, const Target& target, int columns,
                                   const Breakpoints* breakpoints);

    /// A bound that exceeds the required loss at u by `gap` closes an interval around u
    /// (docs/theory.md#intervals): down to u - gap / budget, because losses rise as u falls; up to
    /// u * k / (k - gap) with k = cutoff + tie margin, because a dual value is concave in u and not
    /// negative at 0. A loss that is large enough at any multiplier closes 0.
    void close(const Target& target, const LossBound& bound);
    void remove(Interval closed);
    /// Whether 0 itself is open.
    bool contains_zero() const { return !empty() && lowest() == 0.0; }
    void remove_zero() { remove({.low = 0.0, .high = 0.0}); }

    bool empty() const { return intervals_.empty(); }
    const std::vector<Interval>& intervals() const { return intervals_; }
    double lowest() const { return intervals_.front().low; }
    double highest() const { return intervals_.back().high; }

    /// An upper bound on the dual values of trees at open multipliers, given lower bounds on
    /// losses; at least the cutoff. Below a multiplier with a known bound, losses are at least that
    /// bound; where none is known, they are at least 0.
    double max_dual(const Target& target, std::vector<LossBound> known) const;

private:
    double next_multiplier(double multiplier) const;
    /// Removes multipliers between breakpoints from the ends of intervals.
    void trim();

    const Breakpoints* breakpoints_ = nullptr;
    std::vector<Interval> intervals_;
};

}  // namespace hardwood::search
