/// The points over which mass is distributed.
#pragma once

#include <optional>

#include "dual/neighbours.h"
#include "dual/reachable_sets.h"
#include "model/evaluator.h"
#include "util/search_params.h"

namespace hardwood::search {

/// All points of a small domain; otherwise the points of the rows, and points that turn out to
/// matter.
///
/// In very small tables, every row may use every point that it can afford. In others, each row has
/// a list of its own: the points nearby, and those where a tree misclassified it. Where these lists
/// do not suffice, they become longer, and finally hold all points, unless there are too many
/// pairs. Whichever points a row may use, bounds are valid (docs/theory.md#slices).
class Support {
public:
    Support(const Instance& instance, const SearchParams& params);

    const PointSet& points() const { return points_; }
    const ReachableSets& reachable() const { return reachable_; }
    /// Observations at each point, if a constraint needs them.
    std::span<const double> sizes() const { return sizes_; }
    bool has_own_lists() const { return neighbours_.has_value(); }

    /// Extends the lists as far as rows keep mass at a multiplier.
    void prepare(double multiplier);
    /// Lets rows use more points: first longer lists, then all points, where these are not too many
    /// pairs.
    void enlarge(double multiplier);
    bool can_enlarge() const {
        return neighbours_ && (list_length_ < max_list_length() || can_compare_all());
    }
    /// Adds, for each row, the cheapest point at which the last evaluated tree misclassifies it, if
    /// the row keeps mass there at the multiplier.
    void add_misclassified_points(const Evaluator& evaluator, double multiplier);

private:
    void add_all_points();
    void list_neighbours(std::size_t length);
    std::size_t max_list_length() const;
    bool can_compare_all() const;
    std::size_t max_points() const;
    void count_observations();

    const Instance& instance_;
    const SearchParams& params_;
    PointSet points_;
    ReachableSets reachable_;
    std::vector<double> sizes_;
    bool complete_ = false;
    std::optional<Neighbours> neighbours_;  // large tables only
    std::size_t list_length_ = 0;           // on average
    double listed_ = -1.0;                  // neighbours cheaper than this are in the lists
};

}  // namespace hardwood::search
