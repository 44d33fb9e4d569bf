/// A selection of splits for first trees.
#pragma once

#include <vector>

#include "model/instance.h"

namespace hardwood::search {

/// At most `max_splits` splits, but at least one for each column: thresholds that divide the
/// samples evenly, and the most frequent categories. If there are more columns than `max_splits`,
/// those whose best split alone separates the classes best.
std::vector<int> coarse_splits(const Instance& instance, std::size_t max_splits);

}  // namespace hardwood::search
