#include "bindings/costs.h"
#include "bindings/modules.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "costs/margins.h"

using namespace nanobind::literals;

namespace hardwood::bindings {

namespace {

void set_pair_costs(CostsHolder& holder) {
    require(holder.codes.has_value() == holder.table.has_value(),
            "table: expected together with its codes");
    if (!holder.table) return;
    const Ints& codes = *holder.codes;
    const CostArray& table = *holder.table;
    const std::size_t size = codes.size();
    require(size > 0 && table.shape(0) == size && table.shape(1) == size,
            "table: expected a square array");
    for (std::size_t k = 1; k < size; ++k)
        require(codes(k - 1) < codes(k), "table: expected ascending codes");
    for (std::size_t k = 0; k < size * size; ++k)
        require(table.data()[k] >= 0, "table: costs must not be negative");
    holder.costs.table = {.codes = codes.data(), .costs = table.data(), .size = size};
}

CostsHolder make_costs(CostArray costs, bool ordered, bool may_increase, bool may_decrease,
                       std::int32_t lower, std::int32_t upper, std::int32_t max_steps,
                       const std::optional<Doubles>& missing, const std::optional<Ints>& codes,
                       const std::optional<CostArray>& table) {
    CostsHolder holder{.costs = {.costs = costs.data(),
                                 .rows = costs.shape(0),
                                 .columns = costs.shape(1),
                                 .ordered = ordered,
                                 .may_increase = may_increase,
                                 .may_decrease = may_decrease,
                                 .lower = lower,
                                 .upper = upper,
                                 .max_steps = max_steps},
                       .owner = costs,
                       .missing = missing,
                       .codes = codes,
                       .table = table};
    if (missing) {
        require(ordered && missing->size() > 0, "missing: expected a cost, and an ordered feature");
        holder.costs.missing = missing->data();
        holder.costs.missing_rows = missing->size();
    }
    set_pair_costs(holder);
    return holder;
}

bool fits(const Limit& limit, const FeatureCosts& costs, const Table& table) {
    if (limit.allowed.empty() != costs.ordered) return false;
    if (costs.columns != 1 && costs.columns != limit.allowed.size()) return false;
    for (std::size_t i = 0; !limit.allowed.empty() && i < table.n_samples; ++i) {
        const std::int32_t code = table.column(limit.feature)[i];
        if (code < 0 || static_cast<std::size_t>(code) >= limit.allowed.size()) return false;
    }
    return true;
}

bool fit_together(const Table& table, const std::vector<FeatureCosts>& costs, const Ints& labels,
                  const std::vector<Region>& regions) {
    if (costs.size() != table.n_features || labels.size() != table.n_samples) return false;
    for (std::size_t f = 0; f < costs.size(); ++f) {
        const bool right_shape =
            (costs[f].rows == 1 || costs[f].rows == table.n_samples) && costs[f].columns >= 1;
        if (!right_shape || !covers_values(costs[f], table, f)) return false;
    }
    for (const Region& region : regions) {
        for (const Limit& limit : region.limits) {
            if (limit.feature >= table.n_features || !fits(limit, costs[limit.feature], table))
                return false;
        }
    }
    return true;
}

using Margins = std::pair<nb::ndarray<nb::numpy, double>, nb::ndarray<nb::numpy, std::int32_t>>;

Margins margins(Codes values, const std::vector<CostsHolder*>& holders, Ints labels,
                const std::vector<Region>& regions) {
    const Table table = table_of(values);
    std::vector<FeatureCosts> costs;
    for (const CostsHolder* holder : holders) costs.push_back(holder->costs);
    require(fit_together(table, costs, labels, regions),
            "table, costs, labels and regions do not fit together");
    std::unique_ptr<double[]> margin(new double[table.n_samples]);
    std::unique_ptr<std::int32_t[]> region_of(new std::int32_t[table.n_samples]);
    {
        nb::gil_scoped_release unlocked;
        compute_margins(table, costs, {labels.data(), labels.size()}, regions,
                        {margin.get(), table.n_samples}, {region_of.get(), table.n_samples});
    }
    return {to_numpy(std::move(margin), table.n_samples),
            to_numpy(std::move(region_of), table.n_samples)};
}

}  // namespace

bool covers_values(const FeatureCosts& costs, const Table& table, std::size_t feature) {
    if (costs.missing_rows > 1 && costs.missing_rows != table.n_samples) return false;
    for (std::size_t i = 0; i < table.n_samples; ++i) {
        const std::int32_t code = table.column(feature)[i];
        if (costs.table.size > 0) {
            const std::size_t position = costs.table.position(code);
            if (position >= costs.table.size || costs.table.codes[position] != code) return false;
        } else if (code == missing_code && costs.missing == nullptr) {
            return false;
        }
    }
    return true;
}

void bind_costs(nb::module_& m) {
    m.attr("MISSING_CODE") = missing_code;

    nb::class_<Limit>(m, "Limit")
        .def(
            "__init__",
            [](Limit* self, std::size_t feature, std::int32_t low, std::int32_t high,
               std::vector<std::uint8_t> allowed, bool missing) {
                new (self) Limit{.feature = feature,
                                 .low = low,
                                 .high = high,
                                 .allowed = std::move(allowed),
                                 .missing = missing};
            },
            "feature"_a, "low"_a, "high"_a, "allowed"_a, "missing"_a = false);

    nb::class_<Region>(m, "Region")
        .def(
            "__init__",
            [](Region* self, std::int32_t label, std::vector<Limit> limits) {
                new (self) Region{.label = label, .limits = std::move(limits)};
            },
            "label"_a, "limits"_a);

    nb::class_<CostsHolder>(m, "FeatureCosts")
        .def(
            "__init__",
            [](CostsHolder* self, CostArray costs, bool ordered, bool may_increase,
               bool may_decrease, std::int32_t lower, std::int32_t upper, std::int32_t max_steps,
               const std::optional<Doubles>& missing, const std::optional<Ints>& codes,
               const std::optional<CostArray>& table) {
                new (self) CostsHolder(make_costs(costs, ordered, may_increase, may_decrease, lower,
                                                  upper, max_steps, missing, codes, table));
            },
            "costs"_a, "ordered"_a, "may_increase"_a, "may_decrease"_a, "lower"_a, "upper"_a,
            "max_steps"_a, "missing"_a = nb::none(), "codes"_a = nb::none(),
            "table"_a = nb::none());

    m.def("margins", &margins, "values"_a, "costs"_a, "labels"_a, "regions"_a);
}

}  // namespace hardwood::bindings
