#include "dp/point_set.h"

#include <algorithm>
#include <bit>

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

std::vector<std::uint16_t> PointSet::labels(const HeapTree& tree, std::size_t begin,
                                            std::size_t end) const {
    constexpr std::size_t block = 4096;  // a mask is 8 KB: those of a path stay in the cache
    std::vector<std::uint16_t> labels(end - begin, 0);
    std::vector<Mask> masks(idx(std::bit_width(tree.size())), Mask(std::min(block, labels.size())));
    std::ranges::fill(masks[0], std::uint16_t{0xffff});
    for (std::size_t first = 0; first < labels.size(); first += block) {
        const std::size_t n = std::min(block, labels.size() - first);
        assign_labels(tree, 1, begin + first, masks, {labels.data() + first, n});
    }
    return labels;
}

/// Many points at once, node after node: the loops use wide instructions. `masks[0]` tells which
/// points reach the node, the others are buffers for the levels below.
void PointSet::assign_labels(const HeapTree& tree, std::size_t at, std::size_t from,
                             std::span<Mask> masks, std::span<std::uint16_t> labels) const {
    const std::size_t n = labels.size();
    const std::uint16_t* const reached = masks[0].data();
    if (tree[at].is_leaf()) {
        const auto label = static_cast<std::uint16_t>(tree[at].label);
        if (label == 0) return;
        for (std::size_t z = 0; z < n; ++z)
            labels[z] = static_cast<std::uint16_t>(labels[z] | (reached[z] & label));
        return;
    }
    const int c = instance_.column_of(tree[at].split);
    const Column& column = instance_.column(c);
    const Bin* const bin = columns_[idx(c)].data() + from;
    const auto threshold = static_cast<Bin>(tree[at].split - column.first_split);
    std::uint16_t* const part = masks[1].data();
    if (column.missing) {
        for (std::size_t z = 0; z < n; ++z)
            part[z] = column.is_true(tree[at].split, bin[z]) ? reached[z] : 0;
    } else if (column.ordered) {
        for (std::size_t z = 0; z < n; ++z) part[z] = bin[z] <= threshold ? reached[z] : 0;
    } else {
        for (std::size_t z = 0; z < n; ++z) part[z] = bin[z] == threshold ? reached[z] : 0;
    }
    assign_labels(tree, 2 * at, from, masks.subspan(1), labels);
    for (std::size_t z = 0; z < n; ++z) part[z] = static_cast<std::uint16_t>(reached[z] & ~part[z]);
    assign_labels(tree, 2 * at + 1, from, masks.subspan(1), labels);
}

int label_of(const Instance& instance, const HeapTree& tree, const Bin* point) {
    std::size_t at = 1;
    while (!tree[at].is_leaf()) at = 2 * at + (instance.is_true(tree[at].split, point) ? 0 : 1);
    return tree[at].label;
}

}  // namespace hardwood::search
