/// Margins: the cheapest cost at which each sample is misclassified.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "costs/move_costs.h"

namespace hardwood {

/// The region of a leaf: its label, and its demands on single features.
struct Region {
    std::int32_t label = 0;
    std::vector<Limit> limits = {};
};

/// For each sample its margin, the smallest cost of a move into a region with another label than
/// its own (the subproblem of the paper, Eq. 13), and the first region that attains it; +inf and -1
/// if there is none.
void compute_margins(const Table& table, const std::vector<FeatureCosts>& costs,
                     std::span<const std::int32_t> labels, const std::vector<Region>& regions,
                     std::span<double> margins, std::span<std::int32_t> region_of);

}  // namespace hardwood
