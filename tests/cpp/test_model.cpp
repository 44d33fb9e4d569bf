#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "dp/point_set.h"
#include "model/evaluator.h"
#include "random_task.h"
#include "util/row_ids.h"

using namespace hardwood;
using namespace hardwood::search;
using namespace hardwood::search::testing;

namespace {

// A random tree of full depth.
HeapTree random_tree(const Instance& instance, int depth, std::mt19937& random) {
    HeapTree tree = empty_tree(depth);
    for (std::size_t at = 1; at < tree.size(); ++at) {
        const bool leaf = 2 * at >= tree.size() || random() % 5 == 0;
        tree[at].split =
            leaf ? -1 : static_cast<int>(random() % static_cast<unsigned>(instance.n_splits()));
        tree[at].label = static_cast<int>(random() % static_cast<unsigned>(instance.n_classes()));
    }
    return tree;
}

}  // namespace

TEST_CASE("equal rows have one number, also after the table has grown") {
    std::mt19937 random(5);
    for (const std::size_t width : {0u, 1u, 3u}) {
        RowIds<std::uint32_t> numbers(width);
        std::map<std::vector<std::uint32_t>, std::uint32_t> known;
        for (int k = 0; k < 3000; ++k) {
            std::vector<std::uint32_t> row(width);
            for (auto& value : row)
                value = random() % 12 == 0 ? 0xffffffff : static_cast<std::uint32_t>(random() % 12);
            CHECK(numbers.find(row.data()) ==
                  (known.contains(row) ? static_cast<std::int64_t>(known[row]) : -1));
            const auto [number, is_new] = numbers.add(row.data());
            CHECK(is_new == !known.contains(row));
            CHECK(number ==
                  known.try_emplace(row, static_cast<std::uint32_t>(known.size())).first->second);
            CHECK(std::equal(row.begin(), row.end(), numbers[number]));
        }
        CHECK(numbers.size() == known.size());
    }
}

TEST_CASE("samples that pay alike are one row, and counts add up") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const RandomTask made(seed, 12, 2, 3);
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        double by_size = 0.0;
        for (std::size_t i = 0; i < instance.n_rows(); ++i) by_size += instance.weight(i);
        CHECK(by_size == 12.0);
        for (std::size_t i = 0; i < instance.n_rows(); ++i) {
            for (int c = 0; c < instance.n_columns(); ++c)
                CHECK(instance.cost(i, c, instance.point(i)[c]) == 0.0);
        }
    }
}

TEST_CASE("the cost_unit divides every cost, and the budget is rounded down to it") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const RandomTask made(seed);
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        CHECK(instance.budget() <= made.task.budget);
        if (instance.cost_unit() == 0.0) continue;
        CHECK(std::fmod(instance.budget(), instance.cost_unit()) == 0.0);
        CHECK(made.task.budget - instance.budget() < instance.cost_unit());
        for (int c = 0; c < instance.n_columns(); ++c) {
            for (const double cost : instance.column(c).cost) {
                if (cost < infinity) CHECK(std::fmod(cost, instance.cost_unit()) == 0.0);
            }
        }
    }
}

TEST_CASE(
    "boxes hold the points that outcome their splits so, and cost what their cheapest point "
    "costs") {
    std::mt19937 random(5);
    for (unsigned seed = 0; seed < 150; ++seed) {
        const RandomTask made(seed, 6, 3, 4);
        if (made.task.splits.size() < 2) continue;
        const Instance instance(made.task);
        Box box = whole_domain(instance);
        std::vector<std::pair<int, int>> path;
        for (int level = 0; level < 3 && !box.splits.empty(); ++level) {
            const int split = box.splits[random() % box.splits.size()],
                      side = static_cast<int>(random() % 2);
            box = part_of(instance, box, split, side);
            path.emplace_back(split, side);
        }
        const auto points = all_points(instance);
        std::vector<double> least(instance.n_rows(), infinity);
        std::size_t inside = 0;
        for (const auto& point : points) {
            const bool expected = std::ranges::all_of(path, [&](const auto& outcome) {
                return instance.is_true(outcome.first, point.data()) == (outcome.second == 0);
            });
            CHECK(contains(instance, box.key, point.data()) == expected);
            if (!expected) continue;
            ++inside;
            for (std::size_t i = 0; i < instance.n_rows(); ++i)
                least[i] = std::min(least[i], cost_of(instance, i, point.data()));
        }
        CHECK(inside > 0);
        const BoxCost cost(instance, box.key);
        std::vector<Bin> nearest(static_cast<std::size_t>(instance.n_columns()));
        for (std::size_t i = 0; i < instance.n_rows(); ++i) {
            CHECK(cost(i) == least[i]);
            if (least[i] == infinity) continue;
            cost.nearest_point(i, nearest.data());
            int moves = 0;
            for (int c = 0; c < instance.n_columns(); ++c)
                moves += nearest[static_cast<std::size_t>(c)] != instance.point(i)[c];
            CHECK(cost.n_moves(i) == moves);
            CHECK(contains(instance, box.key, nearest.data()));
            CHECK(cost_of(instance, i, nearest.data()) == least[i]);
        }
        for (const int split : box.splits) {  // every split that is left splits the box
            std::size_t yes = 0;
            for (const auto& point : points) {
                yes += contains(instance, box.key, point.data()) &&
                       instance.is_true(split, point.data());
            }
            CHECK(yes > 0);
            CHECK(yes < inside);
        }
    }
}

TEST_CASE("the class_weights of a tree is that of flipping the cheapest samples first") {
    std::mt19937 random(7);
    for (unsigned seed = 0; seed < 200; ++seed) {
        const RandomTask made(seed, 9, 3, 3, 3);
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        Evaluator evaluate(instance);
        const HeapTree tree = random_tree(instance, 3, random);
        const Evaluation found = evaluate(tree);
        std::vector<double> margins;
        for (std::size_t i = 0; i < instance.n_rows(); ++i) {
            double margin = infinity;
            for (const auto& point : all_points(instance)) {
                if (label_of(instance, tree, point.data()) != instance.label(i)) {
                    margin = std::min(margin, cost_of(instance, i, point.data()));
                }
            }
            CHECK(evaluate.margins()[i] == margin);
            for (int k = 0; k < static_cast<int>(instance.weight(i)); ++k)
                margins.push_back(margin);
        }
        const double correct = kept(instance, margins);
        CHECK(found.correct == correct);
        CHECK(std::ceil(found.dual - 1e-9) == correct);
    }
}

TEST_CASE("of too many possible margins, all up to some length are listed") {
    constexpr std::size_t n = 300;  // rows, each with a cost of its own
    std::vector<std::int32_t> values, labels;
    std::vector<double> costs;
    for (std::size_t i = 0; i < n; ++i) {
        values.push_back(static_cast<std::int32_t>(i % 2));
        labels.push_back(0);
        costs.push_back(static_cast<double>(i + 1));
    }
    SearchTask task;
    task.table = {values.data(), n, 1};
    task.costs = {{costs.data(), n, 1, false, true, true, 0, 1, 1000}};
    task.labels = labels;
    task.n_classes = 1;
    task.splits = {{0, 0}};
    task.budget = 300.0;
    const Instance instance(task);
    double complete = 0.0;
    CHECK(instance.possible_margins(1, n, complete).size() == n);
    CHECK(complete == 300.0);
    const std::vector<double> few = instance.possible_margins(1, 100, complete);
    CHECK(complete == 75.0);  // halved until they are few enough
    CHECK(few.size() == 75);
}
