#include "points.h"

#include <algorithm>

namespace hardwood::search {

namespace {

// The bin that most samples have; an answer, where some have none.
int usual_bin(const Instance& instance, int c) {
    const Column& column = instance.column(c);
    std::vector<double> counts(static_cast<std::size_t>(column.n_bins), 0.0);
    for (std::size_t i = 0; i < instance.n_rows(); ++i) counts[instance.point(i)[c]] += instance.count(i);
    if (column.missing) counts.pop_back();
    return static_cast<int>(std::ranges::max_element(counts) - counts.begin());
}

}  // namespace

Points::Points(const Instance& instance) : instance_(instance), numbers_(static_cast<std::size_t>(instance.n_columns())) {
    for (int c = 0; c < instance.n_columns(); ++c) usual_.push_back(usual_bin(instance, c));
    columns_.resize(usual_.size());
}

std::uint32_t Points::add(const Bin* point) {
    const auto [number, is_new] = numbers_.add(point);
    if (!is_new) return number;
    for (int c = 0; c < instance_.n_columns(); ++c) {
        columns_[static_cast<std::size_t>(c)].push_back(point[c]);
        if (point[c] != usual_[static_cast<std::size_t>(c)]) {
            unusual_.push_back(static_cast<std::uint16_t>(instance_.column(c).first_bin + point[c]));
        }
    }
    begin_.push_back(unusual_.size());
    return number;
}

std::vector<std::uint16_t> Points::labels(const Skeleton& tree, std::size_t from) const {
    std::vector<std::uint16_t> labels(size() - from, 0);
    put_labels(tree, 1, from, Mask(labels.size(), 0xffff), labels);
    return labels;
}

// All points at once, test after test: that is done with wide instructions.
void Points::put_labels(const Skeleton& tree, std::size_t at, std::size_t from, const Mask& here, std::vector<std::uint16_t>& labels) const {
    const std::size_t n = labels.size();
    if (tree[at].test < 0) {
        const auto label = static_cast<std::uint16_t>(tree[at].label);
        for (std::size_t z = 0; z < n; ++z) labels[z] = static_cast<std::uint16_t>(labels[z] | (here[z] & label));
        return;
    }
    const int c = instance_.column_of(tree[at].test);
    const Column& column = instance_.column(c);
    const Bin* const bin = columns_[static_cast<std::size_t>(c)].data() + from;
    const auto asked = static_cast<Bin>(tree[at].test - column.first_test);
    Mask part(n);
    if (column.missing) {
        for (std::size_t z = 0; z < n; ++z) part[z] = column.is_true(tree[at].test, bin[z]) ? here[z] : 0;
    } else if (column.ordered) {
        for (std::size_t z = 0; z < n; ++z) part[z] = bin[z] <= asked ? here[z] : 0;
    } else {
        for (std::size_t z = 0; z < n; ++z) part[z] = bin[z] == asked ? here[z] : 0;
    }
    put_labels(tree, 2 * at, from, part, labels);
    for (std::size_t z = 0; z < n; ++z) part[z] = static_cast<std::uint16_t>(here[z] & ~part[z]);
    put_labels(tree, 2 * at + 1, from, part, labels);
}

int label_of(const Instance& instance, const Skeleton& tree, const Bin* point) {
    std::size_t at = 1;
    while (tree[at].test >= 0) at = 2 * at + (instance.is_true(tree[at].test, point) ? 0 : 1);
    return tree[at].label;
}

}  // namespace hardwood::search
