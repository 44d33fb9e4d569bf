// Translation between Python and C++, nothing else.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "adversary.h"
#include "search/search.h"
#include "prices.h"
#include "tree.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Codes = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using Ints = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using PriceArray = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

hardwood::Table table_of(const Codes& values) { return {values.data(), values.shape(0), values.shape(1)}; }

template <typename T>
nb::ndarray<nb::numpy, T> to_numpy(std::unique_ptr<T[]> data, std::size_t size) {
    T* raw = data.release();
    nb::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::ndarray<nb::numpy, T>(raw, {size}, owner);
}

hardwood::Tree make_tree(Ints feature, Ints code, Ints left, Ints right, Ints ordered, std::size_t n_features) {
    std::vector<hardwood::Node> nodes(feature.size());
    for (const Ints& array : {code, left, right, ordered}) {
        if (array.size() != nodes.size()) throw std::invalid_argument("arrays of nodes differ in length");
    }
    for (std::size_t k = 0; k < nodes.size(); ++k) nodes[k] = {feature(k), code(k), left(k), right(k), ordered(k) != 0};
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
    PriceArray owner;  // keeps the numpy array alive
};

PricesHolder make_prices(PriceArray prices, bool ordered, bool may_rise, bool may_fall, std::int32_t lower,
                         std::int32_t upper, std::int32_t steps) {
    return {{prices.data(), prices.shape(0), prices.shape(1), ordered, may_rise, may_fall, lower, upper, steps}, prices};
}

void check(const hardwood::Table& table, const std::vector<hardwood::FeaturePrices>& prices, const Ints& labels,
           const std::vector<hardwood::Region>& regions) {
    bool fits = prices.size() == table.n_features && labels.size() == table.n_samples;
    for (const auto& p : prices) fits = fits && (p.rows == 1 || p.rows == table.n_samples) && p.columns >= 1;
    for (const auto& region : regions) {
        for (const auto& limit : region.limits) {
            fits = fits && limit.feature < table.n_features &&
                   (limit.allowed.empty() == prices[limit.feature].ordered) &&
                   (prices[limit.feature].columns == 1 || prices[limit.feature].columns == limit.allowed.size());
        }
    }
    if (!fits) throw std::invalid_argument("table, prices, labels and regions do not fit together");
}

nb::tuple margins(Codes values, const std::vector<PricesHolder*>& holders, Ints labels,
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
    return nb::make_tuple(to_numpy(std::move(margin), table.n_samples), to_numpy(std::move(region_of), table.n_samples));
}

// The result of a search: the tree in heap order as rows of feature (-1: leaf), code and label, and what is proved.
nb::dict run_search(Codes values, const std::vector<PricesHolder*>& holders, Ints labels, std::size_t n_classes,
                    const std::vector<std::pair<std::size_t, std::int32_t>>& tests, double budget, int depth,
                    double penalty, double seconds, long long work, double memory, int n_jobs, double upper_bound,
                    const std::vector<std::pair<int, int>>& start, const hardwood::search::Options& options,
                    const nb::callable& on_progress) {
    namespace hs = hardwood::search;
    const hardwood::Table table = table_of(values);
    std::vector<hardwood::FeaturePrices> prices;
    for (const PricesHolder* holder : holders) prices.push_back(holder->prices);
    check(table, prices, labels, {});
    std::vector<hs::Test> listed;
    for (const auto& [feature, code] : tests) listed.push_back({feature, code});
    hs::Skeleton start_tree;
    for (const auto& [test, label] : start) start_tree.push_back({test, label});

    nb::dict result;
    std::exception_ptr failure;
    std::vector<hs::Choice> tree;
    hs::State state{};
    const char* stop_reason = "";
    {
        nb::gil_scoped_release unlocked;
        const hs::Instance instance(table, prices, {labels.data(), labels.size()}, n_classes, listed, budget);
        const double needed = hs::least_memory(instance, depth, n_jobs);
        if (needed > memory) {
            throw std::invalid_argument(
                "the table has " + std::to_string(instance.n_points()) + " distinct rows and " +
                std::to_string(listed.size()) + " possible tests, for which the search would need about " +
                std::to_string(static_cast<long long>(needed / 1e9) + 1) + " GB of memory; allow more with " +
                "Limits(memory_bytes=...), make wide columns \"binned\", or take a sample of the rows");
        }
        // Ctrl-C and an error in the listener end the search; the best tree is kept, an error is raised again below.
        const auto listener = [&](const hs::State& s) {
            nb::gil_scoped_acquire locked;
            if (PyErr_CheckSignals() != 0) {
                PyErr_Clear();
                return false;
            }
            try {
                on_progress(s.seconds, s.correct, s.tests, s.upper_bound, s.work);
            } catch (const nb::python_error& error) {
                // Ctrl-C may also arrive while the listener runs.
                if (!error.matches(PyExc_KeyboardInterrupt)) failure = std::current_exception();
                return false;
            }
            return true;
        };
        hs::Search search(instance, depth, penalty, options, {seconds, work, memory}, listener);
        search.hire(n_jobs);
        search.start_below(upper_bound);
        if (!start_tree.empty()) search.start_from(start_tree);
        search.run();
        tree = search.best_tree();
        state = search.state();
        stop_reason = search.stop_reason();
    }
    if (failure) std::rethrow_exception(failure);
    nb::list rows;
    for (const hs::Choice& choice : tree) rows.append(nb::make_tuple(choice.test, choice.label));
    result["tree"] = rows;
    result["correct"] = state.correct;
    result["tests"] = state.tests;
    result["upper_bound"] = state.upper_bound;
    result["proved"] = state.proved;
    result["work"] = state.work;
    result["stop_reason"] = stop_reason;
    return result;
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The compiled part of hardwood.";

    nb::class_<hardwood::Tree>(m, "Tree")
        .def("__init__",
             [](hardwood::Tree* self, Ints feature, Ints code, Ints left, Ints right, Ints ordered,
                std::size_t n_features) {
                 new (self) hardwood::Tree(make_tree(feature, code, left, right, ordered, n_features));
             },
             "feature"_a, "code"_a, "left"_a, "right"_a, "ordered"_a, "n_features"_a)
        .def("leaf_of", &leaf_of, "values"_a);

    nb::class_<hardwood::Limit>(m, "Limit")
        .def("__init__",
             [](hardwood::Limit* self, std::size_t feature, std::int32_t low, std::int32_t high,
                std::vector<std::uint8_t> allowed) {
                 new (self) hardwood::Limit{feature, low, high, std::move(allowed)};
             },
             "feature"_a, "low"_a, "high"_a, "allowed"_a);

    nb::class_<hardwood::Region>(m, "Region")
        .def("__init__",
             [](hardwood::Region* self, std::int32_t label, std::vector<hardwood::Limit> limits) {
                 new (self) hardwood::Region{label, std::move(limits)};
             },
             "label"_a, "limits"_a);

    nb::class_<PricesHolder>(m, "FeaturePrices")
        .def("__init__",
             [](PricesHolder* self, PriceArray prices, bool ordered, bool may_rise, bool may_fall, std::int32_t lower,
                std::int32_t upper, std::int32_t steps) {
                 new (self) PricesHolder(make_prices(prices, ordered, may_rise, may_fall, lower, upper, steps));
             },
             "prices"_a, "ordered"_a, "may_rise"_a, "may_fall"_a, "lower"_a, "upper"_a, "steps"_a);

    using hardwood::search::Options;
    nb::class_<Options>(m, "SearchOptions")
        .def(nb::init<>())
        .def_rw("child_bounds", &Options::child_bounds)
        .def_rw("right_discard", &Options::right_discard)
        .def_rw("nesting", &Options::nesting)
        .def_rw("inherit_shares", &Options::inherit_shares)
        .def_rw("pool", &Options::pool)
        .def_rw("skip_twins", &Options::skip_twins)
        .def_rw("surrogate", &Options::surrogate)
        .def_rw("sharing", &Options::sharing);

    m.def("search", &run_search, "values"_a, "prices"_a, "labels"_a, "n_classes"_a, "tests"_a, "budget"_a, "depth"_a,
          "penalty"_a, "seconds"_a, "work"_a, "memory"_a, "n_jobs"_a, "upper_bound"_a, "start"_a, "options"_a, "on_progress"_a);

    m.def("margins", &margins, "values"_a, "prices"_a, "labels"_a, "regions"_a);
}
