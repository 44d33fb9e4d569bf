// The problem as the search sees it: equal samples merged, prices beyond the budget infinite, all tests listed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../prices.h"

namespace hardwood::search {

struct Test {
    std::size_t feature;
    std::int32_t code;
};

class Instance {
public:
    Instance(const Table& samples, const std::vector<FeaturePrices>& prices, std::span<const std::int32_t> labels,
             std::size_t n_classes, std::vector<Test> tests, double budget);
    Instance(const Instance&) = delete;  // prices_ point into price_rows_
    Instance& operator=(const Instance&) = delete;

    std::size_t n_points() const { return label_.size(); }
    std::size_t n_features() const { return prices_.size(); }
    std::size_t n_classes() const { return n_classes_; }
    double n_samples() const { return n_samples_; }
    double budget() const { return budget_; }
    const std::vector<Test>& tests() const { return tests_; }
    std::size_t label(std::size_t point) const { return static_cast<std::size_t>(label_[point]); }
    const std::vector<double>& count() const { return count_; }
    std::int32_t value(std::size_t feature, std::size_t point) const { return values_[feature * n_points() + point]; }
    std::vector<std::int32_t> values_of(std::size_t feature) const;  // those that occur, in order
    const FeaturePrices& prices(std::size_t feature) const { return prices_[feature]; }
    // Whether all points with the same value of a feature pay the same for it, as with calibrated prices within bounds.
    bool priced_by_value(std::size_t feature) const;

    // The limit that allows everything.
    Limit open_limit(std::size_t feature) const;
    // The part of a limit on one side of a test: 0 left, 1 right.
    Limit restricted(const Limit& limit, const Test& test, int side) const;
    bool empty(const Limit& limit) const;
    LimitPrice price_of(const Limit& limit) const;

    // The smallest positive price of a move, +inf if every move is free or impossible. No positive margin is below it.
    double smallest_price() const { return smallest_price_; }

    // How much a computed bound on a sum over all samples may be off.
    // A sum of m terms has an error of at most m 2^-53 times the sum of their sizes, in any order; a bound adds
    // and subtracts fewer than 16 such sums of at most n_points terms, each at most n_samples in size. 2^-48 leaves room
    // for the few roundings in each term.
    double rounding() const { return (static_cast<double>(n_points()) + 64.0) * n_samples_ * 0x1p-48; }

private:
    void merge(const Table& samples, const std::vector<FeaturePrices>& prices, std::span<const std::int32_t> labels);
    void find_smallest_price();

    std::size_t n_classes_;
    double budget_;
    double n_samples_;
    double smallest_price_ = infinity;
    std::vector<Test> tests_;
    std::vector<std::int32_t> label_;
    std::vector<double> count_;
    std::vector<std::int32_t> values_;  // column after column
    std::vector<FeaturePrices> prices_;
    std::vector<std::vector<double>> price_rows_;
    std::vector<std::size_t> n_categories_;  // 0: ordered
};

}  // namespace hardwood::search
