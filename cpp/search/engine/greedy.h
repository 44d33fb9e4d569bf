// A tree in one go, as CART grows it: the first one of a contest.
#pragma once

#include "../model/tree.h"
#include "../model/instance.h"

namespace hardwood::search {

// At every place the test that leaves the least Gini impurity as the samples stand, as long as there is one that helps and leaves enough
// samples on both sides.
Skeleton greedy_tree(const Instance& instance, int depth);

}  // namespace hardwood::search
