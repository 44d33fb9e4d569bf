#include "leaf_sizes.h"

#include <algorithm>
#include <numeric>

namespace hardwood::search {

namespace {

// Samples of a box by the bins of each column.
std::vector<std::vector<double>> tally(const Instance& instance, const BoxKey& key) {
    std::vector<std::vector<double>> sizes;
    for (int c = 0; c < instance.n_columns(); ++c) sizes.emplace_back(static_cast<std::size_t>(instance.column(c).n_bins), 0.0);
    for (std::size_t i = 0; i < instance.n_rows(); ++i) {
        const Bin* const point = instance.point(i);
        if (!contains(instance, key, point)) continue;
        for (std::size_t c = 0; c < sizes.size(); ++c) sizes[c][point[c]] += instance.size(i);
    }
    return sizes;
}

// Samples for which a test is true; of an ordered column, `sizes` are those up to each bin, no answer apart.
double size_where_true(const Column& column, int test, const std::vector<double>& sizes) {
    const auto k = static_cast<std::size_t>(test - column.first_test);
    if (!column.missing) return sizes[k];
    const double answers = test == column.missing_test() ? 0.0 : sizes[static_cast<std::size_t>(column.threshold(test))];
    return answers + (column.takes_missing(test) ? sizes.back() : 0.0);
}

}  // namespace

std::vector<int> fitting_tests(const Instance& instance, const Box& box) {
    if (!instance.has_least_leaf()) return box.tests;
    std::vector<std::vector<double>> sizes = tally(instance, box.key);
    double all = 0.0;
    for (std::size_t c = 0; c < sizes.size(); ++c) {
        const Column& column = instance.column(static_cast<int>(c));
        all = std::accumulate(sizes[c].begin(), sizes[c].end(), 0.0);
        if (column.ordered) std::partial_sum(sizes[c].begin(), sizes[c].end() - (column.missing ? 1 : 0), sizes[c].begin());
    }
    std::vector<int> tests;
    std::ranges::copy_if(box.tests, std::back_inserter(tests), [&](int test) {
        const int c = instance.column_of(test);
        const double here = size_where_true(instance.column(c), test, sizes[static_cast<std::size_t>(c)]);
        return std::min(here, all - here) >= instance.least_leaf();
    });
    return tests;
}

void keep_fitting_tests(const Instance& instance, Box& box) {
    if (!instance.has_least_leaf()) return;
    const std::vector<int> fitting = fitting_tests(instance, box);
    std::erase_if(box.tests, [&](int test) {
        return !instance.column(instance.column_of(test)).missing && !std::ranges::binary_search(fitting, test);
    });
}

bool leaves_fit(const Instance& instance, const Skeleton& tree) {
    if (!instance.has_least_leaf()) return true;
    std::vector<double> sizes(tree.size(), 0.0);
    for (std::size_t i = 0; i < instance.n_rows(); ++i) {
        std::size_t at = 1;
        while (tree[at].test >= 0) at = 2 * at + (instance.is_true(tree[at].test, instance.point(i)) ? 0 : 1);
        sizes[at] += instance.size(i);
    }
    const auto fit = [&](const auto& self, std::size_t at) -> bool {
        if (tree[at].test < 0) return sizes[at] >= instance.least_leaf();
        return self(self, 2 * at) && self(self, 2 * at + 1);
    };
    return fit(fit, 1);
}

}  // namespace hardwood::search
