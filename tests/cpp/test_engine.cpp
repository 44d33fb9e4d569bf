#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

#include "random_task.h"
#include "search/engine/coarse.h"
#include "search/engine/greedy.h"
#include "search/engine/search.h"

using namespace hardwood;
using namespace hardwood::search;
using namespace hardwood::search::testing;

namespace {

const Question plain{100.0, 10.0, 80.0, 7, false, true, 0.0};

// The best tree by trying all of them.
double best_of_all(const Instance& instance, int depth) {
    Evaluator evaluate(instance);
    double best = -1.0;
    Skeleton tree = empty_tree(depth);
    const auto places = static_cast<std::size_t>((1 << (depth + 1)) - 1);
    const std::function<void(std::size_t)> fill = [&](std::size_t at) {
        if (at > places) {
            best = std::max(best, evaluate(tree).correct);
            return;
        }
        const bool bottom = 2 * at > places;
        for (int choice = 0; choice < (bottom ? instance.n_classes() : instance.n_tests()); ++choice) {
            tree[at] = bottom ? Choice{-1, choice} : Choice{choice, 0};
            fill(at + 1);
        }
    };
    fill(1);
    return best;
}

// The bound of CONTRIBUTING.md, "How to add a bound": rows that stand where a wrong label is decided are lost.
class DecidedBound : public Bound {
public:
    explicit DecidedBound(const Instance& instance) : instance_(instance) {}

    std::string_view name() const override { return "decided"; }
    bool serves(const Node& node) const override {
        return std::ranges::any_of(node.places, [](const Place& place) { return !place.is_open(); });
    }
    OptionBounds at(const Inquiry& inquiry) override {
        double lost = 0.0;
        for (const Place& place : inquiry.node.places) {
            for (std::size_t i = 0; i < instance_.n_rows() && !place.is_open(); ++i) {
                const bool wrong = contains(instance_, place.box.key, instance_.point(i)) && instance_.label(i) != place.label;
                lost += wrong ? instance_.count(i) : 0.0;
            }
        }
        ++statistics.steps;
        return {inquiry.price, std::vector<double>(inquiry.options.size(), lost)};
    }

private:
    const Instance& instance_;
};

double loss_at(const Instance& instance, Evaluator& evaluate, const Skeleton& tree, double price) {
    evaluate(tree);
    double loss = 0.0;
    for (std::size_t i = 0; i < instance.n_rows(); ++i) {
        loss += instance.count(i) * std::max(0.0, 1.0 - price * evaluate.margins()[i]);
    }
    return loss;
}

}  // namespace

TEST_CASE("no bound of a ladder exceeds the loss of a completion, the largest counts, and what they do is counted") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const RandomTask made(seed, 8, 2, 3, 2 + seed % 2);
        if (made.task.tests.empty()) continue;
        const Instance instance(made.task);
        if (instance.budget() <= 0) continue;
        Watch watch(infinity, -1, [] { return true; });
        const Effort effort;
        Contest contest(instance, 0.0, 2, effort);
        contest.ask(instance.n_samples() / 2.0, contest.all_tests());
        Worker worker(instance, contest, watch, effort);
        BoundLadder ladder(contest);
        ladder.add(std::make_unique<DecidedBound>(instance));
        ladder.add(std::make_unique<MeasureBound>(instance, worker.support, contest, worker.judge, watch, effort));
        // A test on top, a leaf on its first side, one more level on the other.
        Node root{empty_tree(2), {{1, whole_domain(instance), 2}}, 0, {}, {}, Potentials(instance.n_classes())};
        const int top = root.places[0].box.tests[seed % root.places[0].box.tests.size()];
        Node node = taken(instance, root, 0, {Option::Kind::test, top});
        node.places[0].levels = 0;
        const int label = static_cast<int>(seed) % instance.n_classes();
        node = taken(instance, node, 0, {Option::Kind::label, label});
        const std::vector<Option> options = options_of(instance, node, 1, contest.question());
        const double price = 0.2 * instance.n_samples() / instance.budget();  // where something is left to prove
        const OptionBounds found = ladder.at({node, 1, options, price, price, price, 20});
        Evaluator evaluate(instance);
        for (std::size_t o = 0; o < options.size(); ++o) {
            double least = infinity;
            for (int labels = 0; labels < instance.n_classes() * instance.n_classes(); ++labels) {
                Skeleton tree = node.fixed;
                const bool is_test = options[o].kind == Option::Kind::test;
                tree[3] = is_test ? Choice{options[o].number, 0} : Choice{-1, options[o].number};
                if (is_test) {
                    tree[6] = {-1, labels % instance.n_classes()};
                    tree[7] = {-1, labels / instance.n_classes()};
                }
                least = std::min(least, loss_at(instance, evaluate, tree, price));
            }
            CHECK(found.loss[o] <= least + 1e-9);
            const double decided = DecidedBound(instance).at({node, 1, options, price, price, price, 20}).loss[o];
            CHECK(found.loss[o] >= decided);
        }
        const BoundStatistics& cheap = ladder.bounds()[0]->statistics;
        const BoundStatistics& dear = ladder.bounds()[1]->statistics;
        CHECK(cheap.calls == 1);
        CHECK(cheap.options == static_cast<long long>(options.size()));
        CHECK(dear.calls == (cheap.closed < cheap.options ? 1 : 0));
        CHECK(dear.options == (dear.calls > 0 ? cheap.options - cheap.closed : 0));
    }
}

TEST_CASE("what a thread throws ends all of them") {
    for (const int thrower : {0, 1, 2}) {
        Watch watch(infinity, -1, [] { return true; });
        Team team(watch, 3);
        const auto job = [&](int k) {
            if (k == thrower) throw std::runtime_error("enough");
            while (!team.watch(k).stopped()) {
            }
        };
        CHECK_THROWS_AS(team.all(job), std::runtime_error);
    }
}

TEST_CASE("a bound closes prices around it, as far as it is proved") {
    PriceSet set({0.05, 3.0}, nullptr);
    set.close(plain, {1.0, 9.0});  // goal 10: too low
    CHECK(set.open().size() == 1);
    set.close(plain, {1.0, 15.0});  // gap 5: down to 0.5, up to 80 / 75
    REQUIRE(set.open().size() == 2);
    CHECK(set.open()[0].high == doctest::Approx(0.5));
    CHECK(set.open()[1].low == doctest::Approx(80.0 / 75.0));
    Question down = plain;
    down.upward = false;
    PriceSet other({0.05, 3.0}, nullptr);
    other.close(down, {1.0, 15.0});
    CHECK(other.open()[1].low == doctest::Approx(1.0));
    set.close(plain, {3.0, 100.0});
    CHECK(set.empty());
}

TEST_CASE("a tree that loses nothing is not closed by a bound of nothing") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const RandomTask made(seed, 2 + seed % 5, 2, 3);
        if (made.task.tests.empty()) continue;
        const Instance instance(made.task);
        const double n = instance.n_samples();
        const Question question{n, instance.budget(), n - 1.0, 0, false, true, head_start_of(instance)};
        PriceSet open = PriceSet::all(instance, question, 2, nullptr);
        if (instance.budget() > 0 && instance.longest_margin(2) <= instance.budget()) continue;  // then every tree loses something
        const double low = open.open().front().low;
        open.close(question, {low, 0.0});
        CHECK(!open.empty());
        if (instance.budget() > 0) CHECK(question.goal(low) > 0.0);
    }
}

TEST_CASE("where everybody gets everywhere, no tree with two labels has its largest dual value below the lowest price") {
    int seen = 0;
    for (unsigned seed = 0; seed < 400; ++seed) {
        const RandomTask made(seed, 5, 2, 3);
        if (made.task.tests.empty()) continue;
        const Instance instance(made.task);
        if (instance.budget() <= 0 || instance.longest_margin(1) > instance.budget()) continue;
        ++seen;
        const Question question{instance.n_samples(), instance.budget(), 0.0, 0, false, true, 0.0};
        const double low = PriceSet::all(instance, question, 1, nullptr).open().front().low;
        Evaluator evaluate(instance);
        for (int test = 0; test < instance.n_tests(); ++test) {
            Skeleton tree = empty_tree(1);
            tree[1] = {test, 0};
            tree[2] = {-1, 0};
            tree[3] = {-1, 1};
            const Evaluation found = evaluate(tree);
            CHECK((found.correct == 0.0 || found.dual_price >= low));
        }
    }
    CHECK(seen > 20);
}

TEST_CASE("the largest dual value of open prices uses what is known at higher ones") {
    PriceSet set({0.1, 2.0}, nullptr);
    CHECK(set.largest_dual(plain, {}) == doctest::Approx(99.0));
    CHECK(set.largest_dual(plain, {{2.0, 5.0}}) == doctest::Approx(94.0));
    CHECK(set.largest_dual(plain, {{1.0, 12.0}, {2.0, 5.0}}) == doctest::Approx(87.0));
    CHECK(set.largest_dual(plain, {{1.0, 12.0}, {2.0, 5.0}, {3.0, 4.0}}) == doctest::Approx(87.0));  // nothing is open beyond 2
    CHECK(set.largest_dual(plain, {{1.0, 12.0}}) == doctest::Approx(90.0));  // nothing is known above 1
    Kinks kinks;
    kinks.prices = {0.1, 0.5, 1.0, 2.0};
    kinks.complete = 0.0;
    const PriceSet few({0.1, 2.0}, &kinks);  // at 0.1 and 0.5 at least 12 are lost, at 1 at least 9, at 2 at least 5
    CHECK(few.largest_dual(plain, {{0.5, 12.0}, {1.0, 9.0}, {2.0, 5.0}}) == doctest::Approx(87.0));
    CHECK(few.largest_dual(plain, {{0.5, 12.0}, {2.0, 5.0}}) == doctest::Approx(87.0));
    CHECK(few.largest_dual(plain, {{0.1, 15.0}, {0.5, 12.0}, {2.0, 5.0}}) == doctest::Approx(85.0));
    kinks.complete = 1.0;  // below, any price counts
    CHECK(few.largest_dual(plain, {{0.5, 12.0}, {1.0, 9.0}, {2.0, 5.0}}) == doctest::Approx(87.0));
    CHECK(few.largest_dual(plain, {{0.1, 15.0}, {0.5, 12.0}, {1.0, 9.0}, {2.0, 5.0}}) == doctest::Approx(87.0));
}

TEST_CASE("between kinks nothing is open") {
    for (unsigned seed = 0; seed < 100; ++seed) {
        const RandomTask made(seed, 6, 3, 4);
        if (made.task.tests.empty()) continue;
        const Instance instance(made.task);
        if (instance.budget() <= 0) continue;
        double complete = 0.0;
        const std::vector<double> margins = instance.possible_margins(2, 5'000, complete);
        CHECK(complete == instance.budget());
        const Kinks kinks(instance, 2, 5'000);
        CHECK(kinks.prices.size() == margins.size() + 1);
        CHECK(std::ranges::is_sorted(kinks.prices));
        for (std::size_t k = 0; k + 1 < kinks.prices.size(); ++k) {
            const double a = kinks.prices[k], b = kinks.prices[k + 1];
            CHECK(PriceSet({a + 0.3 * (b - a), a + 0.6 * (b - a)}, &kinks).empty());
            const PriceSet one({a + 0.3 * (b - a), b}, &kinks);
            REQUIRE(one.open().size() == 1);
            CHECK(one.open()[0].low == b);
        }
    }
}

TEST_CASE("the search finds the best of all trees, with one thread and with two, and no bound is wrong") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const RandomTask made(seed, 8, 2, 3, 2 + seed % 2);
        if (made.task.tests.empty()) continue;
        const Instance instance(made.task);
        const double best = best_of_all(instance, 2);
        for (const int n_jobs : {1, 2}) {
            Search search(instance, 2, 0.0, Effort{}, {}, n_jobs, [](const State&) { return true; });
            search.run();
            CHECK(search.state().proved);
            CHECK(search.state().value == best);
            CHECK(search.state().upper_bound == best);
            CHECK(search.any_model_bound() >= best);
            CHECK(Evaluator(instance)(search.best_tree()).correct == best);
        }
        Effort as_if_large;
        as_if_large.many_tests = 0;
        as_if_large.first_tests = 1 + seed % 3;
        as_if_large.most_sums = 0;
        as_if_large.shortest_run = 1 + seed % 3;
        as_if_large.all_pairs = as_if_large.whole_domains = seed % 2 == 0;
        as_if_large.points_nearby = 1 + seed % 4;
        Search large(instance, 2, 0.0, as_if_large, {}, 1, [](const State&) { return true; });
        large.run();
        CHECK(large.state().proved);
        CHECK(large.state().value == best);
        for (const long long work : {1, 3, 10, 30, 100}) {
            for (const Effort& effort : {Effort{}, as_if_large}) {
                Search stopped(instance, 2, 0.25, effort, {infinity, work}, 1, [](const State&) { return true; });
                stopped.run();
                CHECK(stopped.state().upper_bound >= best);
            }
        }
    }
}

TEST_CASE("few tests in place of many: some of each column, in order, each once") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const RandomTask made(seed, 12, 3, 5, 2 + seed % 2);
        if (made.task.tests.empty()) continue;
        const Instance instance(made.task);
        for (const std::size_t most : {1, 2, 5, 9, 100}) {
            const std::vector<int> tests = coarse_tests(instance, most);
            CHECK(!tests.empty());
            CHECK(tests.size() <= std::max(most, 5 * static_cast<std::size_t>(instance.n_columns())));
            CHECK(std::ranges::is_sorted(tests));
            CHECK(std::ranges::adjacent_find(tests) == tests.end());
            CHECK(tests.front() >= 0);
            CHECK(tests.back() < instance.n_tests());
        }
    }
}

TEST_CASE("bounds at the root tell about smaller trees, too") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const RandomTask made(seed, 8, 2, 3);
        if (made.task.tests.empty()) continue;
        const Instance instance(made.task);
        for (const double penalty : {0.0, 0.01, 0.3, 1.0}) {
            Effort apart;
            apart.count_along = false;
            Search along(instance, 2, penalty, Effort{}, {}, 1, [](const State&) { return true; });
            Search alone(instance, 2, penalty, apart, {}, 1, [](const State&) { return true; });
            along.run();
            alone.run();
            const auto worth = [&](const Search& search) { return search.state().value - penalty * search.state().tests; };
            CHECK(worth(along) == doctest::Approx(worth(alone)));
            if (penalty == 0.01) CHECK(along.state().tests == alone.state().tests);
        }
    }
}

TEST_CASE("no labelling of the points beats the limit of any model") {
    for (unsigned seed = 0; seed < 40; ++seed) {
        const RandomTask made(seed, 7, 2, 2);  // four points
        if (made.task.tests.empty()) continue;
        const Instance instance(made.task);
        const auto points = all_points(instance);
        double best = 0.0;
        for (unsigned labels = 0; labels < (1u << points.size()); ++labels) {
            std::vector<double> margins;
            for (std::size_t i = 0; i < instance.n_rows(); ++i) {
                double margin = infinity;
                for (std::size_t z = 0; z < points.size(); ++z) {
                    if (static_cast<int>(labels >> z & 1) != instance.label(i)) margin = std::min(margin, cost_of(instance, i, points[z].data()));
                }
                for (int k = 0; k < static_cast<int>(instance.count(i)); ++k) margins.push_back(margin);
            }
            best = std::max(best, kept(instance, margins));
        }
        Search search(instance, 1, 0.0, Effort{}, {}, 1, [](const State&) { return true; });
        search.run();
        CHECK(search.any_model_bound() >= best);
    }
}

TEST_CASE("the greedy tree asks for the test that leaves the least impurity, counted sample by sample") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        RandomTask made(seed, 12, 3, 4, 2 + seed % 2);
        made.task.least_leaf = seed % 3;
        const Instance instance(made.task);
        const auto impurity_of = [&](int test) {
            double sum = 0.0;
            for (const bool side : {true, false}) {
                std::vector<double> counts(static_cast<std::size_t>(instance.n_classes()), 0.0);
                double all = 0.0, squares = 0.0, held = 0.0;
                for (std::size_t i = 0; i < instance.n_rows(); ++i) {
                    if (test >= 0 && instance.is_true(test, instance.point(i)) != side) continue;
                    counts[static_cast<std::size_t>(instance.label(i))] += instance.count(i);
                    held += instance.size(i);
                }
                for (const double count : counts) {
                    all += count;
                    squares += count * count;
                }
                if (held == 0.0 || held < instance.least_leaf()) return infinity;
                sum += all - squares / all;
                if (test < 0) break;
            }
            return sum;
        };
        double least = impurity_of(-1);
        for (int test = 0; test < instance.n_tests(); ++test) least = std::min(least, impurity_of(test));
        const Skeleton tree = greedy_tree(instance, 1);
        CHECK(impurity_of(tree[1].test) == doctest::Approx(least));
    }
}
