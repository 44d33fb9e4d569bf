// For each row, the points that it can pay for, the cheapest first.
#pragma once

#include <cstdint>
#include <vector>

#include "../programme/points.h"

namespace hardwood::search {

struct Way {
    double cost;
    std::uint32_t point;
};

class Reach {
public:
    // Keeps at most so many ways of a row, the cheapest ones: to leave points out of a ball is always valid
    // (docs/theory.md#slices).
    Reach(const Points& points, std::size_t most_ways) : points_(points), most_ways_(most_ways), ways_(points.instance().n_rows()) {}

    // Takes in the points that were added since: every row is compared with every one of them.
    void update();
    // Whether a way at such a cost would be kept.
    bool has_room(std::size_t row, double cost) const;
    // One way of one row, unless it is known; the dearest one makes room for it.
    void add(std::size_t row, Way way);

    const std::vector<Way>& of(std::size_t row) const { return ways_[row]; }
    std::size_t longest() const { return longest_; }

private:
    const Points& points_;
    std::size_t most_ways_;
    std::size_t known_ = 0;
    std::size_t longest_ = 0;
    std::vector<std::vector<Way>> ways_;
};

}  // namespace hardwood::search
