#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "random_task.h"
#include "search/programme/programme.h"

using namespace hardwood;
using namespace hardwood::search;
using namespace hardwood::search::testing;

namespace {

struct Cloud {
    RandomTask made;
    Instance instance;
    Points points;
    std::vector<std::vector<double>> weights;  // by class and point

    Cloud(unsigned seed, int n_values, std::size_t n_features, std::size_t n_classes)
        : made(seed, 8, n_features, n_values, n_classes), instance(made.task), points(instance), weights(n_classes) {
        std::mt19937 random(seed + 1000);
        for (const auto& point : all_points(instance)) {
            if (random() % 4 == 0) continue;
            points.add(point.data());
            for (auto& own : weights) own.push_back(random() % 3 == 0 ? 0.0 : static_cast<double>(random() % 64) / 8.0);
        }
    }

    Weights for_programme() const {
        Weights result;
        result.channels = weights.size() == 2 ? 1 : static_cast<int>(weights.size());
        for (std::size_t z = 0; z < points.size(); ++z) {
            if (weights.size() == 2) {
                result.of.push_back(weights[1][z] - weights[0][z]);
                result.unavoidable += std::min(weights[0][z], weights[1][z]);
            } else {
                for (const auto& own : weights) result.of.push_back(own[z]);
            }
        }
        return result;
    }

    std::vector<std::uint32_t> members() const {
        std::vector<std::uint32_t> all;
        for (std::uint32_t z = 0; z < points.size(); ++z) all.push_back(z);
        return all;
    }

    Region all(int levels, Programme& programme) const { return programme.region(whole_domain(instance), levels, members()); }

    double error(const Skeleton& tree) const {
        double sum = 0.0;
        for (std::size_t z = 0; z < points.size(); ++z) {
            const auto label = static_cast<std::size_t>(label_of(instance, tree, points[z]));
            for (std::size_t c = 0; c < weights.size(); ++c) sum += c == label ? 0.0 : weights[c][z];
        }
        return sum;
    }

    // The same recursion without kernels, memory, cut-offs or boxes: every test at every place. Leaves hold enough of `sizes`, if given.
    double brute(const std::vector<std::uint32_t>& members, int levels, int tests, const std::vector<double>& sizes = {},
                 double least_leaf = 0.0) const {
        double held = 0.0;
        for (const std::uint32_t z : members) held += sizes.empty() ? 0.0 : sizes[z];
        if (held < least_leaf) return infinity;
        std::vector<double> sums(weights.size(), 0.0);
        double all = 0.0;
        for (const std::uint32_t z : members) {
            for (std::size_t c = 0; c < weights.size(); ++c) {
                sums[c] += weights[c][z];
                all += weights[c][z];
            }
        }
        double best = all - std::ranges::max(sums);
        if (levels == 0 || tests == 0) return best;
        for (int t = 0; t < instance.n_tests(); ++t) {
            std::vector<std::uint32_t> parts[2];
            for (const std::uint32_t z : members) parts[instance.is_true(t, points[z]) ? 0 : 1].push_back(z);
            for (int left = 0; left < tests; ++left) {
                best = std::min(best, brute(parts[0], levels - 1, left, sizes, least_leaf) +
                                          brute(parts[1], levels - 1, tests - 1 - left, sizes, least_leaf));
            }
        }
        return best;
    }
};

// Sums by the definition: over points of a part for which all tests of a set are true, or false where they are flipped.
void check_sums(const Cloud& cloud, const Weights& weights, const TupleSums& sums, const std::vector<int>& tests,
                const std::vector<std::uint32_t>& members) {
    for (std::size_t c = 0; c < sums.n_channels(); ++c) {
        for (int of = 0; of <= sums.order(); ++of) {
            const double* next = sums.channel(c).of(of);
            std::vector<std::size_t> set;
            const std::function<void(int, std::size_t)> visit = [&](int left, std::size_t below) {
                if (left == 0) {
                    double sum = 0.0;
                    for (const std::uint32_t z : members) {
                        const bool in = std::ranges::all_of(set, [&](std::size_t k) {
                            return cloud.instance.is_true(tests[k], cloud.points[z]) != sums.is_flipped(k);
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
            visit(of, tests.size());
        }
    }
}

// The same for boxes that are summed up by themselves, two tests down: usual answers may be ruled out there.
void check_parts_alone(const Cloud& cloud, const Weights& weights, const Box& whole) {
    Answers answers(cloud.points);
    for (const int first : whole.tests) {
        const Box half = part_of(cloud.instance, whole, first, first % 2);
        for (const int second : half.tests) {
            const Box box = part_of(cloud.instance, half, second, second / 2 % 2);
            std::vector<std::uint32_t> members;
            for (const std::uint32_t z : cloud.members()) {
                if (contains(cloud.instance, box.key, cloud.points[z])) members.push_back(z);
            }
            answers.map(box);
            TupleSums sums;
            sums.assign(answers, members, weights, 3);
            check_sums(cloud, weights, sums, box.tests, members);
        }
    }
}

const Effort usual;
const Effort short_sums = [] {
    Effort effort;
    effort.long_sums = false;
    return effort;
}();
const Effort no_sums = [] {  // over more than two tests
    Effort effort;
    effort.most_sums = 0;
    return effort;
}();

Watch forever() { return Watch(infinity, -1, [] { return true; }); }

}  // namespace

TEST_CASE("the programme finds the least error of all trees, and a tree that has it") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const std::size_t n_classes = 2 + seed % 2;
        Cloud cloud(seed, 3, 2, n_classes);
        if (cloud.instance.n_tests() == 0 || cloud.points.size() == 0) continue;
        Watch watch = forever();
        for (int levels = 1; levels <= 3; ++levels) {
            Programme programme(cloud.points, watch, usual);
            programme.load(cloud.for_programme());
            const Region region = cloud.all(levels, programme);
            const double unavoidable = programme.weights().unavoidable;
            const double found = programme.least(region, Sizes::any(), infinity)[0] + unavoidable;
            CHECK(found == doctest::Approx(cloud.brute(cloud.members(), levels, 7)));
            Skeleton tree = empty_tree(levels);
            programme.put_tree(region, Sizes::any(), 0, 1, tree);
            CHECK(cloud.error(tree) == doctest::Approx(found));
            for (int most = 0; most < (1 << levels) - 1; ++most) {
                Programme counting(cloud.points, watch, usual);
                counting.load(cloud.for_programme());
                const Sizes sizes{true, most, most};
                const Region whole = cloud.all(levels, counting);
                const Stairs stairs = counting.least(whole, sizes, infinity);
                CHECK(stairs.back() + unavoidable == doctest::Approx(cloud.brute(cloud.members(), levels, most)));
                counting.put_tree(whole, sizes, most, 1, tree);
                CHECK(cloud.error(tree) == doctest::Approx(stairs.back() + unavoidable));
                CHECK(count_tests(tree) <= most);
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
        for (std::size_t z = 0; z < cloud.points.size(); ++z) sizes.push_back(static_cast<double>(random() % 3));
        const double all = std::accumulate(sizes.begin(), sizes.end(), 0.0), least_leaf = 1.0 + seed % 4;
        if (all < least_leaf) continue;
        Watch watch(infinity, -1, [] { return true; });
        Effort effort;
        effort.long_sums = seed % 3 > 0;
        effort.most_sums = seed % 5 == 0 ? 0.0 : effort.most_sums;  // then the recursion
        Programme programme(cloud.points, watch, effort);
        Weights weights = cloud.for_programme();
        weights.sizes = sizes;
        weights.least_leaf = least_leaf;
        const double unavoidable = weights.unavoidable;
        programme.load(weights);
        for (int levels = 1; levels <= 3; ++levels) {
            const Region region = cloud.all(levels, programme);
            const double least = programme.least(region, Sizes::any(), infinity).back();
            CHECK(least + unavoidable == doctest::Approx(cloud.brute(cloud.members(), levels, 7, sizes, least_leaf)));
            Skeleton tree = empty_tree(levels);
            programme.put_tree(region, Sizes::any(), 0, 1, tree);
            CHECK(cloud.error(tree) == doctest::Approx(least + unavoidable));
            std::vector<double> held(tree.size(), 0.0);
            for (std::size_t z = 0; z < cloud.points.size(); ++z) {
                std::size_t at = 1;
                while (tree[at].test >= 0) at = 2 * at + (cloud.instance.is_true(tree[at].test, cloud.points[z]) ? 0 : 1);
                held[at] += sizes[z];
            }
            const std::function<void(std::size_t)> check = [&](std::size_t at) {
                if (tree[at].test < 0) {
                    CHECK(held[at] >= least_leaf);
                    return;
                }
                check(2 * at);
                check(2 * at + 1);
            };
            check(1);
            programme.load(weights);  // what is counted is another question
            const Stairs stairs = programme.least(cloud.all(levels, programme), {true, 0, 2}, infinity);
            CHECK(stairs.back() + unavoidable ==
                  doctest::Approx(cloud.brute(cloud.members(), levels, std::min(2, (1 << levels) - 1), sizes, least_leaf)));
            programme.load(weights);
        }
    }
}

TEST_CASE("with a test on top, and with cut-offs, values stay valid") {
    std::mt19937 random(3);
    for (unsigned seed = 0; seed < 40; ++seed) {
        Cloud cloud(seed, 3, 3, 2 + seed % 2);
        if (cloud.instance.n_tests() == 0 || cloud.points.size() == 0) continue;
        Watch watch = forever();
        for (int levels = 2; levels <= 4; ++levels) {
            Programme exact(cloud.points, watch, usual), cut(cloud.points, watch, seed % 2 == 0 ? short_sums : no_sums);
            exact.load(cloud.for_programme());
            cut.load(cloud.for_programme());
            const Region region = cloud.all(levels, exact), other = cloud.all(levels, cut);
            for (const int test : region.box.tests) {
                const double value = exact.least_with(region, test, Sizes::any(), infinity)[0];
                const double cutoff = value * static_cast<double>(random() % 200) / 100.0;
                const double known = cut.least_with(other, test, Sizes::any(), cutoff)[0];
                CHECK(known <= value + 1e-9);
                if (known < cutoff - 1e-9) CHECK(known == doctest::Approx(value));
                Skeleton tree = empty_tree(levels);
                exact.put_tree_with(region, test, Sizes::any(), 0, 1, tree);
                CHECK(cloud.error(tree) == doctest::Approx(value + exact.weights().unavoidable));
            }
        }
    }
}

TEST_CASE("what thresholds side by side err at least is no more than each of them does") {
    std::mt19937 random(9);
    int seen = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        Cloud cloud(seed, 5, 2, 2 + seed % 2);
        if (cloud.instance.n_tests() == 0 || cloud.points.size() == 0) continue;
        Watch watch = forever();
        for (int levels = 3; levels <= 4; ++levels) {
            Programme programme(cloud.points, watch, no_sums);
            programme.load(cloud.for_programme());
            const Region region = cloud.all(levels, programme);
            REQUIRE(!Programme::is_short(region));
            for (int c = 0; c < cloud.instance.n_columns(); ++c) {
                const Column& column = cloud.instance.column(c);
                const int step = column.missing ? 2 : 1, n_thresholds = column.missing ? column.n_tests - 1 : column.n_tests;
                for (int first = 0; column.ordered && first < n_thresholds; ++first) {
                    for (int last = first; last < n_thresholds; last += step) {
                        double least = infinity;
                        for (int k = first; k <= last; k += step) {
                            least = std::min(least, programme.least_with(region, column.first_test + k, Sizes::any(), infinity)[0]);
                        }
                        const double cutoff = least * static_cast<double>(random() % 200) / 100.0;
                        const double bound =
                            programme.least_between(region, column.first_test + first, column.first_test + last, Sizes::any(), cutoff);
                        CHECK(bound <= least + 1e-9);
                        if (first == last && bound < cutoff - 1e-9) CHECK(bound == doctest::Approx(least));
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
        if (cloud.instance.n_tests() == 0 || cloud.points.size() == 0) continue;
        Box box = whole_domain(cloud.instance);
        std::set<int> left_out;  // where answers may be missing, thresholds are left out in pairs of tests, and "no answer" is not
        std::erase_if(box.tests, [&](int test) {
            const Column& column = cloud.instance.column(cloud.instance.column_of(test));
            if (!column.missing) return random() % 2 == 0;
            if (column.takes_missing(test) && test != column.missing_test() && random() % 2 == 0) left_out.insert(test);
            return left_out.contains(column.takes_missing(test) ? test : test - 1);
        });
        Answers answers(cloud.points);
        answers.map(box);
        const Weights weights = cloud.for_programme();
        TupleSums sums;
        sums.assign(answers, cloud.members(), weights, 3);
        check_sums(cloud, weights, sums, box.tests, cloud.members());
    }
}

TEST_CASE("four levels agree with the recursion over three") {
    for (unsigned seed = 0; seed < 8; ++seed) {
        Cloud cloud(seed, 3, 3, 2);
        if (cloud.instance.n_tests() == 0) continue;
        Watch watch = forever();
        Programme programme(cloud.points, watch, usual);
        programme.load(cloud.for_programme());
        const Region region = cloud.all(4, programme);
        const double found = programme.least(region, Sizes::any(), infinity)[0];
        double best = programme.error_of_best_label(region);
        for (const int test : region.box.tests) {
            double sum = 0.0;
            for (int side = 0; side < 2; ++side) {
                Programme part(cloud.points, watch, usual);
                part.load(cloud.for_programme());
                const Region whole = cloud.all(4, part);
                sum += part.least(part.part(whole, test, side), Sizes::any(), infinity)[0];
            }
            best = std::min(best, sum);
        }
        CHECK(found == doctest::Approx(best));
    }
}

TEST_CASE("sums over sets of tests are what they say, for a box and for its parts") {
    for (unsigned seed = 0; seed < 30; ++seed) {
        const Cloud cloud(seed, seed % 3 == 0 ? 5 : 3, seed % 3 == 0 ? 2 : 3, 2 + seed % 2);
        if (cloud.instance.n_tests() == 0) continue;
        const Weights weights = cloud.for_programme();
        const Box box = whole_domain(cloud.instance);
        Answers answers(cloud.points);
        answers.map(box);
        TupleSums sums;
        sums.assign(answers, cloud.members(), weights, TupleSums::longest);
        check_sums(cloud, weights, sums, box.tests, cloud.members());
        check_parts_alone(cloud, weights, box);
        for (std::size_t k = 0; k < box.tests.size(); ++k) {
            for (int side = 0; side < 2; ++side) {
                std::vector<std::uint32_t> kept, members;
                std::vector<int> tests;
                for (std::size_t other = 0; other < box.tests.size(); ++other) {
                    if (other == k || (seed + other) % 4 == 0) continue;
                    kept.push_back(static_cast<std::uint32_t>(other));
                    tests.push_back(box.tests[other]);
                }
                for (const std::uint32_t z : cloud.members()) {
                    if (cloud.instance.is_true(box.tests[k], cloud.points[z]) == (side == 0)) members.push_back(z);
                }
                TupleSums part;
                part.assign_part(sums, k, side, kept);
                check_sums(cloud, weights, part, tests, members);
                double mass = 0.0;
                for (const std::uint32_t z : members) {
                    for (int c = 0; c < weights.channels; ++c) mass += std::abs(weights.at(z)[c]);
                }
                CHECK(part.mass() == doctest::Approx(mass));
            }
        }
    }
}
