/// Boxes: the part of the domain that a path of splits leads to, and the splits that divide it
/// further.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/heap_tree.h"
#include "model/instance.h"

namespace hardwood::search {

constexpr int max_depth = 12;                 // a deeper tree has more than 4,096 leaves
constexpr int max_candidate_splits = 32'767;  // a split and its outcome take 16 bits

/// The splits and outcomes that define a box, none of them implied by the others, in order: two
/// paths to one box have one key.
class BoxKey {
public:
    /// Restricts the box to one side of a split: 0 where it is true, 1 where it is not.
    void insert(const Instance& instance, int split, int side);

    std::span<const std::uint16_t> outcomes() const { return {outcomes_.data(), size_}; }
    static int split_of(std::uint16_t outcome) { return outcome >> 1; }
    static int side_of(std::uint16_t outcome) { return outcome & 1; }

    bool operator==(const BoxKey&) const = default;
    std::uint64_t hash() const;

private:
    void insert_with_missing(const Instance& instance, int split, int side);

    std::array<std::uint16_t, max_depth> outcomes_{};
    std::uint16_t size_ = 0;
};

struct Box {
    BoxKey key;
    std::vector<int> splits;  // those that divide it, in order
};

Box whole_domain(const Instance& instance);

/// The part of a box on one side of a split: 0 where it is true, 1 where it is not.
Box part_of(const Instance& instance, const Box& box, int split, int side);

/// Which bins of a column a box allows; all of them if it does not restrict the column.
std::vector<bool> allowed_bins(const Instance& instance, const BoxKey& key, int column);

bool contains(const Instance& instance, const BoxKey& key, const Bin* point);

/// The cheapest cost at which each row reaches a box; +inf above `Instance::max_cost`.
class BoxCost {
public:
    BoxCost(const Instance& instance, const BoxKey& key);

    double operator()(std::size_t row) const {
        double total = 0.0;
        for (const ColumnCost& own : columns_)
            total += own.cost[instance_.cost_class(row, own.column)];
        return total <= instance_.max_cost() ? total : infinity;
    }
    /// The cheapest point of the box for a row that can afford one.
    void nearest_point(std::size_t row, Bin* point) const;
    /// In how many columns that point differs from the row.
    int n_moves(std::size_t row) const;

private:
    struct ColumnCost {
        int column;
        std::vector<double> cost;  // by cost class
        std::vector<Bin> bin;      // where it is attained
    };
    const Instance& instance_;
    std::vector<ColumnCost> columns_;
};

/// A leaf of a tree: its box, label and position.
struct LeafBox {
    BoxKey box;
    int label;
    std::size_t position;
};
std::vector<LeafBox> leaves_of(const Instance& instance, const HeapTree& tree);

}  // namespace hardwood::search
