// For each row, the points that it can pay for, the cheapest first.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "../programme/points.h"

namespace hardwood::search {

struct Way {
    double cost;
    std::uint32_t point;
};

// Rows that differ in nothing but their label pay the same everywhere: they have one list together.
class Reach {
public:
    // Points that cost the same, one level after the other.
    struct Level {
        double cost;
        std::uint32_t end;  // among the points of the list
    };
    struct List {
        std::span<const Level> levels;
        std::span<const std::uint32_t> points;
    };

    // Keeps at most so many points in a list, the cheapest ones: to leave points out of a ball is always valid
    // (docs/theory.md#slices).
    Reach(const Points& points, std::size_t most_ways);

    std::size_t n_lists() const { return row_begin_.size() - 1; }
    // The rows of a list stand side by side.
    std::size_t first_row(std::size_t list) const { return row_begin_[list]; }
    std::size_t end_row(std::size_t list) const { return row_begin_[list + 1]; }

    List operator[](std::size_t list) const {
        return {{levels_.data() + level_begin_[list], levels_.data() + level_begin_[list + 1]},
                {points_of_.data() + point_begin_[list], points_of_.data() + point_begin_[list + 1]}};
    }
    std::vector<Way> ways(std::size_t list) const;
    std::size_t longest() const { return longest_; }

    // Takes in the points that were added since: every row is compared with every one of them.
    void update();
    // Takes in what `find` finds for each list, in any order; it may find what is known.
    void extend(const std::function<void(std::size_t list, std::vector<Way>& found)>& find);

private:
    void append(std::span<const Way> ways);
    void append(const List& list);

    const Points& points_;
    std::size_t most_ways_;
    std::size_t known_ = 0;  // points that rows were compared with
    std::size_t longest_ = 0;
    std::vector<std::uint32_t> row_begin_;
    std::vector<Level> levels_;              // list after list
    std::vector<std::uint32_t> points_of_;
    std::vector<std::size_t> level_begin_, point_begin_;
};

}  // namespace hardwood::search
