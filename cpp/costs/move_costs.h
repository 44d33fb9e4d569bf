/// What it costs to move the samples of a table into a region, feature by feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <variant>
#include <vector>

namespace hardwood {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// The code of a missing value of an ordered feature. No range of codes includes it.
constexpr std::int32_t missing_code = std::numeric_limits<std::int32_t>::max();

/// The codes of a table, stored column after column.
struct Table {
    const std::int32_t* values = nullptr;
    std::size_t n_samples = 0;
    std::size_t n_features = 0;

    const std::int32_t* column(std::size_t feature) const { return values + feature * n_samples; }
};

/// A region's demand on one feature: a code from `low` to `high`, or a missing value if `missing`,
/// or, of a categorical feature, one of the allowed categories.
struct Limit {
    std::size_t feature = 0;
    std::int32_t low = 0;
    std::int32_t high = 0;
    std::vector<std::uint8_t> allowed = {};  // by category; empty for ordered features
    bool missing = false;

    bool allows(std::int32_t code) const {
        if (!allowed.empty()) return allowed[static_cast<std::size_t>(code)] != 0;
        return code == missing_code ? missing : low <= code && code <= high;
    }
};

/// The cost of turning each of some codes into each other one, row after row; +inf where that is
/// impossible. The codes ascend.
struct PairCosts {
    const std::int32_t* codes = nullptr;
    const double* costs = nullptr;
    std::size_t size = 0;

    /// Position of a code that is present.
    std::size_t position(std::int32_t code) const;
};

/// Costs of one feature, see `MoveCosts` in src/hardwood/shifts.
///
/// `rows` is 1 (the same costs for all samples) or the number of samples; `columns` is 1 (the cost
/// of a step, or of changing a category) or the number of categories (cost of leaving plus cost of
/// arriving).
struct FeatureCosts {
    const double* costs = nullptr;
    std::size_t rows = 0;
    std::size_t columns = 0;
    bool ordered = false;
    bool may_increase = true;
    bool may_decrease = true;
    std::int32_t lower = 0;
    std::int32_t upper = 0;
    std::int32_t max_steps = 0;
    /// Ordered features with missing values: the cost of a value becoming missing, or of a missing
    /// value becoming observed; one, or one for each sample.
    const double* missing = nullptr;
    std::size_t missing_rows = 0;
    PairCosts table = {};  // if present, it replaces all other costs

    double missing_cost(std::size_t sample) const { return missing[missing_rows > 1 ? sample : 0]; }
};

// The ways to compute the cost of a limit: each is a function from a sample to the smallest cost of
// meeting it.

struct Unreachable {
    double operator()(std::size_t) const { return infinity; }
};

/// Ordered features: every step costs the same, so the nearest code within the limit is the
/// cheapest.
struct NearestCode {
    const std::int32_t* column;
    std::int32_t low;
    std::int32_t high;
    double up_cost;  // of a step; +inf in a closed direction
    double down_cost;
    double max_steps;

    double operator()(std::size_t sample) const {
        const double up = static_cast<double>(low) - column[sample];
        const double down = static_cast<double>(column[sample]) - high;
        // A cost may be infinite: multiply only if there is a step to make.
        if (up > 0) return up > max_steps ? infinity : up * up_cost;
        if (down > 0) return down > max_steps ? infinity : down * down_cost;
        return 0.0;
    }
};

/// The same with one step cost for each sample.
struct NearestCodeBySample {
    NearestCode surcharge;  // a closed direction adds +inf to the cost of a step, an open one 0
    const double* costs;

    double operator()(std::size_t sample) const {
        NearestCode own = surcharge;
        own.up_cost += costs[sample];
        own.down_cost += costs[sample];
        return own(sample);
    }
};

/// Categorical features with the same costs for all samples: a cost for each category to leave, 0
/// if allowed.
struct LeaveCategory {
    const std::int32_t* column;
    std::vector<double> cost;

    double operator()(std::size_t sample) const {
        return cost[static_cast<std::size_t>(column[sample])];
    }
};

/// Categorical features with costs for each sample.
struct LeaveCategoryBySample {
    const std::int32_t* column;
    std::vector<std::uint8_t> allowed;
    const double* costs;
    std::size_t columns;

    double operator()(std::size_t sample) const;
};

/// Ordered features with missing values.
struct ValueOrMissing {
    std::variant<Unreachable, NearestCode, NearestCodeBySample> value;
    const std::int32_t* column;
    const FeatureCosts* feature;
    bool missing;  // whether the limit allows a missing value

    double operator()(std::size_t sample) const;
};

/// Features with a table of costs: the smallest cost by position of the code.
struct CheapestPair {
    const std::int32_t* column;
    PairCosts table;
    std::vector<double> cost;

    double operator()(std::size_t sample) const { return cost[table.position(column[sample])]; }
};

using LimitCost = std::variant<Unreachable, NearestCode, NearestCodeBySample, LeaveCategory,
                               LeaveCategoryBySample, ValueOrMissing, CheapestPair>;

inline double evaluate(const LimitCost& cost, std::size_t sample) {
    return std::visit([sample](const auto& own) { return own(sample); }, cost);
}

/// The cost of a limit for the samples of a column. The feature must outlive the result.
LimitCost limit_cost(const FeatureCosts& feature, const std::int32_t* column, const Limit& limit);

}  // namespace hardwood
