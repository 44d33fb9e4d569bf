/// A growing set of points of the domain.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/box.h"
#include "util/row_ids.h"

namespace hardwood::search {

/// Points are numbered in the order in which they are added. Most points share the most common bin
/// of most columns, so the other ("uncommon") bins of a point are listed.
class PointSet {
public:
    explicit PointSet(const Instance& instance);

    /// The number of a point, which is added if it is new.
    std::uint32_t add(const Bin* point);
    /// Its number, or -1.
    std::int64_t find(const Bin* point) const { return ids_.find(point); }

    std::size_t size() const { return ids_.size(); }
    const Bin* operator[](std::size_t point) const { return ids_[point]; }

    /// The bins of a point, numbered among the bins of all columns, that are not the most common
    /// ones.
    std::span<const std::uint16_t> uncommon_bins(std::size_t point) const {
        return {uncommon_.data() + begin_[point], begin_[point + 1] - begin_[point]};
    }
    int common_bin(int column) const { return common_[idx(column)]; }

    /// The labels that a tree assigns to the points from `begin` to `end`, excluded.
    std::vector<std::uint16_t> labels(const HeapTree& tree, std::size_t begin,
                                      std::size_t end) const;

    const Instance& instance() const { return instance_; }

private:
    using Mask = std::vector<std::uint16_t>;  // all bits or none
    void assign_labels(const HeapTree& tree, std::size_t at, std::size_t from,
                       std::span<Mask> masks, std::span<std::uint16_t> labels) const;

    const Instance& instance_;
    std::vector<int> common_;
    RowIds<Bin> ids_;
    std::vector<std::vector<Bin>> columns_;  // the same points, column after column
    std::vector<std::uint16_t> uncommon_;
    std::vector<std::size_t> begin_{0};
};

/// The label that a tree assigns to a point.
int label_of(const Instance& instance, const HeapTree& tree, const Bin* point);

}  // namespace hardwood::search
