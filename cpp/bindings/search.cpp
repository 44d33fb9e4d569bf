#include "search/search.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <map>
#include <tuple>

#include "bindings/checks.h"
#include "bindings/costs.h"
#include "bindings/modules.h"
#include "model/constraint.h"

using namespace nanobind::literals;

namespace hardwood::bindings {

namespace {

using namespace hardwood::search;

using HeapNodes = std::vector<std::pair<int, int>>;  // splits (-1: none) and labels in heap order
using SplitTuples = std::vector<std::tuple<std::size_t, std::int32_t, bool>>;
using Constraints = std::vector<std::shared_ptr<TreeConstraint>>;

/// A problem for the search. Everything that Python passes in is validated here, so that the search
/// need not.
struct SearchProblem {
    SearchTask task;
    int depth;
    double penalty;
    Codes values;  // these keep the arrays alive
    Ints labels;
    std::optional<Doubles> weights, sample_sizes;
    std::vector<nb::object> costs;
};

std::span<const double> span_of(const std::optional<Doubles>& array) {
    return array ? std::span<const double>{array->data(), array->size()}
                 : std::span<const double>{};
}

SearchProblem make_problem(Codes values, const std::vector<nb::handle>& costs, Ints labels,
                           std::size_t n_classes, const SplitTuples& splits, double budget,
                           int depth, double penalty, const std::optional<Doubles>& weights,
                           const std::vector<double>& class_weights, bool fractional,
                           const Constraints& constraints,
                           const std::optional<Doubles>& sample_sizes) {
    SearchProblem problem{.task = {.table = table_of(values),
                                   .costs = {},
                                   .labels = {labels.data(), labels.size()},
                                   .n_classes = n_classes,
                                   .budget = budget,
                                   .weights = span_of(weights),
                                   .class_weights = class_weights,
                                   .fractional = fractional,
                                   .constraints = {constraints.begin(), constraints.end()},
                                   .sample_sizes = span_of(sample_sizes)},
                          .depth = depth,
                          .penalty = penalty,
                          .values = values,
                          .labels = labels,
                          .weights = weights,
                          .sample_sizes = sample_sizes,
                          .costs = {}};
    for (const nb::handle& own : costs) {
        require(nb::isinstance<CostsHolder>(own), "costs: expected FeatureCosts");
        problem.task.costs.push_back(nb::cast<CostsHolder&>(own).costs);
        problem.costs.push_back(nb::borrow(own));
    }
    for (const auto& [feature, code, missing] : splits) {
        problem.task.splits.push_back({.feature = feature, .code = code, .missing = missing});
    }
    check_task(problem.task);
    require(depth >= 0 && depth <= max_depth, "depth: expected 0 to MAX_DEPTH");
    require(penalty >= 0 && penalty < infinity, "penalty: expected a finite number >= 0");
    return problem;
}

HeapTree checked_tree(const SearchProblem& problem, const HeapNodes& nodes) {
    HeapTree tree;
    require(nodes.empty() || nodes.size() == std::size_t{2} << problem.depth,
            "tree: expected 2^(depth + 1) nodes");
    for (std::size_t at = 0; at < nodes.size(); ++at) {
        const auto [split, label] = nodes[at];
        require(split >= -1 && split < to_int(problem.task.splits.size()),
                "tree: a split does not exist");
        require(split < 0 || 2 * at < nodes.size(), "tree: a split below the deepest level");
        require(label >= 0 && static_cast<std::size_t>(label) < problem.task.n_classes,
                "tree: a label does not exist");
        tree.push_back({.split = split, .label = label});
    }
    return tree;
}

HeapNodes nodes_of(const HeapTree& tree) {
    HeapNodes nodes;
    for (const HeapNode& node : tree) nodes.emplace_back(node.split, node.label);
    return nodes;
}

/// The result of a search. If the memory limit is too small, there is no tree, only the memory that
/// is needed.
struct SearchResult {
    HeapNodes tree = {};
    double value = 0.0;
    int n_splits = 0;
    double upper_bound = 0.0;
    double any_model_bound = 0.0;
    double zero_slack =
        0.0;  // fractional case: what bounds may miss at the multiplier that stands for 0
    bool proved = false;
    long long work = 0;
    long long nodes = 0;
    std::vector<std::pair<std::string, BoundStatistics>> bounds = {};
    std::vector<std::pair<HeapNodes, double>> pool =
        {};                      // good trees and their values, the best first ...
    bool pool_complete = false;  // ... and whether there are no others
    std::string stop_reason = "memory_limit";
    double memory_needed = 0.0;
    std::size_t n_rows = 0;
};

/// Speed-ups that tests switch off.
const std::map<std::string, bool SearchParams::*> speed_ups{
    {"adaptive_step_size", &SearchParams::adaptive_step_size},
    {"all_pairs", &SearchParams::all_pairs},
    {"bounds_by_size", &SearchParams::bounds_by_size},
    {"breakpoints", &SearchParams::breakpoints},
    {"coarse_splits", &SearchParams::coarse_splits},
    {"exact_zero", &SearchParams::exact_zero},
    {"full_domain", &SearchParams::full_domain},
    {"iterative_deepening", &SearchParams::iterative_deepening},
    {"choose_nodes", &SearchParams::choose_nodes},
    {"shallower_half", &SearchParams::shallower_half},
    {"subset_sums", &SearchParams::subset_sums},
    {"large_subsets", &SearchParams::large_subsets},
    {"columnwise", &SearchParams::columnwise},
    {"known_losses", &SearchParams::known_losses},
    {"leaf_size_bounds", &SearchParams::leaf_size_bounds},
    {"local_search", &SearchParams::local_search},
    {"misclassified_points", &SearchParams::misclassified_points},
    {"restart", &SearchParams::restart},
    {"threshold_runs", &SearchParams::threshold_runs},
    {"tie_margin", &SearchParams::tie_margin},
    {"upward_closing", &SearchParams::upward_closing},
    {"zero_apart", &SearchParams::zero_apart},
};

SearchParams params_of(const std::map<std::string, bool>& switches) {
    SearchParams params;
    for (const auto& [name, on] : switches) {
        const auto known = speed_ups.find(name);
        require(known != speed_ups.end(), "switches: unknown name (see search_switches)");
        params.*(known->second) = on;
    }
    return params;
}

using Listener = nb::typed<nb::callable, void(double, double, int, double, long long)>;

void read_result(const Search& search, const Instance& instance, SearchResult& result) {
    const SearchState state = search.state();
    result.tree = nodes_of(search.best_tree());
    result.value = state.value;
    result.n_splits = state.n_splits;
    result.upper_bound = state.upper_bound;
    result.any_model_bound = search.any_model_bound();
    result.zero_slack =
        instance.fractional() && instance.budget() > 0 ? zero_multiplier(instance) : 0.0;
    result.proved = state.proved;
    result.work = state.work;
    result.nodes = search.n_nodes();
    result.bounds = search.statistics();
    result.stop_reason = search.stop_reason();
}

SearchResult run_search(const SearchProblem& problem, double seconds, long long work, double memory,
                        int n_jobs, double upper_bound, const HeapNodes& start,
                        const std::map<std::string, bool>& switches, const Listener& on_progress,
                        const HeapNodes& fixed_splits, int pool_size, double pool_gap) {
    require(n_jobs >= 1 && n_jobs <= 1024, "n_jobs: expected 1 to 1024");
    require(pool_size >= 0 && pool_gap >= 0, "pool_size, pool_gap: expected numbers >= 0");
    const SearchParams params = params_of(switches);
    const HeapTree start_tree = checked_tree(problem, start),
                   fixed = checked_tree(problem, fixed_splits);
    SearchResult result;
    std::exception_ptr failure;
    {
        nb::gil_scoped_release unlocked;
        const StopToken::Clock::time_point began = StopToken::Clock::now();
        const Instance instance(problem.task);
        result.n_rows = instance.n_rows();
        result.memory_needed = memory_needed(instance, n_jobs);
        if (result.memory_needed > memory) return result;
        // Ctrl-C ends the search, and the best tree is kept. So does any other exception of the
        // listener or of a signal handler, but it is raised again below.
        const auto listener = [&](const SearchState& state) {
            nb::gil_scoped_acquire locked;
            try {
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                on_progress(state.seconds, state.value, state.n_splits, state.upper_bound,
                            state.work);
            } catch (const nb::python_error& error) {
                if (!error.matches(PyExc_KeyboardInterrupt)) failure = std::current_exception();
                return false;
            }
            return true;
        };
        const double spent = std::chrono::duration<double>(StopToken::Clock::now() - began).count();
        Search search(instance, problem.depth, problem.penalty, params,
                      {.seconds = seconds - spent, .work = work}, n_jobs, listener);
        search.start_below(upper_bound);
        SolutionPool pool(instance, static_cast<std::size_t>(pool_size), pool_gap);
        if (pool_size > 0) search.collect_into(pool);
        if (!start_tree.empty()) search.start_from(start_tree);
        if (fixed.empty()) {
            search.run();
        } else {
            search.run_labels(fixed);
        }
        if (pool_size > 0) {
            const bool found_all = search.collect();
            result.pool_complete = found_all && !pool.has_rejected();
            for (const auto& member : pool.members()) {
                result.pool.emplace_back(nodes_of(member.tree), member.score.value);
            }
        }
        read_result(search, instance, result);
    }
    if (failure) std::rethrow_exception(failure);
    return result;
}

void bind_problem(nb::module_& m) {
    nb::class_<TreeConstraint>(m, "TreeConstraint");
    nb::class_<MinLeafSize, TreeConstraint>(m, "MinLeafSize").def(nb::init<double>(), "min_size"_a);

    nb::class_<SearchProblem>(m, "SearchProblem")
        .def(
            "__init__",
            [](SearchProblem* self, Codes values, const std::vector<nb::handle>& costs, Ints labels,
               std::size_t n_classes, const SplitTuples& splits, double budget, int depth,
               double penalty, const std::optional<Doubles>& weights,
               const std::vector<double>& class_weights, bool fractional,
               const Constraints& constraints, const std::optional<Doubles>& sample_sizes) {
                new (self) SearchProblem(
                    make_problem(values, costs, labels, n_classes, splits, budget, depth, penalty,
                                 weights, class_weights, fractional, constraints, sample_sizes));
            },
            "values"_a, "costs"_a, "labels"_a, "n_classes"_a, "splits"_a, "budget"_a, "depth"_a,
            "penalty"_a, "weights"_a = nb::none(), "class_weights"_a = std::vector<double>{},
            "fractional"_a = false, "constraints"_a = Constraints{}, "sample_sizes"_a = nb::none());
}

void bind_result(nb::module_& m) {
    nb::class_<BoundStatistics>(m, "BoundStatistics")
        .def_ro("calls", &BoundStatistics::calls)
        .def_ro("steps", &BoundStatistics::steps)
        .def_ro("branchings", &BoundStatistics::branchings)
        .def_ro("closed", &BoundStatistics::closed)
        .def_ro("seconds", &BoundStatistics::seconds);

    nb::class_<SearchResult>(m, "SearchResult")
        .def_ro("tree", &SearchResult::tree)
        .def_ro("value", &SearchResult::value)
        .def_ro("n_splits", &SearchResult::n_splits)
        .def_ro("upper_bound", &SearchResult::upper_bound)
        .def_ro("any_model_bound", &SearchResult::any_model_bound)
        .def_ro("zero_slack", &SearchResult::zero_slack)
        .def_ro("proved", &SearchResult::proved)
        .def_ro("work", &SearchResult::work)
        .def_ro("nodes", &SearchResult::nodes)
        .def_ro("bounds", &SearchResult::bounds)
        .def_ro("pool", &SearchResult::pool)
        .def_ro("pool_complete", &SearchResult::pool_complete)
        .def_ro("stop_reason", &SearchResult::stop_reason)
        .def_ro("memory_needed", &SearchResult::memory_needed)
        .def_ro("n_rows", &SearchResult::n_rows);
}

}  // namespace

void bind_search(nb::module_& m) {
    m.attr("MAX_DEPTH") = max_depth;
    m.attr("MAX_CANDIDATE_SPLITS") = max_candidate_splits;
    m.attr("BYTES_PER_PAIR") = bytes_per_pair;
    m.attr("FRACTIONAL_COST_FACTOR") = fractional_cost_factor;
    m.attr("FRACTIONAL_ZERO_MULTIPLIER") = fractional_zero_multiplier;
    bind_problem(m);
    bind_result(m);
    m.def("search", &run_search, "problem"_a, "seconds"_a, "work"_a, "memory"_a, "n_jobs"_a,
          "upper_bound"_a, "start"_a, "switches"_a, "on_progress"_a, "fixed_splits"_a = HeapNodes{},
          "pool_size"_a = 0, "pool_gap"_a = 0.0);
    m.def("search_switches", [] {
        std::vector<std::string> names;
        for (const auto& [name, member] : speed_ups) names.push_back(name);
        return names;
    });
}

}  // namespace hardwood::bindings
