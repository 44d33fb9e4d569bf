// What it costs to move the samples of a table into a region, feature by feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
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

    // Adds the price of meeting the limit to the running total of each sample from `begin` on.
    void add(const Table& table, const Limit& limit, std::size_t begin, std::span<double> total) const;

private:
    void add_ordered(const std::int32_t* column, const Limit& limit, std::size_t begin, std::span<double> total) const;
    void add_categorical(const std::int32_t* column, const Limit& limit, std::size_t begin,
                         std::span<double> total) const;
};

}  // namespace hardwood
