// A growing set of points of the domain.
#pragma once

#include <cstdint>
#include <vector>

#include "../model/box.h"
#include "../support/row_numbers.h"

namespace hardwood::search {

class Points {
public:
    explicit Points(const Instance& instance);

    // The number of a point; a new one if it was not there.
    std::uint32_t add(const Bin* point);
    // Its number, or -1.
    std::int64_t find(const Bin* point) const { return numbers_.find(point); }

    std::size_t size() const { return numbers_.size(); }
    const Bin* operator[](std::size_t z) const { return numbers_[z]; }

    // The bins of a point, among the bins of all columns, other than the usual ones of their columns, in order.
    std::span<const std::uint16_t> unusual(std::size_t z) const {
        return {unusual_.data() + begin_[z], begin_[z + 1] - begin_[z]};
    }
    int usual(int column) const { return usual_[static_cast<std::size_t>(column)]; }

    // The labels that a tree gives to the points from this one on.
    std::vector<std::uint16_t> labels(const Skeleton& tree, std::size_t from = 0) const;

    const Instance& instance() const { return instance_; }

private:
    using Mask = std::vector<std::uint16_t>;  // all bits or none
    void put_labels(const Skeleton& tree, std::size_t at, std::size_t from, const Mask& here, std::vector<std::uint16_t>& labels) const;

    const Instance& instance_;
    std::vector<int> usual_;
    RowNumbers<Bin> numbers_;
    std::vector<std::vector<Bin>> columns_;  // the same, column after column
    std::vector<std::uint16_t> unusual_;
    std::vector<std::size_t> begin_{0};
};

// The label that a tree gives to a point.
int label_of(const Instance& instance, const Skeleton& tree, const Bin* point);

}  // namespace hardwood::search
