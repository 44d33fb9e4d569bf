// Translation between Python and C++, nothing else.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "adversary.h"
#include "search/engine/search.h"
#include "prices.h"
#include "tree.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Codes = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using Ints = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using PriceArray = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

hardwood::Table table_of(const Codes& values) { return {values.data(), values.shape(0), values.shape(1)}; }

template <typename T>
nb::ndarray<nb::numpy, T> to_numpy(std::unique_ptr<T[]> data, std::size_t size) {
    T* raw = data.release();
    nb::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::ndarray<nb::numpy, T>(raw, {size}, owner);
}

hardwood::Tree make_tree(Ints feature, Ints code, Ints left, Ints right, Ints ordered, Ints missing_left, std::size_t n_features) {
    std::vector<hardwood::Node> nodes(feature.size());
    for (const Ints& array : {code, left, right, ordered, missing_left}) {
        if (array.size() != nodes.size()) throw std::invalid_argument("arrays of nodes differ in length");
    }
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        nodes[k] = {feature(k), code(k), left(k), right(k), ordered(k) != 0, missing_left(k) != 0};
    }
    return hardwood::Tree(std::move(nodes), n_features);
}

nb::ndarray<nb::numpy, std::int32_t> leaf_of(const hardwood::Tree& tree, Codes values) {
    const hardwood::Table table = table_of(values);
    if (table.n_features != tree.n_features()) throw std::invalid_argument("table and tree differ in features");
    std::unique_ptr<std::int32_t[]> leaves(new std::int32_t[table.n_samples]);
    {
        nb::gil_scoped_release unlocked;
        tree.leaf_of(table, {leaves.get(), table.n_samples});
    }
    return to_numpy(std::move(leaves), table.n_samples);
}

struct PricesHolder {
    hardwood::FeaturePrices prices;
    PriceArray owner;  // these keep the numpy arrays alive
    std::optional<Doubles> missing;
    std::optional<Ints> codes;
    std::optional<PriceArray> table;
};

PricesHolder make_prices(PriceArray prices, bool ordered, bool may_rise, bool may_fall, std::int32_t lower,
                         std::int32_t upper, std::int32_t steps, const std::optional<Doubles>& missing,
                         const std::optional<Ints>& codes, const std::optional<PriceArray>& table) {
    PricesHolder holder{{prices.data(), prices.shape(0), prices.shape(1), ordered, may_rise, may_fall, lower, upper, steps},
                        prices, missing, codes, table};
    if (missing) {
        holder.prices.missing = missing->data();
        holder.prices.missing_rows = missing->size();
        if (!ordered || missing->size() == 0) throw std::invalid_argument("missing: expected a price, and an ordered feature");
    }
    if (codes.has_value() != table.has_value()) throw std::invalid_argument("table: expected its codes, too");
    if (table) {
        const std::size_t size = codes->size();
        if (size == 0 || table->shape(0) != size || table->shape(1) != size) throw std::invalid_argument("table: expected a square");
        for (std::size_t k = 1; k < size; ++k) {
            if ((*codes)(k - 1) >= (*codes)(k)) throw std::invalid_argument("table: expected codes that ascend");
        }
        for (std::size_t k = 0; k < size * size; ++k) {
            if (!(table->data()[k] >= 0)) throw std::invalid_argument("table: prices must not be negative");
        }
        holder.prices.table = {codes->data(), table->data(), size};
    }
    return holder;
}

// Whether the feature knows the price of every value in the table.
bool knows_values(const hardwood::FeaturePrices& prices, const hardwood::Table& table, std::size_t feature) {
    if (prices.missing_rows > 1 && prices.missing_rows != table.n_samples) return false;
    for (std::size_t i = 0; i < table.n_samples; ++i) {
        const std::int32_t code = table.column(feature)[i];
        if (prices.table.size > 0) {
            const std::size_t place = prices.table.place(code);
            if (place >= prices.table.size || prices.table.codes[place] != code) return false;
        } else if (code == hardwood::no_answer && prices.missing == nullptr) {
            return false;
        }
    }
    return true;
}

void check(const hardwood::Table& table, const std::vector<hardwood::FeaturePrices>& prices, const Ints& labels,
           const std::vector<hardwood::Region>& regions) {
    bool fits = prices.size() == table.n_features && labels.size() == table.n_samples;
    for (std::size_t f = 0; fits && f < prices.size(); ++f) {
        fits = (prices[f].rows == 1 || prices[f].rows == table.n_samples) && prices[f].columns >= 1 &&
               knows_values(prices[f], table, f);
    }
    for (const auto& region : regions) {
        for (const auto& limit : region.limits) {
            fits = fits && limit.feature < table.n_features &&
                   (limit.allowed.empty() == prices[limit.feature].ordered) &&
                   (prices[limit.feature].columns == 1 || prices[limit.feature].columns == limit.allowed.size());
            for (std::size_t i = 0; fits && !limit.allowed.empty() && i < table.n_samples; ++i) {
                const std::int32_t code = table.column(limit.feature)[i];
                fits = code >= 0 && static_cast<std::size_t>(code) < limit.allowed.size();
            }
        }
    }
    if (!fits) throw std::invalid_argument("table, prices, labels and regions do not fit together");
}

using Margins = std::pair<nb::ndarray<nb::numpy, double>, nb::ndarray<nb::numpy, std::int32_t>>;

Margins margins(Codes values, const std::vector<PricesHolder*>& holders, Ints labels,
                  const std::vector<hardwood::Region>& regions) {
    const hardwood::Table table = table_of(values);
    std::vector<hardwood::FeaturePrices> prices;
    for (const PricesHolder* holder : holders) prices.push_back(holder->prices);
    check(table, prices, labels, regions);
    std::unique_ptr<double[]> margin(new double[table.n_samples]);
    std::unique_ptr<std::int32_t[]> region_of(new std::int32_t[table.n_samples]);
    {
        nb::gil_scoped_release unlocked;
        hardwood::margins(table, prices, {labels.data(), labels.size()}, regions, {margin.get(), table.n_samples},
                          {region_of.get(), table.n_samples});
    }
    return {to_numpy(std::move(margin), table.n_samples), to_numpy(std::move(region_of), table.n_samples)};
}

// A problem for the search. Whatever Python hands over is checked here, so that nothing behind it has to.
struct SearchProblem {
    hardwood::search::Task task;
    int depth;
    double penalty;
    Codes values;  // these keep the arrays alive
    Ints labels;
    std::optional<Doubles> weights, leaf_sizes;
    std::vector<nb::object> prices;
};

void demand(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

void check_prices(const hardwood::Table& table, const hardwood::FeaturePrices& prices, std::size_t feature) {
    demand(prices.rows == 1 || prices.rows == table.n_samples, "prices: expected one row, or one for each sample");
    const std::size_t categories = prices.ordered ? 1 : static_cast<std::size_t>(prices.upper) + 1;
    demand(prices.ordered || prices.upper >= 0, "prices: a categorical feature needs categories");
    demand(prices.columns == 1 || (!prices.ordered && prices.columns == categories),
           "prices: expected one column, or one for each category");
    for (std::size_t k = 0; k < prices.rows * prices.columns; ++k) demand(prices.prices[k] >= 0, "prices must not be negative");
    for (std::size_t k = 0; k < prices.missing_rows; ++k) demand(prices.missing[k] >= 0, "missing: prices must not be negative");
    demand(knows_values(prices, table, feature), "values: a code has no price");
    for (std::size_t i = 0; i < table.n_samples && !prices.ordered; ++i) {
        const std::int32_t code = table.column(feature)[i];
        demand(code >= 0 && code <= prices.upper, "values: a code lies outside the categories");
    }
}

// By code, each once; where answers may be missing, each with and without "or no answer", then "no answer" below all codes.
void check_tests_of_feature(std::span<const hardwood::search::Test> tests, const hardwood::FeaturePrices& prices) {
    const char* const what = "tests: expected them by code, each once";
    if (!tests.front().missing) {
        for (std::size_t t = 0; t < tests.size(); ++t) {
            demand(!tests[t].missing && (t == 0 || tests[t - 1].code < tests[t].code), what);
        }
        return;
    }
    demand(prices.ordered && (prices.missing != nullptr || prices.table.size > 0), "tests: no answer is none of the values");
    demand(tests.size() % 2 == 1 && tests.back().missing && tests.back().code == -hardwood::no_answer, what);
    for (std::size_t t = 0; t + 1 < tests.size(); ++t) {
        demand(tests[t].missing == (t % 2 == 0) && tests[t].code > -hardwood::no_answer, what);
        if (t > 0) demand(t % 2 == 1 ? tests[t - 1].code == tests[t].code : tests[t - 1].code < tests[t].code, what);
    }
}

void check_task(const hardwood::search::Task& task) {
    namespace hs = hardwood::search;
    demand(task.table.n_samples > 0 && task.n_classes > 0, "there must be a sample and a class");
    demand(task.prices.size() == task.table.n_features, "prices: expected one entry for each feature");
    demand(task.labels.size() == task.table.n_samples, "labels: expected one for each sample");
    demand(task.n_classes <= 10'000, "n_classes: more than 10,000");
    demand(task.weights.empty() || task.weights.size() == task.table.n_samples, "weights: expected one for each sample");
    demand(task.worth.empty() || task.worth.size() == task.n_classes, "worth: expected one for each class");
    double total = task.weights.empty() ? 1.0 : 0.0;
    for (const double weight : task.weights) {
        demand(weight >= 0 && weight < hardwood::infinity, "weights: expected numbers >= 0");
        total += weight;
    }
    demand(total > 0 && total < hardwood::infinity, "weights: expected a finite sum > 0");
    demand(task.least_leaf >= 0 && task.least_leaf < hardwood::infinity, "least_leaf: expected a number >= 0");
    demand(task.leaf_sizes.empty() || task.leaf_sizes.size() == task.table.n_samples, "leaf_sizes: expected one for each sample");
    for (const double size : task.leaf_sizes) {
        demand(size >= 0 && size == std::floor(size) && size <= 0x1p53, "leaf_sizes: expected whole numbers >= 0");
    }
    for (const double worth : task.worth) demand(worth > 0 && worth < hardwood::infinity, "worth: expected numbers > 0");
    for (const std::int32_t label : task.labels) {
        demand(label >= 0 && static_cast<std::size_t>(label) < task.n_classes, "labels: a label lies outside the classes");
    }
    for (std::size_t f = 0; f < task.prices.size(); ++f) check_prices(task.table, task.prices[f], f);
    demand(task.budget >= 0 && task.budget < hardwood::infinity, "budget: expected a finite number >= 0");
    demand(task.tests.size() <= hs::most_tests_possible, "tests: more than 32,767");
    for (std::size_t t = 0; t < task.tests.size(); ++t) {
        const hs::Test& test = task.tests[t];
        demand(test.feature < task.prices.size(), "tests: a test asks for a feature that is not there");
        const hardwood::FeaturePrices& prices = task.prices[test.feature];
        demand(prices.ordered ? test.code < hardwood::no_answer - 1 : test.code >= 0 && test.code <= prices.upper,
               "tests: a test asks for a code that is not there");
    }
    for (std::size_t begin = 0; begin < task.tests.size();) {
        std::size_t end = begin;
        while (end < task.tests.size() && task.tests[end].feature == task.tests[begin].feature) ++end;
        demand(end == task.tests.size() || task.tests[begin].feature < task.tests[end].feature, "tests: expected them by feature");
        check_tests_of_feature({task.tests.data() + begin, task.tests.data() + end}, task.prices[task.tests[begin].feature]);
        begin = end;
    }
}

SearchProblem make_problem(Codes values, const std::vector<nb::handle>& prices, Ints labels, std::size_t n_classes,
                           const std::vector<std::tuple<std::size_t, std::int32_t, bool>>& tests, double budget, int depth,
                           double penalty, const std::optional<Doubles>& weights, const std::vector<double>& worth, bool in_part,
                           double least_leaf, const std::optional<Doubles>& leaf_sizes) {
    const auto span_of = [](const std::optional<Doubles>& own) {
        return own ? std::span<const double>{own->data(), own->size()} : std::span<const double>{};
    };
    SearchProblem problem{{table_of(values), {}, {labels.data(), labels.size()}, n_classes, {}, budget, span_of(weights), worth, in_part,
                           least_leaf, span_of(leaf_sizes)},
                          depth, penalty, values, labels, weights, leaf_sizes, {}};
    for (const nb::handle& own : prices) {
        demand(nb::isinstance<PricesHolder>(own), "prices: expected FeaturePrices");
        problem.task.prices.push_back(nb::cast<PricesHolder&>(own).prices);
        problem.prices.push_back(nb::borrow(own));
    }
    for (const auto& [feature, code, missing] : tests) problem.task.tests.push_back({feature, code, missing});
    check_task(problem.task);
    demand(depth >= 0 && depth <= hardwood::search::deepest, "depth: expected 0 to 12");
    demand(penalty >= 0 && penalty < hardwood::infinity, "penalty: expected a finite number >= 0");
    return problem;
}

// A tree to start from: tests (-1: none) and labels in heap order, as `SearchResult.tree`.
hardwood::search::Skeleton checked_tree(const SearchProblem& problem, const std::vector<std::pair<int, int>>& choices) {
    hardwood::search::Skeleton tree;
    demand(choices.empty() || choices.size() == std::size_t{2} << problem.depth, "start: expected 2^(depth + 1) choices");
    for (std::size_t at = 0; at < choices.size(); ++at) {
        const auto [test, label] = choices[at];
        demand(test >= -1 && test < static_cast<int>(problem.task.tests.size()), "start: a test that is not there");
        demand(test < 0 || 2 * at < choices.size(), "start: a test below the deepest level");
        demand(label >= 0 && static_cast<std::size_t>(label) < problem.task.n_classes, "start: a label that is not there");
        tree.push_back({test, label});
    }
    return tree;
}

// What comes of a search: the tree as tests (-1: none) and labels in heap order, and what is proved. If the memory does not
// suffice, there is no tree, only what would be needed.
struct Found {
    std::vector<std::pair<int, int>> tree;
    double value = 0.0;
    int tests = 0;
    double upper_bound = 0.0;
    double any_model_bound = 0.0;
    double near_zero = 0.0;  // what bounds may miss near price 0, if the last row may be lost in part
    bool proved = false;
    long long work = 0;
    long long nodes = 0;
    std::vector<std::pair<std::string, hardwood::search::BoundStatistics>> bounds;  // what each of them did
    struct Other {
        std::vector<std::pair<int, int>> tree;
        double value;
    };
    std::vector<Other> others;     // good trees, the best first, if they were asked for ...
    bool has_all_others = false;   // ... and whether these are all
    std::string stop_reason = "memory_limit";
    double memory_needed = 0.0;
    std::size_t n_points = 0;
};

// Speed-ups that tests switch off.
const std::map<std::string, bool hardwood::search::Effort::*> speed_ups{
    {"all_pairs", &hardwood::search::Effort::all_pairs},
    {"climb", &hardwood::search::Effort::climb},
    {"coarse", &hardwood::search::Effort::coarse},
    {"count_along", &hardwood::search::Effort::count_along},
    {"fresh_starts", &hardwood::search::Effort::fresh_starts},
    {"head_start", &hardwood::search::Effort::head_start},
    {"improvement", &hardwood::search::Effort::improvement},
    {"kinks", &hardwood::search::Effort::kinks},
    {"leaf_sizes", &hardwood::search::Effort::leaf_sizes},
    {"long_sums", &hardwood::search::Effort::long_sums},
    {"pace", &hardwood::search::Effort::pace},
    {"runs", &hardwood::search::Effort::runs},
    {"upward", &hardwood::search::Effort::upward},
    {"whole_domains", &hardwood::search::Effort::whole_domains},
    {"wrong_points", &hardwood::search::Effort::wrong_points},
};

using Listener = nb::typed<nb::callable, void(double, double, int, double, long long)>;

Found run_search(const SearchProblem& problem, double seconds, long long work, double memory, int n_jobs, double upper_bound,
                 const std::vector<std::pair<int, int>>& start, const std::map<std::string, bool>& switches,
                 const Listener& on_progress, const std::vector<std::pair<int, int>>& questions, int most_trees, double within) {
    namespace hs = hardwood::search;
    demand(n_jobs >= 1 && n_jobs <= 1024, "n_jobs: expected 1 to 1024");
    hs::Effort effort;
    for (const auto& [name, on] : switches) {
        const auto known = speed_ups.find(name);
        demand(known != speed_ups.end(), "switches: there is none of this name");
        effort.*(known->second) = on;
    }
    const hs::Skeleton start_tree = checked_tree(problem, start), asked = checked_tree(problem, questions);
    demand(most_trees >= 0 && within >= 0, "most_trees, within: expected numbers >= 0");
    const auto pairs_of = [](const hs::Skeleton& tree) {
        std::vector<std::pair<int, int>> pairs;
        for (const hs::Choice& choice : tree) pairs.emplace_back(choice.test, choice.label);
        return pairs;
    };
    Found found;
    std::exception_ptr failure;
    {
        nb::gil_scoped_release unlocked;
        const hs::Watch::Clock::time_point began = hs::Watch::Clock::now();
        const hs::Instance instance(problem.task);
        found.n_points = instance.n_rows();
        found.memory_needed = hs::memory_needed(instance, n_jobs);
        if (found.memory_needed > memory) return found;
        // Ctrl-C ends the search, and the best tree is kept. So does any other exception, of the listener or of a handler
        // of signals, but it is raised again below.
        const auto listener = [&](const hs::State& s) {
            nb::gil_scoped_acquire locked;
            try {
                if (PyErr_CheckSignals() != 0) throw nb::python_error();  // what the caller's handler of a signal raised
                on_progress(s.seconds, s.value, s.tests, s.upper_bound, s.work);
            } catch (const nb::python_error& error) {
                if (!error.matches(PyExc_KeyboardInterrupt)) failure = std::current_exception();
                return false;
            }
            return true;
        };
        const double left = seconds - std::chrono::duration<double>(hs::Watch::Clock::now() - began).count();
        hs::Search search(instance, problem.depth, problem.penalty, effort, {left, work}, n_jobs, listener);
        search.start_below(upper_bound);
        if (!start_tree.empty()) search.start_from(start_tree);
        hs::Collection collection(instance, static_cast<std::size_t>(most_trees), within);
        if (most_trees > 0) search.collect_into(collection);
        if (asked.empty()) {
            search.run();
        } else {
            search.run_labels(asked);
        }
        if (most_trees > 0) {
            const bool all = search.collect();
            found.has_all_others = all && !collection.is_full();
            for (const auto& member : collection.members()) found.others.push_back({pairs_of(member.tree), member.score.value});
        }
        found.tree = pairs_of(search.best_tree());
        const hs::State state = search.state();
        found.value = state.value;
        found.near_zero = instance.in_part() && instance.budget() > 0 ? hs::price_for_zero(instance) : 0.0;
        found.tests = state.tests;
        found.upper_bound = state.upper_bound;
        found.proved = state.proved;
        found.work = state.work;
        found.stop_reason = search.stop_reason();
        found.nodes = search.nodes();
        found.bounds = search.statistics();
        found.any_model_bound = search.any_model_bound();
    }
    if (failure) std::rethrow_exception(failure);
    return found;
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The compiled part of hardwood.";

    nb::class_<hardwood::Tree>(m, "Tree")
        .def("__init__",
             [](hardwood::Tree* self, Ints feature, Ints code, Ints left, Ints right, Ints ordered, Ints missing_left,
                std::size_t n_features) {
                 new (self) hardwood::Tree(make_tree(feature, code, left, right, ordered, missing_left, n_features));
             },
             "feature"_a, "code"_a, "left"_a, "right"_a, "ordered"_a, "missing_left"_a, "n_features"_a)
        .def("leaf_of", &leaf_of, "values"_a);

    nb::class_<hardwood::Limit>(m, "Limit")
        .def("__init__",
             [](hardwood::Limit* self, std::size_t feature, std::int32_t low, std::int32_t high,
                std::vector<std::uint8_t> allowed, bool missing) {
                 new (self) hardwood::Limit{feature, low, high, std::move(allowed), missing};
             },
             "feature"_a, "low"_a, "high"_a, "allowed"_a, "missing"_a = false);

    nb::class_<hardwood::Region>(m, "Region")
        .def("__init__",
             [](hardwood::Region* self, std::int32_t label, std::vector<hardwood::Limit> limits) {
                 new (self) hardwood::Region{label, std::move(limits)};
             },
             "label"_a, "limits"_a);

    nb::class_<PricesHolder>(m, "FeaturePrices")
        .def("__init__",
             [](PricesHolder* self, PriceArray prices, bool ordered, bool may_rise, bool may_fall, std::int32_t lower,
                std::int32_t upper, std::int32_t steps, const std::optional<Doubles>& missing, const std::optional<Ints>& codes,
                const std::optional<PriceArray>& table) {
                 new (self) PricesHolder(
                     make_prices(prices, ordered, may_rise, may_fall, lower, upper, steps, missing, codes, table));
             },
             "prices"_a, "ordered"_a, "may_rise"_a, "may_fall"_a, "lower"_a, "upper"_a, "steps"_a, "missing"_a = nb::none(),
             "codes"_a = nb::none(), "table"_a = nb::none());

    nb::class_<SearchProblem>(m, "SearchProblem")
        .def("__init__",
             [](SearchProblem* self, Codes values, const std::vector<nb::handle>& prices, Ints labels, std::size_t n_classes,
                const std::vector<std::tuple<std::size_t, std::int32_t, bool>>& tests, double budget, int depth, double penalty,
                const std::optional<Doubles>& weights, const std::vector<double>& worth, bool in_part, double least_leaf,
                const std::optional<Doubles>& leaf_sizes) {
                 new (self) SearchProblem(make_problem(values, prices, labels, n_classes, tests, budget, depth, penalty, weights, worth,
                                                       in_part, least_leaf, leaf_sizes));
             },
             "values"_a, "prices"_a, "labels"_a, "n_classes"_a, "tests"_a, "budget"_a, "depth"_a, "penalty"_a,
             "weights"_a = nb::none(), "worth"_a = std::vector<double>{}, "in_part"_a = false, "least_leaf"_a = 0.0,
             "leaf_sizes"_a = nb::none());

    nb::class_<hardwood::search::BoundStatistics>(m, "BoundStatistics")
        .def_ro("calls", &hardwood::search::BoundStatistics::calls)
        .def_ro("steps", &hardwood::search::BoundStatistics::steps)
        .def_ro("options", &hardwood::search::BoundStatistics::options)
        .def_ro("closed", &hardwood::search::BoundStatistics::closed)
        .def_ro("seconds", &hardwood::search::BoundStatistics::seconds);

    nb::class_<Found>(m, "SearchResult")
        .def_ro("tree", &Found::tree)
        .def_ro("value", &Found::value)
        .def_ro("near_zero", &Found::near_zero)
        .def_ro("tests", &Found::tests)
        .def_ro("upper_bound", &Found::upper_bound)
        .def_ro("any_model_bound", &Found::any_model_bound)
        .def_ro("proved", &Found::proved)
        .def_ro("work", &Found::work)
        .def_ro("nodes", &Found::nodes)
        .def_ro("bounds", &Found::bounds)
        .def_prop_ro("others",
                     [](const Found& found) {
                         std::vector<std::pair<std::vector<std::pair<int, int>>, double>> others;
                         for (const auto& other : found.others) others.emplace_back(other.tree, other.value);
                         return others;
                     })
        .def_ro("has_all_others", &Found::has_all_others)
        .def_ro("stop_reason", &Found::stop_reason)
        .def_ro("memory_needed", &Found::memory_needed)
        .def_ro("n_points", &Found::n_points);

    m.def("search", &run_search, "problem"_a, "seconds"_a, "work"_a, "memory"_a, "n_jobs"_a, "upper_bound"_a, "start"_a,
          "switches"_a, "on_progress"_a, "questions"_a = std::vector<std::pair<int, int>>{}, "most_trees"_a = 0, "within"_a = 0.0);
    m.def("search_switches", [] {
        std::vector<std::string> names;
        for (const auto& [name, member] : speed_ups) names.push_back(name);
        return names;
    });

    m.def("margins", &margins, "values"_a, "prices"_a, "labels"_a, "regions"_a);
}
