#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "dual/potentials.h"
#include "dual/support.h"
#include "random_task.h"

using namespace hardwood;
using namespace hardwood::search;
using namespace hardwood::search::testing;

namespace {

ThreadTeam team(2);

}  // namespace

TEST_CASE("(P): no set of points weighs more than the sample is present there") {
    std::mt19937 random(11);
    for (unsigned seed = 0; seed < 120; ++seed) {
        const RandomTask made(seed, 1, 2, 3);  // one sample: weights are its own measure
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        PointSet points(instance);
        std::vector<double> cost;
        for (const auto& point : all_points(instance)) {
            points.add(point.data());
            cost.push_back(cost_of(instance, 0, point.data()));
        }
        const std::size_t max_points = seed % 3 == 0 ? 3 : 1000;
        ReachableSets reachable(points, max_points);
        reachable.update();
        for (const double multiplier : {0.1, 0.5, 1.0, 4.0}) {
            ByClass attractions(2);
            for (auto& own : attractions) {
                for (std::size_t z = 0; z < points.size(); ++z)
                    own.push_back(std::exp(static_cast<double>(random() % 100) / 10.0));
            }
            MassDistribution distribution(instance, reachable, team);
            const ByClass& weights = distribution.distribute(multiplier, attractions);
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
                    if (cost[z] < infinity)
                        presence = std::max(presence, 1.0 - multiplier * cost[z]);
                }
                CHECK(weight <= presence + 0x1p-50);  // the presence itself is rounded
            }
        }
    }
}

namespace {

std::size_t set_of(const ReachableSets& reachable, std::size_t row) {
    std::size_t set = 0;
    while (reachable.end_row(set) <= row) ++set;
    return set;
}

}  // namespace

TEST_CASE(
    "lists of points_with_costs have the cheapest points first, also when points come later") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        const RandomTask made(seed, 5, 3, 3);
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        PointSet points(instance);
        ReachableSets reachable(points, 7);
        for (const auto& point : all_points(instance)) {
            points.add(point.data());
            if (points.size() % 4 == 0) reachable.update();
        }
        reachable.update();
        for (std::size_t i = 0; i < instance.n_rows(); ++i) {
            std::vector<double> costs;
            for (std::size_t z = 0; z < points.size(); ++z) {
                const double cost = cost_of(instance, i, points[z]);
                if (cost < infinity) costs.push_back(cost);
            }
            std::ranges::sort(costs);
            costs.resize(std::min<std::size_t>(costs.size(), 7));
            std::vector<double> listed;
            for (const ReachablePoint& way : reachable.points_with_costs(set_of(reachable, i))) {
                listed.push_back(way.cost);
                CHECK(way.cost == cost_of(instance, i, points[way.point]));
            }
            CHECK(listed == costs);
        }
    }
}

TEST_CASE("columns that cannot be paid for stay out of reachable, however many they are") {
    constexpr std::size_t n_features = 16'385;  // 2^14 of them cost 2^64 if one costs 2^50
    const std::vector<std::int32_t> labels{0, 1};
    std::vector<std::int32_t> values;
    const double infinite = infinity, cheap = 1.0;
    SearchTask task;
    for (std::size_t f = 0; f < n_features; ++f) {
        values.insert(values.end(), {0, f == 0 ? 0 : 1});
        task.costs.push_back({f == 0 ? &cheap : &infinite, 1, 1, false, true, true, 0, 1, 1000});
        task.splits.push_back({f, 0});
    }
    task.table = {values.data(), 2, n_features};
    task.labels = labels;
    task.n_classes = 2;
    task.budget = 1.0;
    const Instance instance(task);
    REQUIRE(instance.n_rows() == 2);
    PointSet points(instance);
    for (std::size_t i = 0; i < 2; ++i) points.add(instance.point(i));
    ReachableSets reachable(points, 10);
    reachable.update();
    for (std::size_t i = 0; i < 2; ++i) {
        const std::vector<ReachablePoint> points_with_costs =
            reachable.points_with_costs(set_of(reachable, i));
        REQUIRE(points_with_costs.size() == 1);
        CHECK(points_with_costs[0].point == i);
        CHECK(points_with_costs[0].cost == 0.0);
    }
}

TEST_CASE(
    "rows of large tables have lists of their own: true multipliers, in order, each point once, "
    "and where trees are wrong") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        const RandomTask made(seed, 6, 3, 3);
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        SearchParams params;
        params.full_domain = false;
        params.max_first_pairs = 0.0;
        params.first_neighbours = 1 + seed % 3;
        params.n_neighbours = params.first_neighbours + seed % 9;
        Support support(instance, params);
        if (seed % 2 == 0) support.prepare(0.1);
        for (unsigned k = 0; k < seed % 4; ++k) support.enlarge(seed % 3 == 0 ? 0.1 : 0.7);
        Evaluator evaluate(instance);
        HeapTree tree = empty_tree(2);
        tree[1] = {static_cast<int>(seed) % instance.n_splits(), 0};
        tree[2] = {-1, 0};
        tree[3] = {-1, 1};
        evaluate(tree);
        support.add_misclassified_points(evaluate, 0.1);
        for (std::size_t i = 0; i < instance.n_rows(); ++i) {
            const std::vector<ReachablePoint> points_with_costs =
                support.reachable().points_with_costs(set_of(support.reachable(), i));
            REQUIRE(!points_with_costs.empty());
            CHECK(points_with_costs[0].cost == 0.0);
            CHECK(std::ranges::is_sorted(points_with_costs, {}, &ReachablePoint::cost));
            std::set<std::uint32_t> seen;
            for (const ReachablePoint& way : points_with_costs) {
                CHECK(way.cost == cost_of(instance, i, support.points()[way.point]));
                CHECK(seen.insert(way.point).second);
            }
            const double margin = evaluate.margins()[i];
            const bool is_wrong_somewhere =
                std::ranges::any_of(points_with_costs, [&](const ReachablePoint& way) {
                    return way.cost == margin &&
                           label_of(instance, tree, support.points()[way.point]) !=
                               instance.label(i);
                });
            if (margin * 0.1 < 1.0) CHECK(is_wrong_somewhere);
        }
        while (support.can_enlarge()) support.enlarge(0.1);
        for (std::size_t i = 0; i < instance.n_rows(); ++i) {
            const std::size_t own = set_of(support.reachable(), i);
            std::set<std::uint32_t> listed;
            for (const std::uint32_t point : support.reachable()[own].points) listed.insert(point);
            for (std::uint32_t z = 0; z < support.points().size(); ++z) {
                const double cost = cost_of(instance, i, support.points()[z]);
                CHECK(listed.contains(z) == (cost < infinity));
            }
        }
    }
}

TEST_CASE("neighbours are what one move or two lead to, as far as they are listed") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        const RandomTask made(seed, 6, 3, 3);
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        SearchParams params;
        params.n_neighbours = 1 + seed % 6;
        std::vector<std::uint32_t> rows(instance.n_rows());
        std::iota(rows.begin(), rows.end(), 0U);
        const Neighbours neighbours(instance, rows, params.n_neighbours, params.sampled_rows);
        for (const double max_cost : {0.0, 0.6, 1.3, 100.0}) {
            for (const std::uint32_t i : rows) {
                std::set<std::vector<Bin>> found;
                neighbours.visit(i, max_cost, [&](const Bin* point, double cost) {
                    CHECK(cost == cost_of(instance, i, point));
                    CHECK(found.insert({point, point + instance.n_columns()}).second);
                });
                for (const auto& point : all_points(instance)) {
                    const double cost = cost_of(instance, i, point.data());
                    int moves = 0;
                    for (int c = 0; c < instance.n_columns(); ++c)
                        moves += point[static_cast<std::size_t>(c)] != instance.point(i)[c];
                    const bool listed =
                        cost < infinity && neighbours.includes(moves, cost, max_cost);
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
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        PointSet points(instance);
        for (const auto& point : all_points(instance)) points.add(point.data());
        ReachableSets reachable(points, 1000);
        reachable.update();
        const double multiplier = 0.05 * static_cast<double>(1 + random() % 60);
        ByClass attractions(static_cast<std::size_t>(instance.n_classes()));
        for (auto& own : attractions) {
            for (std::size_t z = 0; z < points.size(); ++z)
                own.push_back(std::exp(static_cast<double>(random() % 50) / 10.0));
        }
        MassDistribution distribution(instance, reachable, team);
        const ByClass& weights = distribution.distribute(multiplier, attractions);
        for (int trial = 0; trial < 20; ++trial) {
            std::vector<int> labels;
            for (std::size_t z = 0; z < points.size(); ++z)
                labels.push_back(
                    static_cast<int>(random() % static_cast<unsigned>(instance.n_classes())));
            double loss = 0.0, error = 0.0;
            for (std::size_t i = 0; i < instance.n_rows(); ++i) {
                double presence = 0.0;
                for (std::size_t z = 0; z < points.size(); ++z) {
                    const double cost = cost_of(instance, i, points[z]);
                    if (labels[z] != instance.label(i) && cost < infinity)
                        presence = std::max(presence, 1.0 - multiplier * cost);
                }
                loss += instance.weight(i) * presence;
            }
            for (std::size_t z = 0; z < points.size(); ++z) {
                for (int c = 0; c < instance.n_classes(); ++c)
                    error += c == labels[z] ? 0.0 : weights[static_cast<std::size_t>(c)][z];
            }
            CHECK(error <= loss + rounding_error(instance, points, reachable, 0));
            CHECK(any_labelling_error(weights) <= error + 1e-9);
        }
    }
}
