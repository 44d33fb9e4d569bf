#include "coarse.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hardwood::search {

namespace {

// How many samples of each class have each bin of a column.
std::vector<std::vector<double>> tally(const Instance& instance, int c) {
    std::vector<std::vector<double>> counts(static_cast<std::size_t>(instance.column(c).n_bins),
                                            std::vector<double>(static_cast<std::size_t>(instance.n_classes()), 0.0));
    for (std::size_t i = 0; i < instance.n_rows(); ++i) {
        counts[instance.point(i)[c]][static_cast<std::size_t>(instance.label(i))] += instance.count(i);
    }
    return counts;
}

// The tests of a column in the order in which they are wanted, the best of them first.
struct Wanted {
    std::vector<int> tests;
    double correct = 0.0;  // samples that the best test alone gets right
};

void sum_where_true(const Column& column, int test, const std::vector<std::vector<double>>& counts, std::vector<double>& sum) {
    std::ranges::fill(sum, 0.0);
    for (std::size_t b = 0; b < counts.size(); ++b) {
        for (std::size_t l = 0; l < sum.size() && column.is_true(test, static_cast<Bin>(b)); ++l) sum[l] += counts[b][l];
    }
}

// Thresholds that split the answers into parts of about equal size, each with and without "or no answer": sums over tests need both,
// and the test for no answer (`Answers`). The best test is there already.
void add_pairs(const Column& column, const std::vector<std::vector<double>>& counts, std::size_t most, std::vector<int>& tests) {
    const int n_thresholds = column.n_tests / 2;
    std::vector<double> size;  // samples up to each threshold
    for (int k = 0; k < n_thresholds; ++k) {
        const auto& bin = counts[static_cast<std::size_t>(k)];
        size.push_back((k > 0 ? size.back() : 0.0) + std::accumulate(bin.begin(), bin.end(), 0.0));
    }
    const auto& last = counts[static_cast<std::size_t>(n_thresholds)];
    const double all = (size.empty() ? 0.0 : size.back()) + std::accumulate(last.begin(), last.end(), 0.0);
    std::vector<int> thresholds;
    if (tests[0] != column.missing_test()) thresholds.push_back(column.threshold(tests[0]));
    for (std::size_t q = 1; q < most / 2 && n_thresholds > 0; ++q) {
        const double share = all * static_cast<double>(q) / static_cast<double>(std::max<std::size_t>(1, most / 2));
        const auto at = static_cast<int>(std::ranges::lower_bound(size, share) - size.begin());
        thresholds.push_back(std::min(at, n_thresholds - 1));
    }
    for (const int k : thresholds) {
        tests.push_back(column.test_of(k, true));
        tests.push_back(column.test_of(k, false));
    }
    tests.push_back(column.missing_test());
}

Wanted wanted_tests(const Instance& instance, int c, std::size_t most) {
    const Column& column = instance.column(c);
    const std::vector<std::vector<double>> counts = tally(instance, c);
    const auto n_classes = static_cast<std::size_t>(instance.n_classes());
    std::vector<double> all(n_classes, 0.0), yes(n_classes, 0.0);
    for (const auto& bin : counts) {
        for (std::size_t l = 0; l < n_classes; ++l) all[l] += bin[l];
    }
    Wanted wanted;
    std::vector<double> size(static_cast<std::size_t>(column.n_tests));  // samples for which a test is true
    int best = 0;
    for (int k = 0; k < column.n_tests; ++k) {
        if (column.missing) {
            sum_where_true(column, column.first_test + k, counts, yes);
        } else {
            const auto& bin = counts[static_cast<std::size_t>(k)];
            for (std::size_t l = 0; l < n_classes; ++l) yes[l] = column.ordered ? yes[l] + bin[l] : bin[l];
        }
        double here = 0.0, there = 0.0;
        for (std::size_t l = 0; l < n_classes; ++l) {
            here = std::max(here, yes[l]);
            there = std::max(there, all[l] - yes[l]);
        }
        size[static_cast<std::size_t>(k)] = std::accumulate(yes.begin(), yes.end(), 0.0);
        if (here + there > wanted.correct) {
            wanted.correct = here + there;
            best = k;
        }
    }
    wanted.tests.push_back(column.first_test + best);
    if (column.missing) {
        add_pairs(column, counts, most, wanted.tests);
    } else if (column.ordered) {
        for (std::size_t q = 1; q < most; ++q) {
            const double share = instance.n_samples() * static_cast<double>(q) / static_cast<double>(most);
            const auto at = std::min(std::ranges::lower_bound(size, share) - size.begin(), static_cast<std::ptrdiff_t>(column.n_tests) - 1);
            wanted.tests.push_back(column.first_test + static_cast<int>(at));
        }
    } else {
        std::vector<int> order(size.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, std::greater<>(), [&](int k) { return size[static_cast<std::size_t>(k)]; });
        order.resize(std::min(order.size(), most - 1));
        for (const int k : order) wanted.tests.push_back(column.first_test + k);
    }
    return wanted;
}

}  // namespace

std::vector<int> coarse_tests(const Instance& instance, std::size_t most) {
    const auto n_columns = static_cast<std::size_t>(instance.n_columns());
    std::vector<Wanted> columns;
    for (int c = 0; c < instance.n_columns(); ++c) columns.push_back(wanted_tests(instance, c, std::max<std::size_t>(1, most / n_columns)));
    std::ranges::stable_sort(columns, std::greater<>(), &Wanted::correct);
    columns.resize(std::min(n_columns, most));
    std::vector<int> tests;
    for (const Wanted& column : columns) tests.insert(tests.end(), column.tests.begin(), column.tests.end());
    std::ranges::sort(tests);
    tests.erase(std::ranges::unique(tests).begin(), tests.end());
    return tests;
}

}  // namespace hardwood::search
