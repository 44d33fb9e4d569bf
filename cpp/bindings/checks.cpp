#include "bindings/checks.h"

#include <algorithm>
#include <cmath>

#include "bindings/costs.h"
#include "model/box.h"

namespace hardwood::bindings {

using namespace hardwood::search;

namespace {

void check_costs(const Table& table, const FeatureCosts& costs, std::size_t feature) {
    require(costs.rows == 1 || costs.rows == table.n_samples,
            "costs: expected one row, or one for each sample");
    const std::size_t n_categories = costs.ordered ? 1 : static_cast<std::size_t>(costs.upper) + 1;
    require(costs.ordered || costs.upper >= 0, "costs: a categorical feature needs categories");
    require(costs.columns == 1 || (!costs.ordered && costs.columns == n_categories),
            "costs: expected one column, or one for each category");
    for (std::size_t k = 0; k < costs.rows * costs.columns; ++k) {
        require(costs.costs[k] >= 0, "costs must not be negative");
    }
    for (std::size_t k = 0; k < costs.missing_rows; ++k) {
        require(costs.missing[k] >= 0, "missing: costs must not be negative");
    }
    require(covers_values(costs, table, feature), "values: a code has no cost");
    for (std::size_t i = 0; i < table.n_samples && !costs.ordered; ++i) {
        const std::int32_t code = table.column(feature)[i];
        require(code >= 0 && code <= costs.upper, "values: a code lies outside the categories");
    }
}

/// By code, each once; where values may be missing, each with and without "or missing", then "is
/// missing" below all codes.
void check_order(std::span<const Split> splits, const FeatureCosts& costs) {
    const char* const message = "splits: expected by code, each once";
    if (!splits.front().missing) {
        for (std::size_t s = 0; s < splits.size(); ++s) {
            require(!splits[s].missing && (s == 0 || splits[s - 1].code < splits[s].code), message);
        }
        return;
    }
    require(costs.ordered && (costs.missing != nullptr || costs.table.size > 0),
            "splits: the feature has no missing values");
    require(splits.size() % 2 == 1 && splits.back().missing && splits.back().code == -missing_code,
            message);
    for (std::size_t s = 0; s + 1 < splits.size(); ++s) {
        require(splits[s].missing == (s % 2 == 0) && splits[s].code > -missing_code, message);
        if (s == 0) continue;
        const std::int32_t before = splits[s - 1].code, code = splits[s].code;
        require(s % 2 == 1 ? before == code : before < code, message);
    }
}

bool has_missing_values(const Table& table, std::size_t feature) {
    const std::int32_t* const codes = table.column(feature);
    return std::find(codes, codes + table.n_samples, missing_code) != codes + table.n_samples;
}

void check_splits(const SearchTask& task) {
    require(task.splits.size() <= idx(max_candidate_splits),
            "splits: too many (see MAX_CANDIDATE_SPLITS)");
    for (const Split& split : task.splits) {
        require(split.feature < task.costs.size(), "splits: a feature does not exist");
        const FeatureCosts& costs = task.costs[split.feature];
        require(costs.ordered ? split.code < missing_code - 1
                              : split.code >= 0 && split.code <= costs.upper,
                "splits: a code does not exist");
    }
    for (std::size_t begin = 0; begin < task.splits.size();) {
        const std::size_t feature = task.splits[begin].feature;
        std::size_t end = begin;
        while (end < task.splits.size() && task.splits[end].feature == feature) ++end;
        require(end == task.splits.size() || feature < task.splits[end].feature,
                "splits: expected by feature");
        check_order({task.splits.data() + begin, task.splits.data() + end}, task.costs[feature]);
        require(task.splits[begin].missing || !task.costs[feature].ordered ||
                    !has_missing_values(task.table, feature),
                "splits: a feature has missing values, and no split says where they go");
        begin = end;
    }
}

void check_weights(const SearchTask& task) {
    const std::size_t n_samples = task.table.n_samples;
    require(task.weights.empty() || task.weights.size() == n_samples,
            "weights: expected one for each sample");
    require(task.class_weights.empty() || task.class_weights.size() == task.n_classes,
            "class_weights: expected one for each class");
    double total = task.weights.empty() ? 1.0 : 0.0;
    for (const double weight : task.weights) {
        require(weight >= 0 && weight < infinity, "weights: expected numbers >= 0");
        total += weight;
    }
    require(total > 0 && total < infinity, "weights: expected a finite sum > 0");
    for (const double weight : task.class_weights) {
        require(weight > 0 && weight < infinity, "class_weights: expected numbers > 0");
    }
    require(task.sample_sizes.empty() || task.sample_sizes.size() == n_samples,
            "sample_sizes: expected one for each sample");
    for (const double size : task.sample_sizes) {
        require(size >= 0 && size == std::floor(size) && size <= 0x1p53,
                "sample_sizes: expected integers >= 0");
    }
}

}  // namespace

void check_task(const SearchTask& task) {
    require(task.table.n_samples > 0 && task.n_classes > 0,
            "expected at least one sample and one class");
    require(task.costs.size() == task.table.n_features,
            "costs: expected one entry for each feature");
    require(task.labels.size() == task.table.n_samples, "labels: expected one for each sample");
    require(task.n_classes <= 10'000, "n_classes: more than 10,000");
    check_weights(task);
    for (const std::int32_t label : task.labels) {
        require(label >= 0 && static_cast<std::size_t>(label) < task.n_classes,
                "labels: outside the classes");
    }
    for (std::size_t f = 0; f < task.costs.size(); ++f) check_costs(task.table, task.costs[f], f);
    require(task.budget >= 0 && task.budget < infinity, "budget: expected a finite number >= 0");
    check_splits(task);
}

}  // namespace hardwood::bindings
