#include "greedy.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace hardwood::search {

namespace {

using Counts = std::vector<double>;  // by class, and the samples that a leaf must hold last

// n - sum of squares / n: the impurity of a set times its size.
double impurity(const Counts& counts) {
    double all = 0.0, squares = 0.0;
    for (std::size_t l = 0; l + 1 < counts.size(); ++l) {
        all += counts[l];
        squares += counts[l] * counts[l];
    }
    return all > 0.0 ? all - squares / all : 0.0;
}

class Growth {
public:
    Growth(const Instance& instance, int depth) : instance_(instance), tree_(empty_tree(depth)) {}

    Skeleton grown(int depth) {
        std::vector<std::uint32_t> rows(instance_.n_rows());
        std::iota(rows.begin(), rows.end(), 0U);
        grow(1, rows, depth);
        return std::move(tree_);
    }

private:
    std::size_t width() const { return static_cast<std::size_t>(instance_.n_classes()) + 1; }

    void add(std::size_t row, Counts& counts) const {
        counts[static_cast<std::size_t>(instance_.label(row))] += instance_.count(row);
        counts.back() += instance_.size(row);
    }

    void grow(std::size_t at, const std::vector<std::uint32_t>& rows, int levels) {
        Counts all(width(), 0.0);
        for (const std::uint32_t row : rows) add(row, all);
        tree_[at] = {-1, static_cast<int>(std::max_element(all.begin(), all.end() - 1) - all.begin())};
        const int test = levels > 0 ? best_test(rows, all) : -1;
        if (test < 0) return;
        std::vector<std::uint32_t> parts[2];
        for (const std::uint32_t row : rows) parts[instance_.is_true(test, instance_.point(row)) ? 0 : 1].push_back(row);
        tree_[at] = {test, 0};
        for (std::size_t side = 0; side < 2; ++side) grow(2 * at + side, parts[side], levels - 1);
    }

    int best_test(const std::vector<std::uint32_t>& rows, const Counts& all) const {
        int best = -1;
        double least = impurity(all) * (1.0 - 1e-9);
        for (int c = 0; c < instance_.n_columns(); ++c) {
            const Column& column = instance_.column(c);
            std::vector<Counts> bins(static_cast<std::size_t>(column.n_bins), Counts(width(), 0.0));
            for (const std::uint32_t row : rows) add(row, bins[instance_.point(row)[c]]);
            if (column.ordered) add_up(column, bins);
            for (int test = column.first_test; test < column.first_test + column.n_tests; ++test) {
                const double own = impurity_of(column, test, bins, all);
                if (own < least) {
                    least = own;
                    best = test;
                }
            }
        }
        return best;
    }

    // Counts up to each bin of an ordered column, those without an answer apart: a column may have thousands of thresholds.
    static void add_up(const Column& column, std::vector<Counts>& bins) {
        const std::size_t n_answers = bins.size() - (column.missing ? 1 : 0);
        for (std::size_t b = 1; b < n_answers; ++b) {
            for (std::size_t l = 0; l < bins[b].size(); ++l) bins[b][l] += bins[b - 1][l];
        }
    }

    // Where a test is true, given the bins of an unordered column, or what was added up of an ordered one.
    Counts where_true(const Column& column, int test, const std::vector<Counts>& bins) const {
        if (!column.missing) return bins[static_cast<std::size_t>(test - column.first_test)];
        const bool asks_for_none = test == column.missing_test();
        Counts here = asks_for_none ? Counts(width(), 0.0) : bins[static_cast<std::size_t>(column.threshold(test))];
        for (std::size_t l = 0; l < here.size() && column.takes_missing(test); ++l) here[l] += bins.back()[l];
        return here;
    }

    // Of both sides together; +inf if one of them does not hold enough samples.
    double impurity_of(const Column& column, int test, const std::vector<Counts>& bins, const Counts& all) const {
        const Counts here = where_true(column, test, bins);
        Counts there = all;
        for (std::size_t l = 0; l < here.size(); ++l) there[l] -= here[l];
        const double smaller = std::min(here.back(), there.back());
        return smaller > 0.0 && smaller >= instance_.least_leaf() ? impurity(here) + impurity(there) : infinity;
    }

    const Instance& instance_;
    Skeleton tree_;
};

}  // namespace

Skeleton greedy_tree(const Instance& instance, int depth) { return Growth(instance, depth).grown(depth); }

}  // namespace hardwood::search
