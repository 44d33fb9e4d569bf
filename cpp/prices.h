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
// The code of "no answer" in an ordered feature: off the scale, so that no range of codes includes it.
constexpr std::int32_t no_answer = std::numeric_limits<std::int32_t>::max();

// The codes of a table, stored column after column.
struct Table {
    const std::int32_t* values;
    std::size_t n_samples;
    std::size_t n_features;

    const std::int32_t* column(std::size_t feature) const { return values + feature * n_samples; }
};

// A region's demand on one feature: a code from `low` to `high`, no answer if that is allowed, or one of the allowed categories.
struct Limit {
    std::size_t feature;
    std::int32_t low;
    std::int32_t high;
    std::vector<std::uint8_t> allowed;  // by category; empty for ordered features
    bool missing = false;

    bool allows(std::int32_t code) const {
        if (!allowed.empty()) return allowed[static_cast<std::size_t>(code)] != 0;
        return code == no_answer ? missing : low <= code && code <= high;
    }
};

// What it costs to turn each of some codes into each other, row after row, +inf where that cannot be. The codes ascend.
struct PriceTable {
    const std::int32_t* codes = nullptr;
    const double* prices = nullptr;
    std::size_t size = 0;

    std::size_t place(std::int32_t code) const;  // of a code that is there
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
    // An ordered feature where answers may be missing: the price of turning any answer into none, and none into any; one, or one for
    // each sample.
    const double* missing = nullptr;
    std::size_t missing_rows = 0;
    PriceTable table = {};  // if there is one, it says all

    double missing_price(std::size_t sample) const { return missing[missing_rows > 1 ? sample : 0]; }
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

// Ordered features where answers may be missing.
struct AnswerOrNone {
    std::variant<Unreachable, NearestCode, OwnNearestCode> answer;
    const std::int32_t* column;
    const FeaturePrices* feature;
    bool missing;  // whether the limit allows it

    double operator()(std::size_t sample) const;
};

// Features with a table of prices: the cheapest by place of the code.
struct TablePrice {
    const std::int32_t* column;
    PriceTable table;
    std::vector<double> cheapest;

    double operator()(std::size_t sample) const { return cheapest[table.place(column[sample])]; }
};

using LimitPrice = std::variant<Unreachable, NearestCode, OwnNearestCode, LeaveCategory, OwnCategory, AnswerOrNone, TablePrice>;

inline double evaluate(const LimitPrice& price, std::size_t sample) {
    return std::visit([sample](const auto& p) { return p(sample); }, price);
}

// How a feature of the table prices a limit. The feature must outlive the answer.
LimitPrice limit_price(const FeaturePrices& feature, const std::int32_t* column, const Limit& limit);

}  // namespace hardwood
