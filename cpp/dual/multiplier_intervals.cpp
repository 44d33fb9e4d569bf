#include "dual/multiplier_intervals.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace hardwood::search {

/// At most 1 less the largest tie margin (docs/theory.md#ties).
double zero_multiplier(const Instance& instance) {
    return instance.fractional() ? fractional_zero_multiplier : 0.75;
}

namespace {

/// Whether every row can afford to reach every leaf: then all margins of a tree with two labels are
/// finite, and at 0 its dual value is 0 (docs/theory.md#multipliers).
bool all_margins_are_finite(const Instance& instance, int columns) {
    return instance.max_margin(columns) <= instance.max_cost();
}

/// The dual function of a tree bends at 1 / margin, and only margins up to the budget matter. If
/// all margins together cost no more than the budget, its maximum is at 0. If 0 counts, no lower
/// multiplier than one over the largest margin does; otherwise, at 3 / (4 budget) the dual function
/// exceeds the cutoff by a quarter or more.
double lowest_positive_multiplier(const Instance& instance, const Target& target, int columns) {
    constexpr double almost = 1.0 - 1e-12;
    if (target.zero_counts()) {
        const double largest =
            std::min(instance.max_cost(), instance.max_finite_margin(columns) * (1.0 + 1e-12));
        return largest > 0 ? instance.min_class_weight() / largest * almost
                           : 1.0 / instance.budget();  // nothing bends: any multiplier serves
    }
    const double zero = zero_multiplier(instance) / instance.budget();
    if (!all_margins_are_finite(instance, columns)) return zero;
    return std::max(zero, instance.min_class_weight() / instance.max_margin(columns) * almost);
}

}  // namespace

MultiplierIntervals MultiplierIntervals::all(const Instance& instance, const Target& target,
                                             int columns, const Breakpoints* breakpoints) {
    if (instance.budget() <= 0) return {Interval{.low = 1.0, .high = 1.0}, nullptr};
    const double low = lowest_positive_multiplier(instance, target, columns);
    const double high = std::min(instance.max_class_weight() / instance.min_cost(),
                                 (target.total - target.cutoff) / instance.budget());
    std::vector<Interval> open{{.low = low, .high = std::max(low, high * (1.0 + 1e-12))}};
    if (target.zero_counts() && !all_margins_are_finite(instance, columns))
        open.insert(open.begin(), {.low = 0.0, .high = 0.0});
    return {std::move(open), breakpoints};
}

void MultiplierIntervals::close(const Target& target, const LossBound& bound) {
    if (target.zero_counts() && bound.loss >= target.required_loss(0.0)) remove_zero();
    const double gap = bound.loss - target.required_loss(bound.multiplier);
    if (gap < 0 || bound.multiplier == 0.0) return;
    if (target.budget <= 0) {
        intervals_.clear();
        return;
    }
    constexpr double almost = 1.0 - 1e-12;
    const double k = target.cutoff + target.tie_margin;
    const double high = !target.upward_closing ? bound.multiplier
                        : k > gap              ? bound.multiplier * (k / (k - gap)) * almost
                                               : infinity;
    remove({.low = bound.multiplier - gap / target.budget * almost,
            .high = std::max(high, bound.multiplier)});
}

void MultiplierIntervals::remove(Interval closed) {
    std::vector<Interval> left;
    for (const Interval& interval : intervals_) {
        if (closed.high < interval.low || closed.low > interval.high) {
            left.push_back(interval);
            continue;
        }
        if (interval.low < closed.low) left.push_back({.low = interval.low, .high = closed.low});
        if (interval.high > closed.high)
            left.push_back({.low = closed.high, .high = interval.high});
    }
    intervals_ = std::move(left);
    trim();
}

Breakpoints::Breakpoints(const Instance& instance, const Target& target, int depth,
                         std::size_t max_breakpoints) {
    double complete = 0.0;
    const std::vector<double> margins = instance.possible_margins(depth, max_breakpoints, complete);
    std::set<double> class_weights;
    for (int label = 0; label < instance.n_classes(); ++label)
        class_weights.insert(instance.class_weight(label));
    // The lowest multiplier is one of them. Rounding weight / margin moves a dual value by less
    // than the rounding term.
    if (target.zero_counts()) multipliers.push_back(0.0);
    multipliers.push_back(lowest_positive_multiplier(instance, target, depth));
    for (const double weight : class_weights) {
        for (const double margin : margins) multipliers.push_back(weight / margin);
    }
    std::ranges::sort(multipliers);
    complete_from = complete < instance.max_cost() ? instance.max_class_weight() / complete : 0.0;
}

void MultiplierIntervals::trim() {
    if (breakpoints_ == nullptr) return;
    const std::vector<double>& points = breakpoints_->multipliers;
    const double complete = breakpoints_->complete_from;
    std::vector<Interval> left;
    for (Interval interval : intervals_) {
        const auto above = std::ranges::upper_bound(points, interval.high);
        const double last = above == points.begin() ? 0.0 : *(above - 1);
        if (interval.high > complete)
            interval.high = std::max(last, std::min(interval.high, complete));
        if (interval.low >= complete) {
            const auto next = std::ranges::lower_bound(points, interval.low);
            interval.low = next == points.end() ? infinity : *next;
        }
        if (interval.low <= interval.high) left.push_back(interval);
    }
    intervals_ = std::move(left);
}

double MultiplierIntervals::max_dual(const Target& target, std::vector<LossBound> known) const {
    std::ranges::sort(known, {}, &LossBound::multiplier);
    for (std::size_t k = known.size(); k-- > 1;)
        known[k - 1].loss = std::max(known[k - 1].loss, known[k].loss);
    double largest = target.cutoff;
    const auto dual = [&](double multiplier, double loss) {
        const double margin = multiplier > 0.0 ? 0.0 : target.zero_margin;
        return target.total * (1.0 + 0x1p-48) - multiplier * target.budget - loss -
               margin;  // docs/theory.md#numbers
    };
    for (const Interval& interval : intervals_) {
        double from = interval.low;  // the lowest multiplier that is not covered yet
        for (auto bound = known.begin(); bound != known.end() && from <= interval.high; ++bound) {
            if (bound->multiplier < from) continue;
            largest = std::max(largest, dual(from, bound->loss));
            from = next_multiplier(bound->multiplier);
        }
        if (from <= interval.high) largest = std::max(largest, dual(from, 0.0));
    }
    return largest;
}

/// The lowest multiplier above this one that counts.
double MultiplierIntervals::next_multiplier(double multiplier) const {
    if (breakpoints_ == nullptr || multiplier < breakpoints_->complete_from) {
        return std::nextafter(multiplier, infinity);
    }
    const auto next = std::ranges::upper_bound(breakpoints_->multipliers, multiplier);
    return next == breakpoints_->multipliers.end() ? infinity : *next;
}

}  // namespace hardwood::search
