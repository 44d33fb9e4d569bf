/// For each row, the points of the support that it can afford, as far as they are listed, the
/// cheapest first. Points may be missing anywhere: mass that is not placed only lowers bounds
/// (docs/theory.md#slices).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dp/point_set.h"

namespace hardwood::search {

struct ReachablePoint {
    double cost;
    std::uint32_t point;
};

/// Rows that differ in nothing but their label have the same costs everywhere: they share one set.
class ReachableSets {
public:
    /// Points of equal cost; the levels of a set have ascending costs.
    struct Level {
        double cost;
        std::uint32_t end;  // among the points of the set
    };
    struct Set {
        std::span<const Level> levels;
        std::span<const std::uint32_t> points;
    };

    /// Keeps at most `max_points` points in a set, the cheapest ones: dropping points is always
    /// valid (docs/theory.md#slices).
    ReachableSets(const PointSet& points, std::size_t max_points);

    std::size_t n_sets() const { return row_begin_.size() - 1; }
    /// The rows of a set are adjacent.
    std::size_t first_row(std::size_t set) const { return row_begin_[set]; }
    std::size_t end_row(std::size_t set) const { return row_begin_[set + 1]; }

    Set operator[](std::size_t set) const {
        const Place& own = places_[set];
        return {.levels = {levels_.data() + own.first_level, own.n_levels},
                .points = {points_of_.data() + own.first_point, own.n_points}};
    }
    /// The points of a set with their costs.
    std::vector<ReachablePoint> points_with_costs(std::size_t set) const;
    std::size_t max_size() const { return max_size_; }
    /// Over all sets.
    std::size_t n_points() const { return n_points_; }

    /// Includes the points that were added since, by comparing every row with every one of them.
    void update();
    /// Adds what `find` finds for each set, in any order; it may find known points.
    void extend(
        const std::function<void(std::size_t set, std::vector<ReachablePoint>& found)>& find);

private:
    /// Where a set lies among those of all sets.
    struct Place {
        std::size_t first_level = 0, first_point = 0;
        std::uint32_t n_levels = 0, n_points = 0;
    };

    void insert(std::size_t set, std::span<const ReachablePoint> found);
    void append(std::span<const ReachablePoint> points, Place& place);
    void compact();

    const PointSet& points_;
    std::size_t max_points_;
    std::size_t n_known_ = 0;  // points that rows were compared with
    std::size_t max_size_ = 0;
    std::vector<std::uint32_t> row_begin_;
    /// A set that changes moves to the end; what it leaves behind is removed now and then.
    std::vector<Place> places_;
    std::vector<Level> levels_;
    std::vector<std::uint32_t> points_of_;
    std::size_t n_points_ = 0;            // over all sets
    std::vector<ReachablePoint> merged_;  // a buffer
};

}  // namespace hardwood::search
