/// The problem as the search sees it (docs/theory.md#points).
///
/// Values that no split distinguishes share a bin, and samples of one class that no split and no
/// cost distinguishes share a row. What remains of the costs is what each row pays to be in each
/// bin of each column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "costs/move_costs.h"
#include "util/index.h"

namespace hardwood::search {

class TreeConstraint;

using Bin = std::uint16_t;

/// Fractional case: a cost above this multiple of the budget (times the largest class weight) is
/// ignored.
constexpr double fractional_cost_factor = 16.0;

/// A candidate split: "value <= code" of an ordered feature, "value == code" of a categorical one.
///
/// Where values may be missing, `missing` adds "or missing" to the condition; below all codes, that
/// is the split "is missing".
struct Split {
    std::size_t feature;
    std::int32_t code;
    bool missing = false;
};

/// A feature that has candidate splits.
///
/// Ordered: the k-th split of the column is true for bins 0 to k. Categorical: it is true for bin
/// k, and the last bin holds the values without a split of their own, if there are any. Where
/// values may be missing, the last bin is for missing values, and the splits are, for each
/// threshold k, "bins 0 to k, or missing" and "bins 0 to k"; then "missing".
struct Column {
    std::size_t feature = 0;
    bool ordered = false;
    bool missing = false;
    bool nearest_is_cheapest = false;  // among adjacent bins
    int n_bins = 0;
    int first_split = 0;  // the splits of a column are adjacent
    int n_splits = 0;
    int first_bin = 0;  // among the bins of all columns
    /// Rows with the same own bin and the same cost of every bin form a cost class: what each class
    /// pays for each bin, class after class; +inf above `Instance::max_cost`.
    std::vector<double> cost = {};
    std::vector<Bin> own_bin = {};  // by cost class

    int n_cost_classes() const { return to_int(own_bin.size()); }
    const double* costs_of(std::uint32_t cost_class) const {
        return cost.data() + cost_class * idx(n_bins);
    }
    bool is_true(int split, Bin bin) const {
        const int k = split - first_split;
        if (!missing) return ordered ? bin <= k : bin == k;
        return bin == n_bins - 1 ? takes_missing(split) : k < n_splits - 1 && bin <= k / 2;
    }
    /// Columns with missing values: the threshold of a split (one beyond the last for "is
    /// missing"), and whether the split is true for a missing value.
    int threshold(int split) const { return (split - first_split) / 2; }
    bool takes_missing(int split) const { return (split - first_split) % 2 == 0; }
    int split_at(int threshold, bool with_missing) const {
        return first_split + 2 * threshold + (with_missing ? 0 : 1);
    }
    int missing_split() const { return first_split + n_splits - 1; }
};

/// What a problem consists of, as Python hands it over.
struct SearchTask {
    Table table;
    std::vector<FeatureCosts> costs;
    std::span<const std::int32_t> labels;
    std::size_t n_classes = 0;
    std::vector<Split> splits =
        {};  // by feature and code; with "or missing" first; "is missing" last
    double budget = 0.0;
    /// Sample weights and class weights; empty: one each. With `fractional`, class weights are
    /// given in multiples of the smallest difference that counts (docs/theory.md#weights).
    std::span<const double> weights = {};
    std::vector<double> class_weights = {};
    bool fractional = false;
    /// Conditions on trees, and how many observations each sample counts for there; empty: one
    /// each.
    std::vector<std::shared_ptr<const TreeConstraint>> constraints = {};
    std::span<const double> sample_sizes = {};
};

class Instance {
public:
    explicit Instance(const SearchTask& task);

    int n_splits() const { return to_int(column_of_split_.size()); }
    int n_columns() const { return to_int(columns_.size()); }
    int n_classes() const { return n_classes_; }
    int n_bins() const { return n_bins_; }
    const Column& column(int c) const { return columns_[idx(c)]; }
    int column_of(int split) const { return column_of_split_[idx(split)]; }
    bool is_true(int split, const Bin* point) const {
        const int c = column_of(split);
        return column(c).is_true(split, point[c]);
    }
    const std::vector<std::shared_ptr<const TreeConstraint>>& constraints() const {
        return constraints_;
    }

    /// Rows: merged samples. Rows that differ in nothing but their label are adjacent.
    std::size_t n_rows() const { return label_.size(); }
    /// Weight of all rows (sample weight times class weight), and of one.
    double total() const { return total_; }
    double weight(std::size_t row) const { return weight_[row]; }
    int label(std::size_t row) const { return label_[row]; }
    double class_weight(int label) const { return class_weight_[idx(label)]; }
    double max_class_weight() const { return max_class_weight_; }
    double min_class_weight() const { return min_class_weight_; }
    /// Observations that a row counts for in a constraint on leaves.
    double size(std::size_t row) const { return size_[row]; }
    /// Whether the adversary may flip the last row in part; otherwise it flips sample by sample.
    bool fractional() const { return fractional_; }
    const Bin* point(std::size_t row) const { return point_.data() + row * columns_.size(); }
    std::uint32_t cost_class(std::size_t row, int c) const {
        return cost_class_[idx(c) * n_rows() + row];
    }
    double cost(std::size_t row, int c, Bin bin) const {
        return column(c).costs_of(cost_class(row, c))[bin];
    }

    /// Every cost is a multiple of `cost_unit`. The budget is rounded down to one, which leaves the
    /// same sums of costs affordable. (Not in the fractional case, where all of the budget counts.)
    double budget() const { return budget_; }
    double cost_unit() const { return cost_unit_; }
    /// Costs above this count as infinite: the budget, or, in the fractional case, a cost at which
    /// no noticeable part of a row is flipped.
    double max_cost() const { return max_cost_; }
    /// Whether any row can move at all.
    bool any_move() const;
    /// Whether any row can move and keep a positive part of its mass at this multiplier.
    bool any_move_at(double multiplier) const {
        return has_free_moves_ || multiplier * min_cost_ < max_class_weight_;
    }
    /// The smallest positive cost of a move; +inf if no row can afford one.
    double min_cost() const { return min_cost_; }
    /// An upper bound on the cost of any point that differs in at most this many columns, over all
    /// rows; +inf if some row cannot reach such a point.
    double max_margin(int columns) const;
    /// The same over points that the row can afford, column by column.
    double max_finite_margin(int columns) const;
    /// Whether every row can afford every bin of the column.
    bool is_affordable(int c) const;
    /// Margins that a tree with at most this many levels may have, ascending: sums of one cost from
    /// each of that many columns. If they are more than `max_margins`, only those up to `complete`,
    /// which is then below `max_cost`.
    std::vector<double> possible_margins(int columns, std::size_t max_margins,
                                         double& complete) const;

private:
    void make_columns(const SearchTask& task);
    std::vector<std::uint32_t> compute_costs(const SearchTask& task, Column& column);
    void merge_samples(const SearchTask& task,
                       const std::vector<std::vector<std::uint32_t>>& cost_classes);
    void set_max_cost();
    void find_cost_unit();

    int n_classes_;
    int n_bins_ = 0;
    double total_ = 0.0;
    double budget_;
    double max_cost_ = 0.0;
    bool fractional_;
    std::vector<double> class_weight_;
    double max_class_weight_, min_class_weight_;
    double cost_unit_ = 0.0;
    double min_cost_ = infinity;
    bool has_free_moves_ = false;
    std::vector<std::shared_ptr<const TreeConstraint>> constraints_;
    std::vector<Column> columns_;
    std::vector<int> column_of_split_;
    std::vector<int> label_;
    std::vector<double> weight_, size_;
    std::vector<Bin> point_;                 // row after row
    std::vector<std::uint32_t> cost_class_;  // column after column
};

}  // namespace hardwood::search
