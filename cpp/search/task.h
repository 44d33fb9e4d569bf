// What a search minimises, and when it is done.
#pragma once

#include <vector>

#include "node.h"
#include "watch.h"

namespace hardwood::search {

// The loss that is minimised: points with weights, and a price for each test.
// A subtree or completion is of interest only if its loss is below `goal`.
class Task {
public:
    virtual ~Task() = default;
    virtual double goal(double price) const = 0;
    // A complete tree that a bound came across.
    virtual void offer(const Skeleton& tree) = 0;

    bool offer_often = true;     // whether each step of a bound may offer its tree, or only the last
    std::vector<double> weight;  // by point
    double test_price = 0.0;
};

}  // namespace hardwood::search
