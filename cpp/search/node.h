// A node of the search: the top of a tree that is fixed, regions that are open, prices that are alive.
#pragma once

#include <utility>
#include <vector>

#include "crossings.h"
#include "region.h"

namespace hardwood::search {

// How the loss of each point is shared out over the open regions: by region, then by place in the region.
using Shares = std::vector<std::vector<double>>;

// What is known at one price: a bound on the loss of every completion of the node, also of those with a certain test on top of
// a certain open region, and the shares that gave the bound.
struct PriceBound {
    double price = 0.0;
    double value = -infinity;
    std::vector<std::vector<double>> by_test;
    std::vector<double> by_leaf;
    Shares shares;
    std::shared_ptr<const Crossings> crossings;  // where the bound comes from shared weights
};

struct Interval {
    double low;
    double high;
};

struct Node {
    Skeleton fixed;
    int n_tests = 0;
    double ceiling = infinity;  // points that pay as much or more are left out of its regions
    std::vector<RegionPtr> open;
    std::vector<Interval> alive;                                // prices at which a better tree may exist
    std::vector<PriceBound> bounds;                             // found at this node
    std::vector<std::pair<double, double>> inherited;           // price and bound, from its ancestors
    std::vector<std::pair<double, Shares>> inherited_shares;    // price and shares, from its parent
    std::vector<std::pair<double, std::shared_ptr<const Crossings>>> inherited_crossings;

    bool is_root() const { return open.size() == 1 && open[0]->position == 1 && open[0]->levels > 0; }

    int levels() const {
        int most = 0;
        for (const RegionPtr& region : open) most = std::max(most, region->levels);
        return most;
    }
};

}  // namespace hardwood::search
