#include "search/greedy_tree.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "model/constraint.h"

namespace hardwood::search {

namespace {

using Counts = std::vector<double>;  // weight by class; the last entry counts observations

/// n - sum of squares / n: the Gini impurity of a set times its weight.
double impurity(const Counts& counts) {
    double total = 0.0, squares = 0.0;
    for (std::size_t l = 0; l + 1 < counts.size(); ++l) {
        total += counts[l];
        squares += counts[l] * counts[l];
    }
    return total > 0.0 ? total - squares / total : 0.0;
}

class Growth {
public:
    Growth(const Instance& instance, int depth)
        : instance_(instance), min_leaf_size_(min_leaf_size(instance)), tree_(empty_tree(depth)) {}

    HeapTree grow(int depth) {
        std::vector<std::uint32_t> rows(instance_.n_rows());
        std::iota(rows.begin(), rows.end(), 0U);
        grow_node(1, rows, depth);
        return std::move(tree_);
    }

private:
    std::size_t width() const { return idx(instance_.n_classes()) + 1; }

    void add(std::size_t row, Counts& counts) const {
        counts[idx(instance_.label(row))] += instance_.weight(row);
        counts.back() += instance_.size(row);
    }

    void grow_node(std::size_t at, const std::vector<std::uint32_t>& rows, int levels) {
        Counts all(width(), 0.0);
        for (const std::uint32_t row : rows) add(row, all);
        tree_[at] =
            HeapNode::leaf(to_int(std::max_element(all.begin(), all.end() - 1) - all.begin()));
        const int split = levels > 0 ? best_split(rows, all) : -1;
        if (split < 0) return;
        std::vector<std::uint32_t> parts[2];
        for (const std::uint32_t row : rows) {
            parts[instance_.is_true(split, instance_.point(row)) ? 0 : 1].push_back(row);
        }
        tree_[at] = HeapNode::branch(split);
        for (std::size_t side = 0; side < 2; ++side)
            grow_node(2 * at + side, parts[side], levels - 1);
    }

    int best_split(const std::vector<std::uint32_t>& rows, const Counts& all) const {
        int best = -1;
        double least = impurity(all) * (1.0 - 1e-9);
        for (int c = 0; c < instance_.n_columns(); ++c) {
            const Column& column = instance_.column(c);
            std::vector<Counts> bins(idx(column.n_bins), Counts(width(), 0.0));
            for (const std::uint32_t row : rows) add(row, bins[instance_.point(row)[c]]);
            if (column.ordered) accumulate(column, bins);
            for (int split = column.first_split; split < column.first_split + column.n_splits;
                 ++split) {
                const double own = impurity_after(column, split, bins, all);
                if (own < least) {
                    least = own;
                    best = split;
                }
            }
        }
        return best;
    }

    /// Cumulative counts of an ordered column, missing values apart: a column may have thousands of
    /// thresholds.
    static void accumulate(const Column& column, std::vector<Counts>& bins) {
        const std::size_t n_observed = bins.size() - (column.missing ? 1 : 0);
        for (std::size_t b = 1; b < n_observed; ++b) {
            for (std::size_t l = 0; l < bins[b].size(); ++l) bins[b][l] += bins[b - 1][l];
        }
    }

    /// Counts where a split is true, from the bins of an unordered column or the cumulative ones of
    /// an ordered one.
    Counts where_true(const Column& column, int split, const std::vector<Counts>& bins) const {
        if (!column.missing) return bins[idx(split - column.first_split)];
        const bool only_missing = split == column.missing_split();
        Counts left = only_missing ? Counts(width(), 0.0) : bins[idx(column.threshold(split))];
        for (std::size_t l = 0; l < left.size() && column.takes_missing(split); ++l)
            left[l] += bins.back()[l];
        return left;
    }

    /// Of both sides together; +inf if one of them is too small.
    double impurity_after(const Column& column, int split, const std::vector<Counts>& bins,
                          const Counts& all) const {
        const Counts left = where_true(column, split, bins);
        Counts right = all;
        for (std::size_t l = 0; l < left.size(); ++l) right[l] -= left[l];
        const double smaller = std::min(left.back(), right.back());
        return smaller > 0.0 && smaller >= min_leaf_size_ ? impurity(left) + impurity(right)
                                                          : infinity;
    }

    const Instance& instance_;
    double min_leaf_size_;
    HeapTree tree_;
};

}  // namespace

HeapTree greedy_tree(const Instance& instance, int depth) {
    return Growth(instance, depth).grow(depth);
}

}  // namespace hardwood::search
