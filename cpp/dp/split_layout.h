/// How the points of a box enter the sums of its splits.
#pragma once

#include <cstdint>
#include <vector>

#include "dp/point_set.h"

namespace hardwood::search {

/// Assigns the bins of a box to the splits whose sums they enter.
///
/// Only uncommon bins are added up, because most points have the common bin of most columns. The
/// sums of a split are therefore those of its side without the common bin: of an ordered column, a
/// split below the common bin sums "value <= code", a split above it "value > code"; the split of a
/// common category sums all other categories. `is_flipped` tells where the sums belong to the side
/// on which the split is false.
class SplitLayout {
public:
    explicit SplitLayout(const PointSet& points);

    void map(const Box& box);
    std::size_t size() const { return flipped_.size(); }  // splits of the box
    bool is_flipped(std::size_t k) const { return flipped_[k] != 0; }
    int column_of(int split) const { return instance_.column_of(split); }

    /// The splits whose sums a point enters, in order; `slots` has room for `max_slots`. Returns
    /// their number.
    std::size_t slots_of(std::uint32_t point, std::uint32_t* slots) const {
        std::size_t n = 0;
        for (const std::uint16_t bin : points_.uncommon_bins(point)) {
            const std::int32_t slot = slot_[bin];
            slots[n] = static_cast<std::uint32_t>(slot);
            n += slot >= 0;
        }
        return n;
    }

    std::size_t max_slots() const { return idx(instance_.n_columns()); }

    /// Adjacent splits of one column whose sums follow from sums by bins: an ordered column
    /// accumulates from both ends towards its common bin, and a common category is the sum of the
    /// other categories.
    struct Run {
        std::size_t begin, end;
        std::size_t turn;  // ordered: splits before it accumulate upwards, the others downwards
        std::size_t rest;  // unordered: the split of the common category; `end`: none
        bool ordered;
        /// With missing values, splits come in pairs, and the last one is "is missing". Before the
        /// turn: "low or missing" and "low"; from the turn on: "high" and "high or missing".
        bool missing = false;

        /// The split whose points are those of two splits together; `none` if there are no such
        /// points.
        std::size_t intersection(std::size_t low, std::size_t high) const;
        bool with_missing(std::size_t k) const {
            return k + 1 == end || (k < turn) == ((k - begin) % 2 == 0);
        }
        static constexpr std::size_t none = static_cast<std::size_t>(-1);
    };
    const std::vector<Run>& runs() const { return runs_; }

private:
    void map_ordered(const Column& column, const Box& box, int common_bin, Run& run);
    void map_with_missing(const Column& column, const Box& box, int common_bin, Run& run);
    void map_categories(const Column& column, int c, const Box& box, Run& run);

    const PointSet& points_;
    const Instance& instance_;
    std::vector<std::int32_t> slot_;  // by bin: the split whose sums it enters, -1: none
    std::vector<std::int8_t> flipped_;
    std::vector<Run> runs_;
};

}  // namespace hardwood::search
