// The problem as the search sees it (docs/theory.md#points): columns that are tested, their values in bins, and what it costs
// each sample to be in each bin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../../prices.h"

namespace hardwood::search {

using Bin = std::uint16_t;

// A test asks for a code of a feature: "at most this" where the feature is ordered, "just this" where it is not. Where answers may be
// missing, "at most this, or no answer", too; and below all codes, that is "no answer" alone.
struct Test {
    std::size_t feature;
    std::int32_t code;
    bool missing = false;
};

// A feature that is tested. Two of its values are in one bin if no test tells them apart.
// Ordered: the k-th test of the column is true for bins 0 to k. Otherwise it is true for bin k, and the last bin holds the
// values that no test asks for, if there are any.
// Where answers may be missing, the last bin is for no answer, and the tests are, for each threshold k, "bins 0 to k, or no answer" and
// "bins 0 to k"; then "no answer".
struct Column {
    std::size_t feature;
    bool ordered;
    bool missing;
    bool nearest_is_cheapest;  // among bins that stand side by side
    int n_bins;
    int first_test;  // the tests of a column stand side by side
    int n_tests;
    int first_bin;   // among the bins of all columns
    // Samples that pay alike are of one kind: what a kind pays for each bin, kind after kind; +inf beyond the limit.
    std::vector<double> cost;
    std::vector<Bin> home;  // by kind

    int n_kinds() const { return static_cast<int>(home.size()); }
    const double* cost_of(std::uint32_t kind) const { return cost.data() + kind * static_cast<std::size_t>(n_bins); }
    bool is_true(int test, Bin bin) const {
        const int k = test - first_test;
        if (!missing) return ordered ? bin <= k : bin == k;
        return bin == n_bins - 1 ? takes_missing(test) : k < n_tests - 1 && bin <= k / 2;
    }
    // Columns with missing answers: which threshold a test asks for (the one that asks for none, one beyond the last), and whether the test
    // is true without an answer.
    int threshold(int test) const { return (test - first_test) / 2; }
    bool takes_missing(int test) const { return (test - first_test) % 2 == 0; }
    // The test for a threshold, and the one for no answer.
    int test_of(int threshold, bool with_missing) const { return first_test + 2 * threshold + (with_missing ? 0 : 1); }
    int missing_test() const { return first_test + n_tests - 1; }
};

// What a problem consists of, as Python hands it over.
struct Task {
    Table table;
    std::vector<FeaturePrices> prices;
    std::span<const std::int32_t> labels;
    std::size_t n_classes;
    std::vector<Test> tests;  // by feature and code; of one code first the one with "or no answer", and "no answer" alone last
    double budget;
    // Rows that stand for several people, and people who count for more than one; empty: one each. What they are worth is given in the
    // smallest differences that count if the last row may be lost in part (docs/theory.md#weights).
    std::span<const double> weights = {};
    std::vector<double> worth = {};  // by class
    bool in_part = false;
    // Every leaf must hold so many samples as they stand; how many each row counts for, empty: one.
    double least_leaf = 0.0;
    std::span<const double> leaf_sizes = {};
};

class Instance {
public:
    explicit Instance(const Task& task);

    int n_tests() const { return static_cast<int>(column_of_test_.size()); }
    int n_columns() const { return static_cast<int>(columns_.size()); }
    int n_classes() const { return n_classes_; }
    int n_bins() const { return n_bins_; }
    const Column& column(int c) const { return columns_[static_cast<std::size_t>(c)]; }
    int column_of(int test) const { return column_of_test_[static_cast<std::size_t>(test)]; }
    bool is_true(int test, const Bin* point) const {
        const int c = column_of(test);
        return column(c).is_true(test, point[c]);
    }

    // Samples that no test and no price tells apart are one row. Rows that differ in nothing but their label stand side by side.
    std::size_t n_rows() const { return label_.size(); }
    // What all rows are worth together, and one of them; the number of samples if all are worth one.
    double n_samples() const { return n_samples_; }
    int label(std::size_t row) const { return label_[row]; }
    double count(std::size_t row) const { return count_[row]; }
    // What one of the people of a class is worth; the most that anybody is, and the least.
    double worth(int label) const { return worth_[static_cast<std::size_t>(label)]; }
    double most_worth() const { return most_worth_; }
    double least_worth() const { return least_worth_; }
    // How many samples a row counts for in a leaf, and how many a leaf must hold at least, as they stand.
    double size(std::size_t row) const { return size_[row]; }
    double least_leaf() const { return least_leaf_; }
    bool has_least_leaf() const { return least_leaf_ > 0.0; }
    // Whether the last row may be lost in part; otherwise samples are lost one by one.
    bool in_part() const { return in_part_; }
    const Bin* point(std::size_t row) const { return point_.data() + row * columns_.size(); }
    std::uint32_t kind(std::size_t row, int c) const { return kind_[static_cast<std::size_t>(c) * n_rows() + row]; }
    double cost(std::size_t row, int c, Bin bin) const { return column(c).cost_of(kind(row, c))[bin]; }

    // Every price is a whole multiple of `grain`, and so is the budget, rounded down to one: no total changes its affordability.
    // (Not if the last row may be lost in part: then all of it counts.)
    double budget() const { return budget_; }
    double grain() const { return grain_; }
    // Prices above this count as infinite: the budget, or a price at which no part is lost that counts.
    double limit() const { return limit_; }
    // Whether anybody can be anywhere else, for nothing or at a price.
    bool anybody_moves() const;
    // The same at a price of the budget: with more than nothing left of presence.
    bool anybody_moves_at(double price) const { return moves_for_nothing_ || price * smallest_price_ < most_worth_; }
    // The smallest positive price of a move; +inf if nobody can pay for one.
    double smallest_price() const { return smallest_price_; }
    // What it costs at most to get to any point in so many columns, for anybody; +inf if somebody cannot.
    double longest_margin(int columns) const;
    // What a tree with at most so many levels may have as margins, ascending: sums of a price from each of so many columns. If
    // they are more than `most`, only those up to `complete`, which is then below the limit.
    std::vector<double> possible_margins(int columns, std::size_t most, double& complete) const;

private:
    void make_columns(const Task& task);
    std::vector<std::uint32_t> price_column(const Task& task, Column& column) const;
    void merge(const Task& task, const std::vector<std::vector<std::uint32_t>>& kinds);
    void set_limit();
    void find_grain();

    int n_classes_;
    int n_bins_ = 0;
    double n_samples_;
    double budget_;
    double limit_ = 0.0;
    bool in_part_;
    std::vector<double> worth_;
    double most_worth_, least_worth_;
    double grain_ = 0.0;
    double smallest_price_ = infinity;
    double least_leaf_;
    bool moves_for_nothing_ = false;
    std::vector<Column> columns_;
    std::vector<int> column_of_test_;
    std::vector<int> label_;
    std::vector<double> count_, size_;
    std::vector<Bin> point_;           // row after row
    std::vector<std::uint32_t> kind_;  // column after column
};

}  // namespace hardwood::search
