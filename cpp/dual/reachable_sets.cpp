#include "dual/reachable_sets.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hardwood::search {

namespace {

bool before(const ReachablePoint& a, const ReachablePoint& b) {
    return a.cost < b.cost || (a.cost == b.cost && a.point < b.point);
}

}  // namespace

ReachableSets::ReachableSets(const PointSet& points, std::size_t max_points)
    : points_(points), max_points_(max_points) {
    const Instance& instance = points.instance();
    const auto same_costs = [&](std::size_t i, std::size_t k) {
        for (int c = 0; c < instance.n_columns(); ++c) {
            if (instance.cost_class(i, c) != instance.cost_class(k, c)) return false;
        }
        return true;
    };
    for (std::size_t i = 0; i < instance.n_rows(); ++i) {
        if (i == 0 || !same_costs(i - 1, i)) row_begin_.push_back(to_id(i));
    }
    row_begin_.push_back(to_id(instance.n_rows()));
    places_.resize(n_sets());
}

std::vector<ReachablePoint> ReachableSets::points_with_costs(std::size_t set) const {
    const Set own = (*this)[set];
    std::vector<ReachablePoint> points;
    for (const Level& level : own.levels) {
        while (points.size() < level.end)
            points.push_back({.cost = level.cost, .point = own.points[points.size()]});
    }
    return points;
}

void ReachableSets::append(std::span<const ReachablePoint> points, Place& place) {
    for (std::size_t k = 0; k < points.size(); ++k) {
        points_of_.push_back(points[k].point);
        ++place.n_points;
        if (k + 1 == points.size() || points[k + 1].cost != points[k].cost) {
            levels_.push_back({.cost = points[k].cost, .end = place.n_points});
            ++place.n_levels;
        }
    }
}

void ReachableSets::extend(
    const std::function<void(std::size_t set, std::vector<ReachablePoint>& found)>& find) {
    std::vector<ReachablePoint> found;
    for (std::size_t s = 0; s < n_sets(); ++s) {
        found.clear();
        find(s, found);
        if (found.empty()) continue;
        std::ranges::sort(found, before);
        insert(s, found);
    }
    // Growing vectors take up to twice what they need, and so do the remains of sets that moved.
    if (2 * n_points_ < points_of_.capacity()) compact();
}

/// Points that cost less than the first new one stay as they are.
void ReachableSets::insert(std::size_t s, std::span<const ReachablePoint> found) {
    const Set old = (*this)[s];
    std::size_t level = 0;
    while (level < old.levels.size() && old.levels[level].cost < found.front().cost) ++level;
    const std::size_t kept = level == 0 ? 0 : old.levels[level - 1].end;
    if (kept >= max_points_) return;
    merged_.clear();
    auto next = found.begin();
    std::size_t k = kept;
    for (std::size_t l = level; l < old.levels.size(); ++l) {
        for (; k < old.levels[l].end; ++k) {
            const ReachablePoint known{.cost = old.levels[l].cost, .point = old.points[k]};
            while (next != found.end() && before(*next, known)) merged_.push_back(*next++);
            merged_.push_back(known);
        }
    }
    merged_.insert(merged_.end(), next, found.end());
    const auto repeated =
        std::ranges::unique(merged_, {}, &ReachablePoint::point);  // equal points, equal costs
    merged_.erase(repeated.begin(), repeated.end());
    if (kept + merged_.size() > max_points_) merged_.resize(max_points_ - kept);
    if (kept + merged_.size() == old.points.size() &&
        std::ranges::equal(merged_, old.points.subspan(kept), {}, &ReachablePoint::point)) {
        return;  // all points were known
    }
    const Place before_move = places_[s];
    Place place{.first_level = levels_.size(),
                .first_point = points_of_.size(),
                .n_levels = to_id(level),
                .n_points = to_id(kept)};
    levels_.resize(levels_.size() + level);
    std::copy_n(levels_.begin() + static_cast<std::ptrdiff_t>(before_move.first_level), level,
                levels_.begin() + static_cast<std::ptrdiff_t>(place.first_level));
    points_of_.resize(points_of_.size() + kept);
    std::copy_n(points_of_.begin() + static_cast<std::ptrdiff_t>(before_move.first_point), kept,
                points_of_.begin() + static_cast<std::ptrdiff_t>(place.first_point));
    append(merged_, place);
    places_[s] = place;
    n_points_ += place.n_points - std::size_t{before_move.n_points};
    max_size_ = std::max(max_size_, std::size_t{place.n_points});
}

/// Puts the sets side by side, in order.
void ReachableSets::compact() {
    std::vector<Level> levels;
    std::vector<std::uint32_t> points;
    std::size_t n_levels = 0;
    for (const Place& place : places_) n_levels += place.n_levels;
    levels.reserve(n_levels);
    points.reserve(n_points_);
    for (std::size_t s = 0; s < n_sets(); ++s) {
        const Set own = (*this)[s];
        Place& place = places_[s];
        place.first_level = levels.size();
        place.first_point = points.size();
        levels.insert(levels.end(), own.levels.begin(), own.levels.end());
        points.insert(points.end(), own.points.begin(), own.points.end());
    }
    levels_ = std::move(levels);
    points_of_ = std::move(points);
}

/// Points differ from the most common one in few columns, so a row's cost of that point is
/// corrected for these. In integers, because costs that cannot be paid take part, too: one of them
/// is enough to be out of reach, and all columns together must stay below 2^63. In the integral
/// case there are fewer than 2^15 columns (`max_candidate_splits`) with 2^48 units each, and a
/// remainder. In the fractional case units may have to be larger, and costs are rounded up, which
/// makes points less reachable: that is valid (docs/theory.md#slices).
void ReachableSets::update() {
    if (n_known_ == points_.size()) return;
    const Instance& instance = points_.instance();
    const double coarse = std::ldexp(instance.max_cost() * (instance.n_columns() + 1), -61);
    const double unit = instance.fractional()      ? std::max(instance.cost_unit(), coarse)
                        : instance.cost_unit() > 0 ? instance.cost_unit()
                                                   : 1.0;
    const auto out_of_reach =
        unit > 0 ? static_cast<std::int64_t>(instance.max_cost() / unit) + 2 : 1;
    const auto in_units = [&](double cost) {
        if (cost == infinity) return out_of_reach;
        return cost == 0.0 ? std::int64_t{0} : static_cast<std::int64_t>(std::ceil(cost / unit));
    };
    std::vector<std::int64_t> correction(idx(instance.n_bins()));
    const auto compare = [&](std::size_t s, std::vector<ReachablePoint>& found) {
        const std::size_t row = first_row(s);
        std::int64_t common = 0;
        for (int c = 0; c < instance.n_columns(); ++c) {
            const Column& column = instance.column(c);
            const double* const cost = column.costs_of(instance.cost_class(row, c));
            const std::int64_t own = in_units(cost[points_.common_bin(c)]);
            common += own;
            for (int b = 0; b < column.n_bins; ++b)
                correction[idx(column.first_bin + b)] = in_units(cost[b]) - own;
        }
        const std::int64_t limit = in_units(instance.max_cost());
        // A full set takes cheaper points only; of points at one cost, it keeps those it has.
        const Set own = (*this)[s];
        const double worst = own.points.size() < max_points_ ? infinity : own.levels.back().cost;
        for (std::size_t z = n_known_; z < points_.size(); ++z) {
            std::int64_t total = common;
            for (const std::uint16_t bin : points_.uncommon_bins(z)) total += correction[bin];
            const double cost = static_cast<double>(total) * unit;
            if (total <= limit && cost < worst) found.push_back({.cost = cost, .point = to_id(z)});
        }
        if (found.size() > max_points_) {
            std::ranges::nth_element(
                found, found.begin() + static_cast<std::ptrdiff_t>(max_points_), before);
            found.resize(max_points_);
        }
    };
    const auto find_own_point = [&](std::size_t s, std::vector<ReachablePoint>& found) {
        const std::int64_t own = points_.find(instance.point(first_row(s)));
        if (own >= 0) found.push_back({.cost = 0.0, .point = to_id(own)});
    };
    if (instance.any_move()) {
        extend(compare);
    } else {
        extend(find_own_point);
    }
    n_known_ = points_.size();
}

}  // namespace hardwood::search
