#include "model/constraint.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace hardwood::search {

namespace {

/// Observations of a box by the bins of each column.
std::vector<std::vector<double>> sizes_by_bin(const Instance& instance, const BoxKey& key) {
    std::vector<std::vector<double>> sizes;
    for (int c = 0; c < instance.n_columns(); ++c)
        sizes.emplace_back(idx(instance.column(c).n_bins), 0.0);
    for (std::size_t i = 0; i < instance.n_rows(); ++i) {
        const Bin* const point = instance.point(i);
        if (!contains(instance, key, point)) continue;
        for (std::size_t c = 0; c < sizes.size(); ++c) sizes[c][point[c]] += instance.size(i);
    }
    return sizes;
}

/// Observations for which a split is true; of an ordered column, `sizes` are cumulative, missing
/// values apart.
double size_where_true(const Column& column, int split, const std::vector<double>& sizes) {
    const std::size_t k = idx(split - column.first_split);
    if (!column.missing) return sizes[k];
    const double observed =
        split == column.missing_split() ? 0.0 : sizes[idx(column.threshold(split))];
    return observed + (column.takes_missing(split) ? sizes.back() : 0.0);
}

}  // namespace

std::vector<int> MinLeafSize::admitted_splits(const Instance& instance, const Box& box) const {
    std::vector<std::vector<double>> sizes = sizes_by_bin(instance, box.key);
    double total = 0.0;
    for (std::size_t c = 0; c < sizes.size(); ++c) {
        const Column& column = instance.column(to_int(c));
        total = std::accumulate(sizes[c].begin(), sizes[c].end(), 0.0);
        if (column.ordered) {
            std::partial_sum(sizes[c].begin(), sizes[c].end() - (column.missing ? 1 : 0),
                             sizes[c].begin());
        }
    }
    std::vector<int> admitted;
    std::ranges::copy_if(box.splits, std::back_inserter(admitted), [&](int split) {
        const int c = instance.column_of(split);
        const double left = size_where_true(instance.column(c), split, sizes[idx(c)]);
        return std::min(left, total - left) >= min_size_;
    });
    return admitted;
}

bool MinLeafSize::admits(const Instance& instance, const HeapTree& tree) const {
    std::vector<double> sizes(tree.size(), 0.0);
    for (std::size_t i = 0; i < instance.n_rows(); ++i) {
        std::size_t at = 1;
        while (!tree[at].is_leaf())
            at = 2 * at + (instance.is_true(tree[at].split, instance.point(i)) ? 0 : 1);
        sizes[at] += instance.size(i);
    }
    const auto large_enough = [&](const auto& self, std::size_t at) -> bool {
        if (tree[at].is_leaf()) return sizes[at] >= min_size_;
        return self(self, 2 * at) && self(self, 2 * at + 1);
    };
    return large_enough(large_enough, 1);
}

std::vector<int> admitted_splits(const Instance& instance, const Box& box) {
    std::vector<int> admitted = box.splits;
    for (const auto& constraint : instance.constraints()) {
        admitted =
            constraint->admitted_splits(instance, {.key = box.key, .splits = std::move(admitted)});
    }
    return admitted;
}

void keep_admitted_splits(const Instance& instance, Box& box) {
    if (instance.constraints().empty()) return;
    const std::vector<int> admitted = admitted_splits(instance, box);
    std::erase_if(box.splits, [&](int split) {
        return !instance.column(instance.column_of(split)).missing &&
               !std::ranges::binary_search(admitted, split);
    });
}

bool admits(const Instance& instance, const HeapTree& tree) {
    return std::ranges::all_of(instance.constraints(), [&](const auto& constraint) {
        return constraint->admits(instance, tree);
    });
}

double min_leaf_size(const Instance& instance) {
    double size = 0.0;
    for (const auto& constraint : instance.constraints())
        size = std::max(size, constraint->min_leaf_size());
    return size;
}

bool leaf_is_trivial_split(const Instance& instance) {
    return std::ranges::all_of(instance.constraints(), [](const auto& constraint) {
        return constraint->leaf_is_trivial_split();
    });
}

bool preserves_monotone_errors(const Instance& instance) {
    return std::ranges::all_of(instance.constraints(), [](const auto& constraint) {
        return constraint->preserves_monotone_errors();
    });
}

}  // namespace hardwood::search
