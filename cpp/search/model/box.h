// The part of the domain that a path of tests leads to, and the tests that split it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "instance.h"
#include "tree.h"

namespace hardwood::search {

constexpr int deepest = 12;

// Answers of tests that define the box, none implied by the others, in order: two paths to one box have one key.
class BoxKey {
public:
    void insert(const Instance& instance, int test, int side);

    std::span<const std::uint16_t> answers() const { return {answers_.data(), size_}; }
    static int test_of(std::uint16_t answer) { return answer >> 1; }
    static int side_of(std::uint16_t answer) { return answer & 1; }

    bool operator==(const BoxKey&) const = default;
    std::uint64_t hash() const;

private:
    void insert_with_missing(const Instance& instance, int test, int side);

    std::array<std::uint16_t, deepest> answers_{};
    std::uint16_t size_ = 0;
};

constexpr int most_tests_possible = 32'767;  // an answer is 16 bits

struct Box {
    BoxKey key;
    std::vector<int> tests;  // those that split it, in order
};

Box whole_domain(const Instance& instance);

// The part on one side of a test: 0 where it is true, 1 where it is not.
Box part_of(const Instance& instance, const Box& box, int test, int side);

// Which bins of a column a box allows; all of them if it says nothing about the column.
std::vector<bool> allowed_bins(const Instance& instance, const BoxKey& key, int column);

bool contains(const Instance& instance, const BoxKey& key, const Bin* point);

// What a row pays at least to be in a box; +inf beyond the limit.
class BoxCost {
public:
    BoxCost(const Instance& instance, const BoxKey& key);

    double operator()(std::size_t row) const {
        double total = 0.0;
        for (const Demand& demand : demands_) total += demand.cost[instance_.kind(row, demand.column)];
        return total <= instance_.limit() ? total : infinity;
    }
    // The cheapest point of the box for a row that can pay for one, bin by bin; in how many columns it is not at home there.
    void nearest_point(std::size_t row, Bin* point) const;
    int moves(std::size_t row) const;

private:
    struct Demand {
        int column;
        std::vector<double> cost;  // by kind
        std::vector<Bin> bin;      // where it costs that
    };
    const Instance& instance_;
    std::vector<Demand> demands_;
};

// The boxes of the leaves of a tree, and their labels.
struct LabelledBox {
    BoxKey box;
    int label;
    std::size_t position;  // in the tree
};
std::vector<LabelledBox> leaves_of(const Instance& instance, const Skeleton& tree);

}  // namespace hardwood::search
