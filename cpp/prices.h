// What it costs to move the samples of a table into a region, feature by feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <variant>
#include <vector>

namespace hardwood {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The codes of a table, stored column after column.
struct Table {
    const std::int32_t* values;
    std::size_t n_samples;
    std::size_t n_features;

    const std::int32_t* column(std::size_t feature) const { return values + feature * n_samples; }
};

// A region's demand on one feature: a code from `low` to `high`, or one of the allowed categories.
struct Limit {
    std::size_t feature;
    std::int32_t low;
    std::int32_t high;
    std::vector<std::uint8_t> allowed;  // by category; empty for ordered features
};

// Prices of one feature: `rows` is 1 (the same for all samples) or the number of samples, `columns` is 1 (the price of a
// step, or of changing an answer) or the number of categories (leaving plus arriving). See MoveCosts in uncertainty.py.
struct FeaturePrices {
    const double* prices;
    std::size_t rows;
    std::size_t columns;
    bool ordered;
    bool may_rise;
    bool may_fall;
    std::int32_t lower;
    std::int32_t upper;
    std::int32_t steps;  // no value moves further than this
};

// The ways to price a limit, each a function from a sample to the cheapest price of meeting it.

struct Unreachable {
    double operator()(std::size_t) const { return infinity; }
};

// Ordered features: the nearest code that fits is the cheapest, since every step costs the same.
struct NearestCode {
    const std::int32_t* column;
    std::int32_t low;
    std::int32_t high;
    double rise;  // price of a step, +inf in a closed direction
    double fall;
    double steps;  // the most there may be

    double operator()(std::size_t sample) const {
        const double up = static_cast<double>(low) - column[sample];
        const double down = static_cast<double>(column[sample]) - high;
        // A price may be infinite, so it is multiplied only if there is a step to make.
        if (up > 0) return up > steps ? infinity : up * rise;
        if (down > 0) return down > steps ? infinity : down * fall;
        return 0.0;
    }
};

// The same with a price of its own for each sample.
struct OwnNearestCode {
    NearestCode toll;  // what a closed direction adds to the price of a step: +inf, otherwise 0
    const double* prices;

    double operator()(std::size_t sample) const {
        NearestCode own = toll;
        own.rise += prices[sample];
        own.fall += prices[sample];
        return own(sample);
    }
};

// Categorical features with the same prices for all samples: a price for each category to leave, 0 if it may stay.
struct LeaveCategory {
    const std::int32_t* column;
    std::vector<double> leave;

    double operator()(std::size_t sample) const { return leave[static_cast<std::size_t>(column[sample])]; }
};

// Categorical features with prices of their own for each sample.
struct OwnCategory {
    const std::int32_t* column;
    std::vector<std::uint8_t> allowed;
    const double* prices;
    std::size_t columns;

    double operator()(std::size_t sample) const;
};

using LimitPrice = std::variant<Unreachable, NearestCode, OwnNearestCode, LeaveCategory, OwnCategory>;

inline double evaluate(const LimitPrice& price, std::size_t sample) {
    return std::visit([sample](const auto& p) { return p(sample); }, price);
}

// How a feature of the table prices a limit.
LimitPrice limit_price(const FeaturePrices& feature, const std::int32_t* column, const Limit& limit);

}  // namespace hardwood
