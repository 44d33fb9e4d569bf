#include "search/coarse_splits.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace hardwood::search {

namespace {

using ClassWeights = std::vector<double>;

double sum(const ClassWeights& weights) {
    return std::accumulate(weights.begin(), weights.end(), 0.0);
}

/// Weight by bin of a column and class.
std::vector<ClassWeights> weights_by_bin(const Instance& instance, int c) {
    std::vector<ClassWeights> weights(idx(instance.column(c).n_bins),
                                      ClassWeights(idx(instance.n_classes()), 0.0));
    for (std::size_t i = 0; i < instance.n_rows(); ++i) {
        weights[instance.point(i)[c]][idx(instance.label(i))] += instance.weight(i);
    }
    return weights;
}

/// The splits of a column in order of preference, the best of them first.
struct Preference {
    std::vector<int> splits = {};
    double correct = 0.0;  // weight that the best split alone classifies correctly
};

void sum_where_true(const Column& column, int split, const std::vector<ClassWeights>& by_bin,
                    ClassWeights& left) {
    std::ranges::fill(left, 0.0);
    for (std::size_t b = 0; b < by_bin.size(); ++b) {
        if (!column.is_true(split, static_cast<Bin>(b))) continue;
        for (std::size_t l = 0; l < left.size(); ++l) left[l] += by_bin[b][l];
    }
}

/// Thresholds that divide the observed values into parts of about equal weight, each with and
/// without "or missing": sums over splits need both, and "is missing" (`SplitLayout`). The best
/// split is in the list already.
void add_pairs(const Column& column, const std::vector<ClassWeights>& by_bin,
               std::size_t max_splits, std::vector<int>& splits) {
    const int n_thresholds = column.n_splits / 2;
    std::vector<double> cumulative;  // weight up to each threshold
    for (int k = 0; k < n_thresholds; ++k) {
        cumulative.push_back((k > 0 ? cumulative.back() : 0.0) + sum(by_bin[idx(k)]));
    }
    const double total =
        (cumulative.empty() ? 0.0 : cumulative.back()) + sum(by_bin[idx(n_thresholds)]);
    std::vector<int> thresholds;
    if (splits[0] != column.missing_split()) thresholds.push_back(column.threshold(splits[0]));
    for (std::size_t q = 1; q < max_splits / 2 && n_thresholds > 0; ++q) {
        const double share = total * static_cast<double>(q) /
                             static_cast<double>(std::max<std::size_t>(1, max_splits / 2));
        const int at = to_int(std::ranges::lower_bound(cumulative, share) - cumulative.begin());
        thresholds.push_back(std::min(at, n_thresholds - 1));
    }
    for (const int k : thresholds) {
        splits.push_back(column.split_at(k, true));
        splits.push_back(column.split_at(k, false));
    }
    splits.push_back(column.missing_split());
}

/// Finds the best split of a column, and the weight for which each split is true.
Preference best_split(const Instance& instance, const Column& column,
                      const std::vector<ClassWeights>& by_bin, std::vector<double>& size) {
    const std::size_t n_classes = idx(instance.n_classes());
    ClassWeights all(n_classes, 0.0), left(n_classes, 0.0);
    for (const ClassWeights& bin : by_bin) {
        for (std::size_t l = 0; l < n_classes; ++l) all[l] += bin[l];
    }
    Preference preference;
    int best = 0;
    for (int k = 0; k < column.n_splits; ++k) {
        if (column.missing) {
            sum_where_true(column, column.first_split + k, by_bin, left);
        } else {
            const ClassWeights& bin = by_bin[idx(k)];
            for (std::size_t l = 0; l < n_classes; ++l)
                left[l] = column.ordered ? left[l] + bin[l] : bin[l];
        }
        double inside = 0.0, outside = 0.0;
        for (std::size_t l = 0; l < n_classes; ++l) {
            inside = std::max(inside, left[l]);
            outside = std::max(outside, all[l] - left[l]);
        }
        size[idx(k)] = sum(left);
        if (inside + outside > preference.correct) {
            preference.correct = inside + outside;
            best = k;
        }
    }
    preference.splits.push_back(column.first_split + best);
    return preference;
}

Preference preferred_splits(const Instance& instance, int c, std::size_t max_splits) {
    const Column& column = instance.column(c);
    const std::vector<ClassWeights> by_bin = weights_by_bin(instance, c);
    std::vector<double> size(idx(column.n_splits));
    Preference preference = best_split(instance, column, by_bin, size);
    if (column.missing) {
        add_pairs(column, by_bin, max_splits, preference.splits);
    } else if (column.ordered) {
        for (std::size_t q = 1; q < max_splits; ++q) {
            const double share =
                instance.total() * static_cast<double>(q) / static_cast<double>(max_splits);
            const int at = to_int(std::ranges::lower_bound(size, share) - size.begin());
            preference.splits.push_back(column.first_split + std::min(at, column.n_splits - 1));
        }
    } else {
        std::vector<int> order(size.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, std::greater<>(), [&](int k) { return size[idx(k)]; });
        order.resize(std::min(order.size(), max_splits - 1));
        for (const int k : order) preference.splits.push_back(column.first_split + k);
    }
    return preference;
}

}  // namespace

std::vector<int> coarse_splits(const Instance& instance, std::size_t max_splits) {
    const std::size_t n_columns = idx(instance.n_columns());
    const std::size_t per_column = std::max<std::size_t>(1, max_splits / n_columns);
    std::vector<Preference> columns;
    for (int c = 0; c < instance.n_columns(); ++c)
        columns.push_back(preferred_splits(instance, c, per_column));
    std::ranges::stable_sort(columns, std::greater<>(), &Preference::correct);
    columns.resize(std::min(n_columns, max_splits));
    std::vector<int> splits;
    for (const Preference& own : columns)
        splits.insert(splits.end(), own.splits.begin(), own.splits.end());
    std::ranges::sort(splits);
    splits.erase(std::ranges::unique(splits).begin(), splits.end());
    return splits;
}

}  // namespace hardwood::search
