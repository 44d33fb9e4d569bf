// Few tests in place of many, for first trees.
#pragma once

#include <vector>

#include "../model/instance.h"

namespace hardwood::search {

// At most so many tests, or one for each column: thresholds that split the samples evenly, categories that most samples have. If there
// are more columns, those whose best test alone tells the classes apart best.
std::vector<int> coarse_tests(const Instance& instance, std::size_t most);

}  // namespace hardwood::search
