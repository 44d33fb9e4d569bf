// The cheapest way to make each sample misclassified.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prices.h"

namespace hardwood {

// The region of a leaf.
struct Region {
    std::int32_t label;
    std::vector<Limit> limits;
};

// For each sample its margin, the smallest price of a move into a region with another label than its own
// (the paper's subproblem, Eq. 13), and the first region that attains it; +inf and -1 if no such region can be reached.
void margins(const Table& table, const std::vector<FeaturePrices>& prices, std::span<const std::int32_t> labels,
             const std::vector<Region>& regions, std::span<double> margin, std::span<std::int32_t> region_of);

}  // namespace hardwood
