#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "model/constraint.h"
#include "random_task.h"
#include "search/coarse_splits.h"
#include "search/greedy_tree.h"
#include "search/search.h"

using namespace hardwood;
using namespace hardwood::search;
using namespace hardwood::search::testing;

namespace {

const Target plain{.total = 100.0, .budget = 10.0, .cutoff = 80.0, .max_splits = 7};

// The best tree by trying all of them.
void for_all_trees(const Instance& instance, int depth,
                   const std::function<void(const HeapTree&)>& visit) {
    HeapTree tree = empty_tree(depth);
    const auto nodes = static_cast<std::size_t>((1 << (depth + 1)) - 1);
    const std::function<void(std::size_t)> fill = [&](std::size_t at) {
        if (at > nodes) {
            visit(tree);
            return;
        }
        const bool bottom = 2 * at > nodes;
        for (int choice = 0; choice < (bottom ? instance.n_classes() : instance.n_splits());
             ++choice) {
            tree[at] = bottom ? HeapNode::leaf(choice) : HeapNode::branch(choice);
            fill(at + 1);
        }
    };
    fill(1);
}

double best_of_all(const Instance& instance, int depth) {
    Evaluator evaluate(instance);
    double best = -1.0;
    for_all_trees(instance, depth, [&](const HeapTree& tree) {
        if (admits(instance, tree)) best = std::max(best, evaluate(tree).correct);
    });
    return best;
}

/// The bound of docs/extending.md, "A bound": rows in decided leaves with another label are lost.
class DecidedBound : public Bound {
public:
    explicit DecidedBound(const Instance& instance) : instance_(instance) {}

    std::string_view name() const override { return "decided"; }
    bool applies_to(const PartialTree& tree) const override {
        return std::ranges::any_of(tree.nodes, &OpenNode::is_decided);
    }
    BranchBounds compute(const BoundRequest& request, Potentials&) override {
        double lost = 0.0;
        for (const OpenNode& node : request.tree.nodes) {
            for (std::size_t i = 0; i < instance_.n_rows() && node.is_decided(); ++i) {
                const bool inside = contains(instance_, node.box.key, instance_.point(i));
                lost += inside && instance_.label(i) != node.label ? instance_.weight(i) : 0.0;
            }
        }
        ++statistics.steps;
        return {.multiplier = request.multiplier,
                .loss = std::vector<double>(request.branchings.size(), lost)};
    }

private:
    const Instance& instance_;
};

double loss_at(const Instance& instance, Evaluator& evaluate, const HeapTree& tree,
               double multiplier) {
    evaluate(tree);
    double loss = 0.0;
    for (std::size_t i = 0; i < instance.n_rows(); ++i) {
        loss += instance.weight(i) * std::max(0.0, 1.0 - multiplier * evaluate.margins()[i]);
    }
    return loss;
}

}  // namespace

TEST_CASE(
    "no bound of a sequence exceeds the loss of a completion, the largest counts, and their work "
    "is counted") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const RandomTask made(seed, 8, 2, 3, 2 + seed % 2);
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        if (instance.budget() <= 0) continue;
        StopToken stop(infinity, -1, [] { return true; });
        const SearchParams params;
        SharedIncumbent incumbent(instance, 0.0, 2, params);
        incumbent.set_target(instance.total() / 2.0, incumbent.max_splits());
        ThreadTeam alone(1);
        Worker worker(instance, incumbent, stop, alone, params);
        BoundSequence bounds(incumbent);
        bounds.add(std::make_unique<DecidedBound>(instance));
        bounds.add(std::make_unique<LagrangianBound>(instance, 2, worker.support, incumbent,
                                                     worker.evaluations, stop, alone, params));
        // A split at the root, a decided leaf on its left, one more level on its right.
        const PartialTree root{
            .fixed = empty_tree(2),
            .nodes = {{.position = 1, .box = whole_domain(instance), .levels = 2}}};
        const std::vector<int>& splits = root.nodes[0].box.splits;
        const int top = splits[seed % splits.size()];
        PartialTree tree =
            child_after(instance, root, 0, {.kind = Branching::Kind::split, .value = top});
        tree.nodes[0].levels = 0;
        const int label = to_int(seed) % instance.n_classes();
        tree = child_after(instance, tree, 0, {.kind = Branching::Kind::label, .value = label});
        const std::vector<Branching> branchings =
            branchings_of(instance, tree, 1, incumbent.target());
        const double multiplier =
            0.2 * instance.total() / instance.budget();  // where something is left to prove
        const BoundRequest request{.tree = tree,
                                   .node = 1,
                                   .branchings = branchings,
                                   .multiplier = multiplier,
                                   .highest_open = multiplier,
                                   .lowest_open = multiplier,
                                   .max_steps = 20};
        Potentials potentials(instance.n_classes());
        const BranchBounds found = bounds.compute(request, potentials);
        Evaluator evaluate(instance);
        for (std::size_t b = 0; b < branchings.size(); ++b) {
            double least = infinity;
            for (int labels = 0; labels < instance.n_classes() * instance.n_classes(); ++labels) {
                HeapTree completion = tree.fixed;
                const bool is_split = branchings[b].kind == Branching::Kind::split;
                completion[3] = is_split ? HeapNode::branch(branchings[b].value)
                                         : HeapNode::leaf(branchings[b].value);
                if (is_split) {
                    completion[6] = HeapNode::leaf(labels % instance.n_classes());
                    completion[7] = HeapNode::leaf(labels / instance.n_classes());
                }
                least = std::min(least, loss_at(instance, evaluate, completion, multiplier));
            }
            CHECK(found.loss[b] <= least + 1e-9);
            CHECK(found.loss[b] >= DecidedBound(instance).compute(request, potentials).loss[b]);
        }
        const BoundStatistics& cheap = bounds.bounds()[0]->statistics;
        const BoundStatistics& expensive = bounds.bounds()[1]->statistics;
        CHECK(cheap.calls == 1);
        CHECK(cheap.branchings == static_cast<long long>(branchings.size()));
        CHECK(expensive.calls == (cheap.closed < cheap.branchings ? 1 : 0));
        CHECK(expensive.branchings == (expensive.calls > 0 ? cheap.branchings - cheap.closed : 0));
    }
}

TEST_CASE("a team does every task once, with any number of threads, again and again") {
    for (const int n_threads : {1, 2, 3, 8}) {
        ThreadTeam team(n_threads);
        CHECK(team.size() == static_cast<std::size_t>(n_threads));
        for (std::size_t n_tasks = 0; n_tasks < 200; ++n_tasks) {
            std::vector<int> done(n_tasks, 0);
            std::vector<std::size_t> last(team.size(), 0);
            std::atomic<int> n_descents = 0;
            team.run(n_tasks, [&](std::size_t task, std::size_t thread) {
                ++done[task];
                if (task < last[thread]) ++n_descents;
                last[thread] = task;
            });
            CHECK(std::ranges::all_of(done, [](int n) { return n == 1; }));
            CHECK(n_descents == 0);
        }
        if (n_threads == 3)  // helpers that fell asleep come back
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

TEST_CASE("what a task throws reaches the caller, and the team goes on") {
    ThreadTeam team(3);
    for (std::size_t thrower = 0; thrower < 40; ++thrower) {
        const auto job = [&](std::size_t task, std::size_t) {
            if (task == thrower) throw std::runtime_error("enough");
        };
        CHECK_THROWS_AS(team.run(40, job), std::runtime_error);
        std::atomic<int> n_done = 0;
        team.run(40, [&](std::size_t, std::size_t) { ++n_done; });
        CHECK(n_done == 40);
    }
}

TEST_CASE("a bound closes multipliers around it, as far as it is proved") {
    MultiplierIntervals set({0.05, 3.0}, nullptr);
    set.close(plain, {1.0, 9.0});  // required_loss 10: too low
    CHECK(set.intervals().size() == 1);
    set.close(plain, {1.0, 15.0});  // gap 5: down to 0.5, up to 80 / 75
    REQUIRE(set.intervals().size() == 2);
    CHECK(set.intervals()[0].high == doctest::Approx(0.5));
    CHECK(set.intervals()[1].low == doctest::Approx(80.0 / 75.0));
    Target down = plain;
    down.upward_closing = false;
    MultiplierIntervals other({0.05, 3.0}, nullptr);
    other.close(down, {1.0, 15.0});
    CHECK(other.intervals()[1].low == doctest::Approx(1.0));
    set.close(plain, {3.0, 100.0});
    CHECK(set.empty());
}

TEST_CASE("a tree that loses nothing is not closed by a bound of nothing") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const RandomTask made(seed, 2 + seed % 5, 2, 3);
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        const double n = instance.total();
        const Target target{.total = n,
                            .budget = instance.budget(),
                            .cutoff = n - 1.0,
                            .tie_margin = tie_margin_of(instance)};
        MultiplierIntervals open = MultiplierIntervals::all(instance, target, 2, nullptr);
        if (instance.budget() > 0 && instance.max_margin(2) <= instance.budget())
            continue;  // then every tree loses something
        const double low = open.lowest();
        open.close(target, {low, 0.0});
        CHECK(!open.empty());
        if (instance.budget() > 0) CHECK(target.required_loss(low) > 0.0);
    }
}

TEST_CASE("at multiplier 0, no tree needs a split of a column that every row can afford") {
    int seen = 0;
    for (unsigned seed = 0; seed < 400; ++seed) {
        const RandomTask made(seed, 6, 3, 3);
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        if (instance.budget() <= 0 || instance.max_finite_margin(2) > instance.budget()) continue;
        Evaluator evaluate(instance);
        double best = 0.0, best_of_others = 0.0;
        for (int label = 0; label < instance.n_classes(); ++label) {
            double correct = 0.0;
            for (std::size_t i = 0; i < instance.n_rows(); ++i)
                correct += instance.label(i) == label ? instance.weight(i) : 0.0;
            best_of_others = std::max(best_of_others, correct);
        }
        int affordable = 0;
        for_all_trees(instance, 2, [&](const HeapTree& tree) {
            evaluate(tree);
            double unreached = 0.0;  // rows with infinite margins
            for (std::size_t i = 0; i < instance.n_rows(); ++i)
                unreached += evaluate.margins()[i] == infinity ? instance.weight(i) : 0.0;
            best = std::max(best, unreached);
            const bool splits_affordable = std::ranges::any_of(tree, [&](const HeapNode& node) {
                return node.split >= 0 && instance.is_affordable(instance.column_of(node.split));
            });
            if (!splits_affordable) best_of_others = std::max(best_of_others, unreached);
            affordable += splits_affordable ? 1 : 0;
        });
        seen += affordable > 0 && best > 0.0 ? 1 : 0;
        CHECK(best <= best_of_others);
    }
    CHECK(seen > 20);
}

TEST_CASE("a loss that is large enough at any multiplier closes 0") {
    Target target = plain;
    target.zero_margin = 0.875;
    const double required = target.required_loss(0.0);
    CHECK(required == plain.total - plain.cutoff - 0.875);
    const auto all = [] {
        return MultiplierIntervals(std::vector<Interval>{{0.0, 0.0}, {0.1, 3.0}}, nullptr);
    };
    MultiplierIntervals set = all();
    set.close(target, {0.0, required - 0.1});
    CHECK(set.contains_zero());
    set.close(target, {0.0, 1e9});  // a bound at 0 says nothing about other multipliers
    REQUIRE(!set.empty());
    CHECK(!set.contains_zero());
    CHECK(set.highest() == 3.0);
    MultiplierIntervals other = all();
    other.close(target, {2.0, required});
    CHECK(!other.contains_zero());
    MultiplierIntervals too_low = all();
    too_low.close(target, {2.0, required - 0.01});
    CHECK(too_low.contains_zero());
    CHECK(set.max_dual(target, {}) > 0.0);
    MultiplierIntervals only_zero({0.0, 0.0}, nullptr);
    CHECK(only_zero.max_dual(target, {{0.5, 12.0}}) == doctest::Approx(plain.total - 12.0 - 0.875));
}

TEST_CASE(
    "where every row reaches every point, no tree with two labels has its largest dual value below "
    "the "
    "lowest multiplier") {
    int seen = 0;
    for (unsigned seed = 0; seed < 400; ++seed) {
        const RandomTask made(seed, 5, 2, 3);
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        if (instance.budget() <= 0 || instance.max_margin(1) > instance.budget()) continue;
        ++seen;
        const Target target{.total = instance.total(), .budget = instance.budget(), .cutoff = 0.0};
        const double low = MultiplierIntervals::all(instance, target, 1, nullptr).lowest();
        Evaluator evaluate(instance);
        for (int split = 0; split < instance.n_splits(); ++split) {
            HeapTree tree = empty_tree(1);
            tree[1] = HeapNode::branch(split);
            tree[2] = HeapNode::leaf(0);
            tree[3] = HeapNode::leaf(1);
            const Evaluation found = evaluate(tree);
            CHECK((found.correct == 0.0 || found.dual_multiplier >= low));
        }
    }
    CHECK(seen > 20);
}

TEST_CASE("the largest dual value of open multipliers uses what is known at higher ones") {
    MultiplierIntervals set({0.1, 2.0}, nullptr);
    CHECK(set.max_dual(plain, {}) == doctest::Approx(99.0));
    CHECK(set.max_dual(plain, {{2.0, 5.0}}) == doctest::Approx(94.0));
    CHECK(set.max_dual(plain, {{1.0, 12.0}, {2.0, 5.0}}) == doctest::Approx(87.0));
    CHECK(set.max_dual(plain, {{1.0, 12.0}, {2.0, 5.0}, {3.0, 4.0}}) ==
          doctest::Approx(87.0));                                        // nothing is open beyond 2
    CHECK(set.max_dual(plain, {{1.0, 12.0}}) == doctest::Approx(90.0));  // nothing is known above 1
    Breakpoints breakpoints;
    breakpoints.multipliers = {0.1, 0.5, 1.0, 2.0};
    breakpoints.complete_from = 0.0;
    const MultiplierIntervals few(
        {0.1, 2.0},
        &breakpoints);  // at 0.1 and 0.5 at least 12 are lost, at 1 at least 9, at 2 at least 5
    CHECK(few.max_dual(plain, {{0.5, 12.0}, {1.0, 9.0}, {2.0, 5.0}}) == doctest::Approx(87.0));
    CHECK(few.max_dual(plain, {{0.5, 12.0}, {2.0, 5.0}}) == doctest::Approx(87.0));
    CHECK(few.max_dual(plain, {{0.1, 15.0}, {0.5, 12.0}, {2.0, 5.0}}) == doctest::Approx(85.0));
    breakpoints.complete_from = 1.0;  // below, any multiplier counts
    CHECK(few.max_dual(plain, {{0.5, 12.0}, {1.0, 9.0}, {2.0, 5.0}}) == doctest::Approx(87.0));
    CHECK(few.max_dual(plain, {{0.1, 15.0}, {0.5, 12.0}, {1.0, 9.0}, {2.0, 5.0}}) ==
          doctest::Approx(87.0));
}

TEST_CASE("between breakpoints nothing is open") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        const RandomTask made(seed, 6, 3, 4);
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        if (instance.budget() <= 0) continue;
        double complete = 0.0;
        const std::vector<double> margins = instance.possible_margins(2, 5'000, complete);
        CHECK(complete == instance.budget());
        const Target target{.budget = instance.budget()};
        const Breakpoints breakpoints(instance, target, 2, 5'000);
        CHECK(breakpoints.multipliers.size() == margins.size() + 1);
        CHECK(std::ranges::is_sorted(breakpoints.multipliers));
        for (std::size_t k = 0; k + 1 < breakpoints.multipliers.size(); ++k) {
            const double a = breakpoints.multipliers[k], b = breakpoints.multipliers[k + 1];
            CHECK(
                MultiplierIntervals({a + 0.3 * (b - a), a + 0.6 * (b - a)}, &breakpoints).empty());
            const MultiplierIntervals one({a + 0.3 * (b - a), b}, &breakpoints);
            REQUIRE(one.intervals().size() == 1);
            CHECK(one.intervals()[0].low == b);
        }
    }
}

TEST_CASE("column by column, bounds for all sizes lead to the same value and size") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const RandomTask made(seed, 24, 4, 4, 2 + seed % 2);
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        const auto solved = [&](double max_subset_sums, bool bounds_by_size) {
            SearchParams params;
            params.max_subset_sums = max_subset_sums;
            params.bounds_by_size = bounds_by_size;
            Search search(instance, 3, 1.0 / 8, params, {}, 1,
                          [](const SearchState&) { return true; });
            search.run();
            REQUIRE(search.state().proved);
            return search.state();
        };
        const SearchState known = solved(1e6, false);
        for (const bool bounds_by_size : {false, true}) {
            const SearchState found = solved(0.0, bounds_by_size);
            CHECK(found.value == known.value);
            CHECK(found.n_splits == known.n_splits);
            CHECK(found.upper_bound == known.upper_bound);
        }
    }
}

TEST_CASE("deepening settles the target that it was given: a proof about size is about size") {
    int n_smaller = 0;  // problems in which the number of splits matters
    for (unsigned seed = 0; seed < 150; ++seed) {
        RandomTask made(seed, 30, 4, 3, 2);
        if (made.task.splits.empty()) continue;
        made.task.budget = 0.0;
        const Instance instance(made.task);
        const auto solved = [&](SearchParams params, int n_jobs) {
            Search search(instance, 4, 1.0 / 16, params, {}, n_jobs,
                          [](const SearchState&) { return true; });
            search.run();
            REQUIRE(search.state().proved);
            return search.state();
        };
        SearchParams directly, at_once;
        directly.iterative_deepening = false;
        at_once.deepening_after = 1;
        const SearchState known = solved(directly, 1);
        for (const SearchState& found : {solved(SearchParams{}, 2), solved(at_once, 1)}) {
            CHECK(found.value == known.value);
            CHECK(found.n_splits == known.n_splits);
        }
        n_smaller += known.n_splits < 15;
    }
    CHECK(n_smaller > 0);
}

TEST_CASE("a deeper search is never worse than a shallower one with half of its work") {
    const auto searched = [](const Instance& instance, int depth, long long work) {
        SearchParams params;
        params.local_search = false;  // so that something is left to find
        Search search(instance, depth, 1.0 / 64, params, {.work = work}, 1,
                      [](const SearchState&) { return true; });
        search.run();
        CHECK(search.state().work <= work);
        return search.state();
    };
    int n_unproved = 0;
    for (unsigned seed = 0; seed < 120; ++seed) {
        const RandomTask made(seed, 40, 5, 4, 2 + seed % 2);
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        for (int depth = 2; depth <= 4; ++depth) {
            for (const long long work : {2, 10, 40, 160, 640}) {
                const SearchState deep = searched(instance, depth, work);
                const SearchState shallow = searched(instance, depth - 1, work / 2);
                const double gain = deep.value - shallow.value;
                CHECK(gain >= 1.0 / 64 * (deep.n_splits - shallow.n_splits));
                n_unproved += !deep.proved;
            }
        }
    }
    CHECK(n_unproved > 100);
}

TEST_CASE(
    "the search finds the best of all trees, with any number of threads, and no bound is wrong") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const RandomTask made(seed, 8, 2, 3, 2 + seed % 2);
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        const double best = best_of_all(instance, 2);
        for (const int n_jobs : {1, 2, 4}) {
            Search search(instance, 2, 0.0, SearchParams{}, {}, n_jobs,
                          [](const SearchState&) { return true; });
            search.run();
            CHECK(search.state().proved);
            CHECK(search.state().value == best);
            CHECK(search.state().upper_bound == best);
            CHECK(search.any_model_bound() >= best);
            CHECK(Evaluator(instance)(search.best_tree()).correct == best);
        }
        SearchParams as_if_large;
        as_if_large.many_splits = 0;
        as_if_large.first_splits = 1 + seed % 3;
        as_if_large.max_subset_sums = 0;
        as_if_large.min_run = 1 + seed % 3;
        as_if_large.all_pairs = as_if_large.full_domain = seed % 2 == 0;
        as_if_large.n_neighbours = 1 + seed % 4;
        Search large(instance, 2, 0.0, as_if_large, {}, 1, [](const SearchState&) { return true; });
        large.run();
        CHECK(large.state().proved);
        CHECK(large.state().value == best);
        for (const long long work : {1, 3, 10, 30, 100}) {
            for (const SearchParams& params : {SearchParams{}, as_if_large}) {
                Search stopped(instance, 2, 0.25, params, {.seconds = infinity, .work = work}, 1,
                               [](const SearchState&) { return true; });
                stopped.run();
                CHECK(stopped.state().upper_bound >= best);
            }
        }
    }
}

TEST_CASE("few splits in place of many: some of each column, in order, each once") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const RandomTask made(seed, 12, 3, 5, 2 + seed % 2);
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        for (const std::size_t most : {1, 2, 5, 9, 100}) {
            const std::vector<int> splits = coarse_splits(instance, most);
            CHECK(!splits.empty());
            CHECK(splits.size() <=
                  std::max(most, 5 * static_cast<std::size_t>(instance.n_columns())));
            CHECK(std::ranges::is_sorted(splits));
            CHECK(std::ranges::adjacent_find(splits) == splits.end());
            CHECK(splits.front() >= 0);
            CHECK(splits.back() < instance.n_splits());
        }
    }
}

TEST_CASE("bounds at the root tell about smaller trees, too") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const RandomTask made(seed, 8, 2, 3);
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        for (const double penalty : {0.0, 0.01, 0.3, 1.0}) {
            SearchParams apart;
            apart.bounds_by_size = false;
            Search along(instance, 2, penalty, SearchParams{}, {}, 1,
                         [](const SearchState&) { return true; });
            Search alone(instance, 2, penalty, apart, {}, 1,
                         [](const SearchState&) { return true; });
            along.run();
            alone.run();
            const auto class_weights = [&](const Search& search) {
                return search.state().value - penalty * search.state().n_splits;
            };
            CHECK(class_weights(along) == doctest::Approx(class_weights(alone)));
            if (penalty == 0.01) CHECK(along.state().n_splits == alone.state().n_splits);
        }
    }
}

TEST_CASE("no labelling of the points beats the max_cost of any model") {
    for (unsigned seed = 0; seed < 40; ++seed) {
        const RandomTask made(seed, 7, 2, 2);  // four points
        if (made.task.splits.empty()) continue;
        const Instance instance(made.task);
        const auto points = all_points(instance);
        double best = 0.0;
        for (unsigned labels = 0; labels < (1u << points.size()); ++labels) {
            std::vector<double> margins;
            for (std::size_t i = 0; i < instance.n_rows(); ++i) {
                double margin = infinity;
                for (std::size_t z = 0; z < points.size(); ++z) {
                    if (static_cast<int>(labels >> z & 1) != instance.label(i))
                        margin = std::min(margin, cost_of(instance, i, points[z].data()));
                }
                for (int k = 0; k < static_cast<int>(instance.weight(i)); ++k)
                    margins.push_back(margin);
            }
            best = std::max(best, kept(instance, margins));
        }
        Search search(instance, 1, 0.0, SearchParams{}, {}, 1,
                      [](const SearchState&) { return true; });
        search.run();
        CHECK(search.any_model_bound() >= best);
    }
}

TEST_CASE(
    "the greedy tree asks for the split that leaves the least impurity, by_size sample by sample") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        RandomTask made(seed, 12, 3, 4, 2 + seed % 2);
        made.task.constraints = {std::make_shared<MinLeafSize>(seed % 3)};
        const Instance instance(made.task);
        const auto impurity_of = [&](int split) {
            double sum = 0.0;
            for (const bool side : {true, false}) {
                std::vector<double> counts(static_cast<std::size_t>(instance.n_classes()), 0.0);
                double all = 0.0, squares = 0.0, held = 0.0;
                for (std::size_t i = 0; i < instance.n_rows(); ++i) {
                    if (split >= 0 && instance.is_true(split, instance.point(i)) != side) continue;
                    counts[static_cast<std::size_t>(instance.label(i))] += instance.weight(i);
                    held += instance.size(i);
                }
                for (const double weight : counts) {
                    all += weight;
                    squares += weight * weight;
                }
                if (held == 0.0 || held < min_leaf_size(instance)) return infinity;
                sum += all - squares / all;
                if (split < 0) break;
            }
            return sum;
        };
        double least = impurity_of(-1);
        for (int split = 0; split < instance.n_splits(); ++split)
            least = std::min(least, impurity_of(split));
        const HeapTree tree = greedy_tree(instance, 1);
        CHECK(impurity_of(tree[1].split) == doctest::Approx(least));
    }
}

namespace {

/// The constraint of docs/extending.md, "A tree constraint".
class NoSplitOnFirstColumn : public TreeConstraint {
public:
    std::string_view name() const override { return "no_split_on_first_column"; }
    std::vector<int> admitted_splits(const Instance& instance, const Box& box) const override {
        std::vector<int> admitted = box.splits;
        std::erase_if(admitted, [&](int split) { return instance.column_of(split) == 0; });
        return admitted;
    }
    bool admits(const Instance& instance, const HeapTree& tree) const override {
        return admits_from(instance, tree, 1);
    }
    bool leaf_is_trivial_split() const override { return true; }

private:
    static bool admits_from(const Instance& instance, const HeapTree& tree, std::size_t at) {
        if (tree[at].is_leaf()) return true;
        return instance.column_of(tree[at].split) != 0 && admits_from(instance, tree, 2 * at) &&
               admits_from(instance, tree, 2 * at + 1);
    }
};

}  // namespace

TEST_CASE("the search finds the best of all trees that a constraint of one's own admits") {
    int n_restricted = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        RandomTask made(seed, 8, 2, 3, 2 + seed % 2);
        if (made.task.splits.empty()) continue;
        const Instance free(made.task);
        made.task.constraints = {std::make_shared<NoSplitOnFirstColumn>()};
        const Instance instance(made.task);
        // Without the splits, independent of the constraint's own `admits`.
        const std::size_t first = made.task.splits.front().feature;
        std::erase_if(made.task.splits, [&](const Split& split) { return split.feature == first; });
        made.task.constraints.clear();
        if (made.task.splits.empty()) continue;
        const double best = best_of_all(Instance(made.task), 2);
        n_restricted += best < best_of_all(free, 2);
        for (const int n_jobs : {1, 2}) {
            Search search(instance, 2, 0.0, SearchParams{}, {}, n_jobs,
                          [](const SearchState&) { return true; });
            search.run();
            CHECK(search.state().proved);
            CHECK(search.state().value == best);
            CHECK(search.state().upper_bound >= best);
            CHECK(Evaluator(instance)(search.best_tree()).correct == best);
        }
    }
    CHECK(n_restricted > 5);
}
