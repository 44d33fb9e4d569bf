/// Move costs of features, as Python holds them.
#pragma once

#include <optional>

#include "bindings/arrays.h"
#include "costs/move_costs.h"

namespace hardwood::bindings {

/// Costs of one feature, and the arrays that they point to.
struct CostsHolder {
    FeatureCosts costs;
    CostArray owner;
    std::optional<Doubles> missing;
    std::optional<Ints> codes;
    std::optional<CostArray> table;
};

/// Whether the costs cover every value of a feature in the table.
bool covers_values(const FeatureCosts& costs, const Table& table, std::size_t feature);

}  // namespace hardwood::bindings
