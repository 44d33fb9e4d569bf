#include "points.h"

#include <algorithm>

namespace hardwood::search {

namespace {

// The bin that most samples have.
int usual_bin(const Instance& instance, int c) {
    const Column& column = instance.column(c);
    std::vector<double> counts(static_cast<std::size_t>(column.n_bins), 0.0);
    for (std::size_t i = 0; i < instance.n_rows(); ++i) counts[instance.point(i)[c]] += instance.count(i);
    return static_cast<int>(std::ranges::max_element(counts) - counts.begin());
}

}  // namespace

Points::Points(const Instance& instance) : instance_(instance), numbers_(static_cast<std::size_t>(instance.n_columns())) {
    for (int c = 0; c < instance.n_columns(); ++c) usual_.push_back(usual_bin(instance, c));
}

std::uint32_t Points::add(const Bin* point) {
    const auto [number, is_new] = numbers_.add(point);
    if (!is_new) return number;
    for (int c = 0; c < instance_.n_columns(); ++c) {
        if (point[c] != usual_[static_cast<std::size_t>(c)]) {
            unusual_.push_back(static_cast<std::uint16_t>(instance_.column(c).first_bin + point[c]));
        }
    }
    begin_.push_back(unusual_.size());
    return number;
}

int label_of(const Instance& instance, const Skeleton& tree, const Bin* point) {
    std::size_t at = 1;
    while (tree[at].test >= 0) at = 2 * at + (instance.is_true(tree[at].test, point) ? 0 : 1);
    return tree[at].label;
}

}  // namespace hardwood::search
