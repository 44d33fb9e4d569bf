// Where measures may stand: all points of a small domain, otherwise points that turned out to matter. In small tables, every row may use
// every point in its reach. In large ones, where that would be too many pairs, it has a list of its own: the points nearby, and those
// where a tree was wrong about it.
#pragma once

#include <optional>

#include "../model/evaluation.h"
#include "../support/effort.h"
#include "measure.h"
#include "neighbours.h"

namespace hardwood::search {

class Support {
public:
    Support(const Instance& instance, const Effort& effort);

    const Points& points() const { return points_; }
    const Reach& reach() const { return reach_; }
    // How many samples stand at each point.
    std::span<const double> sizes() const { return sizes_; }
    bool has_own_lists() const { return neighbours_.has_value(); }

    // Sees to it that lists reach as far as rows are present at a price.
    void prepare(double price);
    // The cheapest points at which a tree is wrong about each row, as far as they are in reach at a price.
    void add_wrong_points(const Evaluator& evaluator, double price);

private:
    void add_all_points();
    void count_samples();

    const Instance& instance_;
    const Effort& effort_;
    Points points_;
    Reach reach_;
    std::vector<double> sizes_;
    bool complete_ = false;
    std::optional<Neighbours> neighbours_;  // large tables only
    double listed_ = -1.0;                  // what neighbours cost that are in the lists: less than this
};

}  // namespace hardwood::search
