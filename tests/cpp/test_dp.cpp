#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "dp/tree_dp.h"
#include "random_task.h"

using namespace hardwood;
using namespace hardwood::search;
using namespace hardwood::search::testing;

namespace {

ThreadTeam alone(1);

struct Cloud {
    RandomTask made;
    Instance instance;
    PointSet points;
    std::vector<std::vector<double>> weights;  // by class and point

    Cloud(unsigned seed, int n_values, std::size_t n_features, std::size_t n_classes)
        : made(seed, 8, n_features, n_values, n_classes),
          instance(made.task),
          points(instance),
          weights(n_classes) {
        std::mt19937 random(seed + 1000);
        for (const auto& point : all_points(instance)) {
            if (random() % 4 == 0) continue;
            points.add(point.data());
            for (auto& own : weights)
                own.push_back(random() % 3 == 0 ? 0.0 : static_cast<double>(random() % 64) / 8.0);
        }
    }

    PointWeights for_dp() const {
        PointWeights result;
        result.n_channels = weights.size() == 2 ? 1 : static_cast<int>(weights.size());
        for (std::size_t z = 0; z < points.size(); ++z) {
            if (weights.size() == 2) {
                result.values.push_back(weights[1][z] - weights[0][z]);
                result.unavoidable_error += std::min(weights[0][z], weights[1][z]);
            } else {
                for (const auto& own : weights) result.values.push_back(own[z]);
            }
        }
        return result;
    }

    std::vector<std::uint32_t> all_ids() const {
        std::vector<std::uint32_t> all;
        for (std::uint32_t z = 0; z < points.size(); ++z) all.push_back(z);
        return all;
    }

    Subproblem all(int levels, TreeDp& dp) const {
        return dp.subproblem(whole_domain(instance), levels, all_ids());
    }

    double error(const HeapTree& tree) const {
        double sum = 0.0;
        for (std::size_t z = 0; z < points.size(); ++z) {
            const auto label = static_cast<std::size_t>(label_of(instance, tree, points[z]));
            for (std::size_t c = 0; c < weights.size(); ++c)
                sum += c == label ? 0.0 : weights[c][z];
        }
        return sum;
    }

    // The same recursion without kernels, memory, cut-offs or boxes: every split at every place.
    // Leaves hold enough of `sizes`, if given.
    double brute(const std::vector<std::uint32_t>& all_ids, int levels, int splits,
                 const std::vector<double>& sizes = {}, double min_leaf_size = 0.0) const {
        double held = 0.0;
        for (const std::uint32_t z : all_ids) held += sizes.empty() ? 0.0 : sizes[z];
        if (held < min_leaf_size) return infinity;
        std::vector<double> sums(weights.size(), 0.0);
        double all = 0.0;
        for (const std::uint32_t z : all_ids) {
            for (std::size_t c = 0; c < weights.size(); ++c) {
                sums[c] += weights[c][z];
                all += weights[c][z];
            }
        }
        double best = all - std::ranges::max(sums);
        if (levels == 0 || splits == 0) return best;
        for (int t = 0; t < instance.n_splits(); ++t) {
            std::vector<std::uint32_t> parts[2];
            for (const std::uint32_t z : all_ids)
                parts[instance.is_true(t, points[z]) ? 0 : 1].push_back(z);
            for (int left = 0; left < splits; ++left) {
                best = std::min(
                    best, brute(parts[0], levels - 1, left, sizes, min_leaf_size) +
                              brute(parts[1], levels - 1, splits - 1 - left, sizes, min_leaf_size));
            }
        }
        return best;
    }
};

// Sums by the definition: over points of a part for which all splits of a set are true, or false
// where they are flipped.
void check_sums(const Cloud& cloud, const PointWeights& weights, const SubsetSums& sums,
                const std::vector<int>& splits, const std::vector<std::uint32_t>& all_ids) {
    for (std::size_t c = 0; c < sums.n_channels(); ++c) {
        for (int size = 0; size <= sums.order(); ++size) {
            const double* next = sums.channel(c).of_size(size);
            std::vector<std::size_t> set;
            const std::function<void(int, std::size_t)> visit = [&](int left, std::size_t below) {
                if (left == 0) {
                    double sum = 0.0;
                    for (const std::uint32_t z : all_ids) {
                        const bool in = std::ranges::all_of(set, [&](std::size_t k) {
                            return cloud.instance.is_true(splits[k], cloud.points[z]) !=
                                   sums.is_flipped(k);
                        });
                        if (in) sum += weights.at(z)[c];
                    }
                    CHECK(*next++ == doctest::Approx(sum));
                    return;
                }
                for (std::size_t k = 0; k < below; ++k) {
                    set.push_back(k);
                    visit(left - 1, k);
                    set.pop_back();
                }
            };
            visit(size, splits.size());
        }
    }
}

// The same for boxes that are summed up by themselves, two splits down: usual layout may be ruled
// out there.
void check_parts_alone(const Cloud& cloud, const PointWeights& weights, const Box& whole) {
    SplitLayout layout(cloud.points);
    for (const int first : whole.splits) {
        const Box half = part_of(cloud.instance, whole, first, first % 2);
        for (const int second : half.splits) {
            const Box box = part_of(cloud.instance, half, second, second / 2 % 2);
            std::vector<std::uint32_t> all_ids;
            for (const std::uint32_t z : cloud.all_ids()) {
                if (contains(cloud.instance, box.key, cloud.points[z])) all_ids.push_back(z);
            }
            layout.map(box);
            SubsetSums sums;
            sums.assign(layout, all_ids, weights, 3, alone);
            check_sums(cloud, weights, sums, box.splits, all_ids);
        }
    }
}

const SearchParams usual;
const SearchParams short_sums = [] {
    SearchParams params;
    params.large_subsets = false;
    return params;
}();
const SearchParams by_columns = [] {  // sums over at most two splits
    SearchParams params;
    params.subset_sums = false;
    return params;
}();
const SearchParams no_sums = [] {  // the same, and three levels by recursion
    SearchParams params = by_columns;
    params.columnwise = false;
    return params;
}();

StopToken forever() {
    return StopToken(infinity, -1, [] { return true; });
}

}  // namespace

TEST_CASE("the dp finds the least error of all trees, and a tree that has it") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const std::size_t n_classes = 2 + seed % 2;
        Cloud cloud(seed, 3, 2, n_classes);
        if (cloud.instance.n_splits() == 0 || cloud.points.size() == 0) continue;
        StopToken stop = forever();
        for (int levels = 1; levels <= 3; ++levels) {
            TreeDp dp(cloud.points, stop, alone, usual);
            dp.load(cloud.for_dp());
            const Subproblem subproblem = cloud.all(levels, dp);
            const double unavoidable_error = dp.weights().unavoidable_error;
            const double found =
                dp.least_error(subproblem, SizeRange::any(), infinity)[0] + unavoidable_error;
            CHECK(found == doctest::Approx(cloud.brute(cloud.all_ids(), levels, 7)));
            HeapTree tree = empty_tree(levels);
            dp.extract_tree(subproblem, SizeRange::any(), 0, 1, tree);
            CHECK(cloud.error(tree) == doctest::Approx(found));
            for (int most = 0; most < (1 << levels) - 1; ++most) {
                TreeDp counting(cloud.points, stop, alone, usual);
                counting.load(cloud.for_dp());
                const SizeRange sizes{true, most, most};
                const Subproblem whole = cloud.all(levels, counting);
                const ErrorBySize stairs = counting.least_error(whole, sizes, infinity);
                CHECK(stairs.back() + unavoidable_error ==
                      doctest::Approx(cloud.brute(cloud.all_ids(), levels, most)));
                counting.extract_tree(whole, sizes, most, 1, tree);
                CHECK(cloud.error(tree) == doctest::Approx(stairs.back() + unavoidable_error));
                CHECK(count_splits(tree) <= most);
            }
        }
    }
}

TEST_CASE("leaves hold enough samples: the least error of all such trees, and one that has it") {
    for (unsigned seed = 0; seed < 240; ++seed) {
        const std::size_t n_classes = 2 + seed % 2;
        const Cloud cloud(seed, 3, 2, n_classes);
        std::mt19937 random(seed);
        std::vector<double> sizes;
        for (std::size_t z = 0; z < cloud.points.size(); ++z)
            sizes.push_back(static_cast<double>(random() % 3));
        const double all = std::accumulate(sizes.begin(), sizes.end(), 0.0),
                     min_leaf_size = 1.0 + seed % 4;
        if (all < min_leaf_size) continue;
        StopToken stop(infinity, -1, [] { return true; });
        SearchParams params;
        params.large_subsets = seed % 3 > 0;
        params.subset_sums = seed % 5 >= 2;  // without: columns, or the recursion
        params.columnwise = seed % 2 == 0;
        TreeDp dp(cloud.points, stop, alone, params);
        PointWeights weights = cloud.for_dp();
        weights.sizes = sizes;
        weights.min_leaf_size = min_leaf_size;
        const double unavoidable_error = weights.unavoidable_error;
        dp.load(weights);
        for (int levels = 1; levels <= 3; ++levels) {
            const Subproblem subproblem = cloud.all(levels, dp);
            const double least = dp.least_error(subproblem, SizeRange::any(), infinity).back();
            CHECK(least + unavoidable_error ==
                  doctest::Approx(cloud.brute(cloud.all_ids(), levels, 7, sizes, min_leaf_size)));
            HeapTree tree = empty_tree(levels);
            dp.extract_tree(subproblem, SizeRange::any(), 0, 1, tree);
            CHECK(cloud.error(tree) == doctest::Approx(least + unavoidable_error));
            std::vector<double> held(tree.size(), 0.0);
            for (std::size_t z = 0; z < cloud.points.size(); ++z) {
                std::size_t at = 1;
                while (tree[at].split >= 0)
                    at = 2 * at + (cloud.instance.is_true(tree[at].split, cloud.points[z]) ? 0 : 1);
                held[at] += sizes[z];
            }
            const std::function<void(std::size_t)> check = [&](std::size_t at) {
                if (tree[at].split < 0) {
                    CHECK(held[at] >= min_leaf_size);
                    return;
                }
                check(2 * at);
                check(2 * at + 1);
            };
            check(1);
            dp.load(weights);  // what is by_size is another question
            const ErrorBySize stairs =
                dp.least_error(cloud.all(levels, dp), {true, 0, 2}, infinity);
            CHECK(
                stairs.back() + unavoidable_error ==
                doctest::Approx(cloud.brute(cloud.all_ids(), levels, std::min(2, (1 << levels) - 1),
                                            sizes, min_leaf_size)));
            dp.load(weights);
        }
    }
}

TEST_CASE("column by column, three levels have the errors of the recursion, for every top split") {
    for (unsigned seed = 0; seed < 120; ++seed) {
        Cloud cloud(seed, 4, 3, 2 + seed % 3);
        if (cloud.instance.n_splits() == 0 || cloud.points.size() == 0) continue;
        StopToken stop = forever();
        TreeDp columns(cloud.points, stop, alone, by_columns),
            recursion(cloud.points, stop, alone, no_sums);
        columns.load(cloud.for_dp());
        recursion.load(cloud.for_dp());
        const Subproblem own = cloud.all(3, columns), other = cloud.all(3, recursion);
        REQUIRE(own.columnwise);
        REQUIRE(!other.is_shallow());
        for (const SizeRange& sizes :
             {SizeRange::any(), SizeRange{true, 0, 3 + static_cast<int>(seed % 5)}}) {
            for (const int split : own.box.splits) {
                const ErrorBySize found = columns.least_error_with(own, split, sizes, infinity),
                                  expected =
                                      recursion.least_error_with(other, split, sizes, infinity);
                REQUIRE(found.size() == expected.size());
                for (std::size_t n = 0; n < found.size(); ++n) {
                    if (expected[n] == infinity) continue;  // no such tree: the recursion says so
                    CHECK(found[n] == doctest::Approx(expected[n]));
                }
                const int most = sizes.by_size ? sizes.max : 0;
                HeapTree tree = empty_tree(3);
                columns.extract_tree_with(own, split, sizes, most, 1, tree);
                CHECK(cloud.error(tree) ==
                      doctest::Approx(found.back() + columns.weights().unavoidable_error));
            }
        }
    }
}

TEST_CASE("with a split on top, and with cut-offs, values stay valid") {
    std::mt19937 random(3);
    for (unsigned seed = 0; seed < 40; ++seed) {
        Cloud cloud(seed, 3, 3, 2 + seed % 2);
        if (cloud.instance.n_splits() == 0 || cloud.points.size() == 0) continue;
        StopToken stop = forever();
        for (int levels = 2; levels <= 4; ++levels) {
            TreeDp exact(cloud.points, stop, alone, usual), cut(cloud.points, stop, alone,
                                                                seed % 3 == 0   ? short_sums
                                                                : seed % 3 == 1 ? by_columns
                                                                                : no_sums);
            exact.load(cloud.for_dp());
            cut.load(cloud.for_dp());
            const Subproblem subproblem = cloud.all(levels, exact), other = cloud.all(levels, cut);
            for (const int split : subproblem.box.splits) {
                const double value =
                    exact.least_error_with(subproblem, split, SizeRange::any(), infinity)[0];
                const double cutoff = value * static_cast<double>(random() % 200) / 100.0;
                const double known =
                    cut.least_error_with(other, split, SizeRange::any(), cutoff)[0];
                CHECK(known <= value + 1e-9);
                if (known < cutoff - 1e-9) CHECK(known == doctest::Approx(value));
                HeapTree tree = empty_tree(levels);
                exact.extract_tree_with(subproblem, split, SizeRange::any(), 0, 1, tree);
                CHECK(cloud.error(tree) ==
                      doctest::Approx(value + exact.weights().unavoidable_error));
            }
        }
    }
}

TEST_CASE("what thresholds side by side err at least is no more than each of them does") {
    std::mt19937 random(9);
    int seen = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        Cloud cloud(seed, 5, 2, 2 + seed % 2);
        if (cloud.instance.n_splits() == 0 || cloud.points.size() == 0) continue;
        StopToken stop = forever();
        for (int levels = 3; levels <= 4; ++levels) {
            TreeDp dp(cloud.points, stop, alone, no_sums);
            dp.load(cloud.for_dp());
            const Subproblem subproblem = cloud.all(levels, dp);
            REQUIRE(!subproblem.is_shallow());
            for (int c = 0; c < cloud.instance.n_columns(); ++c) {
                const Column& column = cloud.instance.column(c);
                const int step = column.missing ? 2 : 1,
                          n_thresholds = column.missing ? column.n_splits - 1 : column.n_splits;
                for (int first = 0; column.ordered && first < n_thresholds; ++first) {
                    for (int last = first; last < n_thresholds; last += step) {
                        double least = infinity;
                        for (int k = first; k <= last; k += step) {
                            least = std::min(least,
                                             dp.least_error_with(subproblem, column.first_split + k,
                                                                 SizeRange::any(), infinity)[0]);
                        }
                        const double cutoff = least * static_cast<double>(random() % 200) / 100.0;
                        const double bound = dp.least_error_between(
                            subproblem, column.first_split + first, column.first_split + last,
                            SizeRange::any(), cutoff);
                        CHECK(bound <= least + 1e-9);
                        if (first == last && bound < cutoff - 1e-9)
                            CHECK(bound == doctest::Approx(least));
                        ++seen;
                    }
                }
            }
        }
    }
    CHECK(seen > 500);
}

TEST_CASE("sums over some of the thresholds of a column are right, too") {
    std::mt19937 random(4);
    for (unsigned seed = 0; seed < 40; ++seed) {
        Cloud cloud(seed, 6, 2, 2 + seed % 2);
        if (cloud.instance.n_splits() == 0 || cloud.points.size() == 0) continue;
        Box box = whole_domain(cloud.instance);
        std::set<int> left_out;  // where layout may be missing, thresholds are left out in pairs of
                                 // splits, and "no answer" is not
        std::erase_if(box.splits, [&](int split) {
            const Column& column = cloud.instance.column(cloud.instance.column_of(split));
            if (!column.missing) return random() % 2 == 0;
            if (column.takes_missing(split) && split != column.missing_split() && random() % 2 == 0)
                left_out.insert(split);
            return left_out.contains(column.takes_missing(split) ? split : split - 1);
        });
        SplitLayout layout(cloud.points);
        layout.map(box);
        const PointWeights weights = cloud.for_dp();
        SubsetSums sums;
        sums.assign(layout, cloud.all_ids(), weights, 3, alone);
        check_sums(cloud, weights, sums, box.splits, cloud.all_ids());
    }
}

TEST_CASE("four levels agree with the recursion over three") {
    for (unsigned seed = 0; seed < 8; ++seed) {
        Cloud cloud(seed, 3, 3, 2);
        if (cloud.instance.n_splits() == 0) continue;
        StopToken stop = forever();
        TreeDp dp(cloud.points, stop, alone, usual);
        dp.load(cloud.for_dp());
        const Subproblem subproblem = cloud.all(4, dp);
        const double found = dp.least_error(subproblem, SizeRange::any(), infinity)[0];
        double best = dp.error_of_best_label(subproblem);
        for (const int split : subproblem.box.splits) {
            double sum = 0.0;
            for (int side = 0; side < 2; ++side) {
                TreeDp part(cloud.points, stop, alone, usual);
                part.load(cloud.for_dp());
                const Subproblem whole = cloud.all(4, part);
                sum +=
                    part.least_error(part.part(whole, split, side), SizeRange::any(), infinity)[0];
            }
            best = std::min(best, sum);
        }
        CHECK(found == doctest::Approx(best));
    }
}

TEST_CASE("sums over sets of splits are what they say, for a box and for its parts") {
    for (unsigned seed = 0; seed < 30; ++seed) {
        const Cloud cloud(seed, seed % 3 == 0 ? 5 : 3, seed % 3 == 0 ? 2 : 3, 2 + seed % 2);
        if (cloud.instance.n_splits() == 0) continue;
        const PointWeights weights = cloud.for_dp();
        const Box box = whole_domain(cloud.instance);
        SplitLayout layout(cloud.points);
        layout.map(box);
        SubsetSums sums;
        sums.assign(layout, cloud.all_ids(), weights, SubsetSums::max_order, alone);
        check_sums(cloud, weights, sums, box.splits, cloud.all_ids());
        check_parts_alone(cloud, weights, box);
        for (std::size_t k = 0; k < box.splits.size(); ++k) {
            for (int side = 0; side < 2; ++side) {
                std::vector<std::uint32_t> kept, all_ids;
                std::vector<int> splits;
                for (std::size_t other = 0; other < box.splits.size(); ++other) {
                    if (other == k || (seed + other) % 4 == 0) continue;
                    kept.push_back(static_cast<std::uint32_t>(other));
                    splits.push_back(box.splits[other]);
                }
                for (const std::uint32_t z : cloud.all_ids()) {
                    if (cloud.instance.is_true(box.splits[k], cloud.points[z]) == (side == 0))
                        all_ids.push_back(z);
                }
                SubsetSums part;
                part.assign_part(sums, k, side, kept);
                check_sums(cloud, weights, part, splits, all_ids);
                double mass = 0.0;
                for (const std::uint32_t z : all_ids) {
                    for (int c = 0; c < weights.n_channels; ++c) mass += std::abs(weights.at(z)[c]);
                }
                CHECK(part.mass() == doctest::Approx(mass));
            }
        }
    }
}
