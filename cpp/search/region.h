// A part of the feature space that a partial tree leaves open, and the samples that can be in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "instance.h"
#include "pool.h"

namespace hardwood::search {

// A node of a tree under construction, in heap order: position 1 is the root, 2p and 2p + 1 are the children of p.
struct Choice {
    int test = -1;  // -1: a leaf
    int label = 0;

    bool operator==(const Choice&) const = default;
};

using Skeleton = std::vector<Choice>;

// Copies the subtree at one position to another position of the same or another tree.
void graft(const Skeleton& from, std::size_t source, Skeleton& to, std::size_t target);

// Points stand in groups by class, each group padded to a whole number of lanes with points that weigh nothing.
constexpr std::size_t lanes = 8;
constexpr std::size_t no_point = static_cast<std::size_t>(-1);

struct Region {
    std::size_t position = 1;
    int levels = 0;             // tests that may still follow on a path
    std::vector<Limit> limits;  // by feature

    std::vector<std::size_t> points;  // no_point: padding
    std::vector<double> cost;         // cheapest price of being here, +inf for padding
    std::vector<std::size_t> class_begin;

    // For each test that splits the region, and each point: the side where the point is cheapest (0 left, 1 right),
    // and the price of being on the other side instead, +inf beyond the budget.
    std::vector<int> tests;
    Doubles side;   // tests x points
    Doubles cross;  // tests x points

    // Subtrees that were good here, at absolute positions: a cache for bounds, newest last.
    mutable std::vector<std::vector<Choice>> pool;

    std::size_t size() const { return points.size(); }
};

using RegionPtr = std::shared_ptr<const Region>;

RegionPtr root_region(const Instance& instance, int levels);

// The part of a region on one side of its k-th test, with one level less and `most_levels` at most; points that would pay
// `ceiling` or more are left out.
RegionPtr part_of(const Instance& instance, const Region& region, std::size_t k, int side, int most_levels,
                  double ceiling);

// The same region with the points that are wanted only.
RegionPtr only(const Instance& instance, const Region& region, const std::vector<bool>& wanted);

}  // namespace hardwood::search
