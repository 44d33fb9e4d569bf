#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "random_task.h"
#include "search/measure/measure.h"
#include "search/measure/support.h"

using namespace hardwood;
using namespace hardwood::search;
using namespace hardwood::search::testing;

TEST_CASE("(P): no set of points weighs more than the sample is present there") {
    std::mt19937 random(11);
    for (unsigned seed = 0; seed < 120; ++seed) {
        const RandomTask made(seed, 1, 2, 3);  // one sample: weights are its own measure
        if (made.task.tests.empty()) continue;
        const Instance instance(made.task);
        Points points(instance);
        std::vector<double> cost;
        for (const auto& point : all_points(instance)) {
            points.add(point.data());
            cost.push_back(cost_of(instance, 0, point.data()));
        }
        const std::size_t most_ways = seed % 3 == 0 ? 3 : 1000;
        Reach reach(points, most_ways);
        reach.update();
        for (const double price : {0.1, 0.5, 1.0, 4.0}) {
            ByClass potentials(2), weights;
            for (auto& own : potentials) {
                for (std::size_t z = 0; z < points.size(); ++z) own.push_back(static_cast<double>(random() % 100) / 10.0);
            }
            spread(instance, reach, price, potentials, weights);
            const auto& own = weights[static_cast<std::size_t>(instance.label(0))];
            double all = 0.0;
            for (const double weight : own) all += weight;
            CHECK(all <= 1.0);
            CHECK(all >= 1.0 - 1e-9);  // a slice counts in full
            for (std::uint32_t set = 1; set < (1u << points.size()); ++set) {
                double weight = 0.0, presence = 0.0;
                for (std::size_t z = 0; z < points.size(); ++z) {
                    if (!(set >> z & 1)) continue;
                    weight += own[z];
                    if (cost[z] < infinity) presence = std::max(presence, 1.0 - price * cost[z]);
                }
                CHECK(weight <= presence + 0x1p-50);  // the presence itself is rounded
            }
        }
    }
}

namespace {

std::size_t list_of(const Reach& reach, std::size_t row) {
    std::size_t list = 0;
    while (reach.end_row(list) <= row) ++list;
    return list;
}

}  // namespace

TEST_CASE("lists of ways have the cheapest points first, also when points come later") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        const RandomTask made(seed, 5, 3, 3);
        if (made.task.tests.empty()) continue;
        const Instance instance(made.task);
        Points points(instance);
        Reach reach(points, 7);
        for (const auto& point : all_points(instance)) {
            points.add(point.data());
            if (points.size() % 4 == 0) reach.update();
        }
        reach.update();
        for (std::size_t i = 0; i < instance.n_rows(); ++i) {
            std::vector<double> costs;
            for (std::size_t z = 0; z < points.size(); ++z) {
                const double cost = cost_of(instance, i, points[z]);
                if (cost < infinity) costs.push_back(cost);
            }
            std::ranges::sort(costs);
            costs.resize(std::min<std::size_t>(costs.size(), 7));
            std::vector<double> listed;
            for (const Way& way : reach.ways(list_of(reach, i))) {
                listed.push_back(way.cost);
                CHECK(way.cost == cost_of(instance, i, points[way.point]));
            }
            CHECK(listed == costs);
        }
    }
}

TEST_CASE("columns that cannot be paid for stay out of reach, however many they are") {
    constexpr std::size_t n_features = 16'385;  // 2^14 of them cost 2^64 if one costs 2^50
    const std::vector<std::int32_t> labels{0, 1};
    std::vector<std::int32_t> values;
    const double infinite = infinity, cheap = 1.0;
    Task task;
    for (std::size_t f = 0; f < n_features; ++f) {
        values.insert(values.end(), {0, f == 0 ? 0 : 1});
        task.prices.push_back({f == 0 ? &cheap : &infinite, 1, 1, false, true, true, 0, 1, 1000});
        task.tests.push_back({f, 0});
    }
    task.table = {values.data(), 2, n_features};
    task.labels = labels;
    task.n_classes = 2;
    task.budget = 1.0;
    const Instance instance(task);
    REQUIRE(instance.n_rows() == 2);
    Points points(instance);
    for (std::size_t i = 0; i < 2; ++i) points.add(instance.point(i));
    Reach reach(points, 10);
    reach.update();
    for (std::size_t i = 0; i < 2; ++i) {
        const std::vector<Way> ways = reach.ways(list_of(reach, i));
        REQUIRE(ways.size() == 1);
        CHECK(ways[0].point == i);
        CHECK(ways[0].cost == 0.0);
    }
}

TEST_CASE("rows of large tables have lists of their own: true prices, in order, each point once, and where trees are wrong") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        const RandomTask made(seed, 6, 3, 3);
        if (made.task.tests.empty()) continue;
        const Instance instance(made.task);
        Effort effort;
        effort.all_pairs = effort.whole_domains = false;
        effort.points_nearby = 1 + seed % 5;
        Support support(instance, effort);
        if (seed % 2 == 0) support.prepare(0.1);
        Evaluator evaluate(instance);
        Skeleton tree = empty_tree(2);
        tree[1] = {static_cast<int>(seed) % instance.n_tests(), 0};
        tree[2] = {-1, 0};
        tree[3] = {-1, 1};
        evaluate(tree);
        support.add_wrong_points(evaluate, 0.1);
        for (std::size_t i = 0; i < instance.n_rows(); ++i) {
            const std::vector<Way> ways = support.reach().ways(list_of(support.reach(), i));
            REQUIRE(!ways.empty());
            CHECK(ways[0].cost == 0.0);
            CHECK(std::ranges::is_sorted(ways, {}, &Way::cost));
            std::set<std::uint32_t> seen;
            for (const Way& way : ways) {
                CHECK(way.cost == cost_of(instance, i, support.points()[way.point]));
                CHECK(seen.insert(way.point).second);
            }
            const double margin = evaluate.margins()[i];
            const bool is_wrong_somewhere = std::ranges::any_of(ways, [&](const Way& way) {
                return way.cost == margin && label_of(instance, tree, support.points()[way.point]) != instance.label(i);
            });
            if (margin * 0.1 < 1.0) CHECK(is_wrong_somewhere);
        }
    }
}

TEST_CASE("neighbours are what one move or two lead to, as far as they are listed") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        const RandomTask made(seed, 6, 3, 3);
        if (made.task.tests.empty()) continue;
        const Instance instance(made.task);
        Effort effort;
        effort.points_nearby = 1 + seed % 6;
        std::vector<std::uint32_t> rows(instance.n_rows());
        std::iota(rows.begin(), rows.end(), 0U);
        const Neighbours neighbours(instance, rows, effort);
        for (const double limit : {0.0, 0.6, 1.3, 100.0}) {
            for (const std::uint32_t i : rows) {
                std::set<std::vector<Bin>> found;
                neighbours.visit(i, limit, [&](const Bin* point, double cost) {
                    CHECK(cost == cost_of(instance, i, point));
                    CHECK(found.insert({point, point + instance.n_columns()}).second);
                });
                for (const auto& point : all_points(instance)) {
                    const double cost = cost_of(instance, i, point.data());
                    int moves = 0;
                    for (int c = 0; c < instance.n_columns(); ++c) moves += point[static_cast<std::size_t>(c)] != instance.point(i)[c];
                    const bool listed = cost < infinity && neighbours.includes(moves, cost, limit);
                    CHECK(found.contains(point) == listed);
                }
            }
        }
    }
}

TEST_CASE("weights never exceed the loss of a classifier") {
    std::mt19937 random(13);
    for (unsigned seed = 0; seed < 150; ++seed) {
        const RandomTask made(seed, 7, 2, 3, 2 + seed % 2);
        if (made.task.tests.empty()) continue;
        const Instance instance(made.task);
        Points points(instance);
        for (const auto& point : all_points(instance)) points.add(point.data());
        Reach reach(points, 1000);
        reach.update();
        const double price = 0.05 * static_cast<double>(1 + random() % 60);
        ByClass potentials(static_cast<std::size_t>(instance.n_classes())), weights;
        for (auto& own : potentials) {
            for (std::size_t z = 0; z < points.size(); ++z) own.push_back(static_cast<double>(random() % 50) / 10.0);
        }
        spread(instance, reach, price, potentials, weights);
        for (int trial = 0; trial < 20; ++trial) {
            std::vector<int> labels;
            for (std::size_t z = 0; z < points.size(); ++z) labels.push_back(static_cast<int>(random() % static_cast<unsigned>(instance.n_classes())));
            double loss = 0.0, error = 0.0;
            for (std::size_t i = 0; i < instance.n_rows(); ++i) {
                double presence = 0.0;
                for (std::size_t z = 0; z < points.size(); ++z) {
                    const double cost = cost_of(instance, i, points[z]);
                    if (labels[z] != instance.label(i) && cost < infinity) presence = std::max(presence, 1.0 - price * cost);
                }
                loss += instance.count(i) * presence;
            }
            for (std::size_t z = 0; z < points.size(); ++z) {
                for (int c = 0; c < instance.n_classes(); ++c) error += c == labels[z] ? 0.0 : weights[static_cast<std::size_t>(c)][z];
            }
            CHECK(error <= loss + rounding(instance, points, reach, 0));
            CHECK(error_of_any_labelling(weights) <= error + 1e-9);
        }
    }
}
