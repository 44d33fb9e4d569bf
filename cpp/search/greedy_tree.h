/// A first tree, grown as CART does.
#pragma once

#include "model/heap_tree.h"
#include "model/instance.h"

namespace hardwood::search {

/// At every node the split with the least Gini impurity without a shift, as long as one helps and
/// leaves enough observations on both sides.
HeapTree greedy_tree(const Instance& instance, int depth);

}  // namespace hardwood::search
