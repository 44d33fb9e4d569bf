#include "dp/point_set.h"

#include <algorithm>

namespace hardwood::search {

namespace {

/// The bin with the largest weight; not the bin of missing values.
int most_common_bin(const Instance& instance, int c) {
    const Column& column = instance.column(c);
    std::vector<double> weights(idx(column.n_bins), 0.0);
    for (std::size_t i = 0; i < instance.n_rows(); ++i)
        weights[instance.point(i)[c]] += instance.weight(i);
    if (column.missing) weights.pop_back();
    return to_int(std::ranges::max_element(weights) - weights.begin());
}

}  // namespace

PointSet::PointSet(const Instance& instance)
    : instance_(instance), ids_(idx(instance.n_columns())) {
    for (int c = 0; c < instance.n_columns(); ++c) common_.push_back(most_common_bin(instance, c));
    columns_.resize(common_.size());
}

std::uint32_t PointSet::add(const Bin* point) {
    const auto [id, is_new] = ids_.add(point);
    if (!is_new) return id;
    for (int c = 0; c < instance_.n_columns(); ++c) {
        columns_[idx(c)].push_back(point[c]);
        if (point[c] != common_[idx(c)]) {
            uncommon_.push_back(
                static_cast<std::uint16_t>(instance_.column(c).first_bin + point[c]));
        }
    }
    begin_.push_back(uncommon_.size());
    return id;
}

std::vector<std::uint16_t> PointSet::labels(const HeapTree& tree, std::size_t from) const {
    std::vector<std::uint16_t> labels(size() - from, 0);
    assign_labels(tree, 1, from, Mask(labels.size(), 0xffff), labels);
    return labels;
}

/// All points at once, node after node: the loops use wide instructions.
void PointSet::assign_labels(const HeapTree& tree, std::size_t at, std::size_t from,
                             const Mask& reached, std::vector<std::uint16_t>& labels) const {
    const std::size_t n = labels.size();
    if (tree[at].is_leaf()) {
        const auto label = static_cast<std::uint16_t>(tree[at].label);
        for (std::size_t z = 0; z < n; ++z)
            labels[z] = static_cast<std::uint16_t>(labels[z] | (reached[z] & label));
        return;
    }
    const int c = instance_.column_of(tree[at].split);
    const Column& column = instance_.column(c);
    const Bin* const bin = columns_[idx(c)].data() + from;
    const auto threshold = static_cast<Bin>(tree[at].split - column.first_split);
    Mask part(n);
    if (column.missing) {
        for (std::size_t z = 0; z < n; ++z)
            part[z] = column.is_true(tree[at].split, bin[z]) ? reached[z] : 0;
    } else if (column.ordered) {
        for (std::size_t z = 0; z < n; ++z) part[z] = bin[z] <= threshold ? reached[z] : 0;
    } else {
        for (std::size_t z = 0; z < n; ++z) part[z] = bin[z] == threshold ? reached[z] : 0;
    }
    assign_labels(tree, 2 * at, from, part, labels);
    for (std::size_t z = 0; z < n; ++z) part[z] = static_cast<std::uint16_t>(reached[z] & ~part[z]);
    assign_labels(tree, 2 * at + 1, from, part, labels);
}

int label_of(const Instance& instance, const HeapTree& tree, const Bin* point) {
    std::size_t at = 1;
    while (!tree[at].is_leaf()) at = 2 * at + (instance.is_true(tree[at].split, point) ? 0 : 1);
    return tree[at].label;
}

}  // namespace hardwood::search
