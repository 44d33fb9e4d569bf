#include "model/instance.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "util/row_ids.h"

namespace hardwood::search {

namespace {

/// The limit that each bin of a column stands for.
std::vector<Limit> limits_of_bins(const Column& column, const FeatureCosts& costs,
                                  std::span<const Split> splits) {
    constexpr auto lowest = std::numeric_limits<std::int32_t>::min(),
                   highest = std::numeric_limits<std::int32_t>::max();
    std::vector<Limit> limits;
    if (column.ordered) {
        std::int32_t low = lowest;
        for (const Split& split : splits) {
            if (split.missing) continue;
            limits.push_back({.feature = column.feature, .low = low, .high = split.code});
            low = split.code + 1;
        }
        limits.push_back({.feature = column.feature,
                          .low = low,
                          .high = column.missing ? highest - 1 : highest});
        if (column.missing) {
            limits.push_back(
                {.feature = column.feature, .low = highest, .high = lowest, .missing = true});
        }
        return limits;
    }
    std::vector<std::uint8_t> rest(idx(costs.upper) + 1, 1);
    for (const Split& split : splits) {
        std::vector<std::uint8_t> one(rest.size(), 0);
        one[idx(split.code)] = 1;
        rest[idx(split.code)] = 0;
        limits.push_back(
            {.feature = column.feature, .low = lowest, .high = highest, .allowed = std::move(one)});
    }
    if (std::ranges::find(rest, 1) != rest.end()) {
        limits.push_back({.feature = column.feature,
                          .low = lowest,
                          .high = highest,
                          .allowed = std::move(rest)});
    }
    return limits;
}

/// Samples grouped by what a column treats alike: the group of each sample, and the first sample of
/// each.
struct SampleGroups {
    std::vector<std::uint32_t> group;
    std::vector<std::size_t> first;
};

SampleGroups group_by_value(std::span<const std::int32_t> values) {
    const auto [low, high] = std::ranges::minmax(values);
    const std::int64_t range = static_cast<std::int64_t>(high) - low + 1;
    SampleGroups groups{.group = std::vector<std::uint32_t>(values.size()), .first = {}};
    if (range <= 1 << 20) {  // a lookup table is faster than hashing
        constexpr std::uint32_t none = 0xffffffff;
        std::vector<std::uint32_t> known(idx(range), none);
        for (std::size_t i = 0; i < values.size(); ++i) {
            std::uint32_t& group = known[idx(static_cast<std::int64_t>(values[i]) - low)];
            if (group == none) {
                group = to_id(groups.first.size());
                groups.first.push_back(i);
            }
            groups.group[i] = group;
        }
        return groups;
    }
    RowIds<std::int32_t> ids(1);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto [id, is_new] = ids.add(&values[i]);
        if (is_new) groups.first.push_back(i);
        groups.group[i] = id;
    }
    return groups;
}

/// Samples with the same value and the same costs of their own.
SampleGroups group_alike(const Table& table, const FeatureCosts& costs, std::size_t feature) {
    if (costs.rows == 1 && costs.missing_rows <= 1)
        return group_by_value({table.column(feature), table.n_samples});
    RowIds<std::uint64_t> ids(2 + costs.columns);
    std::vector<std::uint64_t> key(2 + costs.columns);
    SampleGroups groups{.group = std::vector<std::uint32_t>(table.n_samples), .first = {}};
    for (std::size_t i = 0; i < table.n_samples; ++i) {
        key[0] = static_cast<std::uint32_t>(table.column(feature)[i]);
        const std::size_t own = costs.rows > 1 ? i * costs.columns : 0;
        for (std::size_t k = 0; k < costs.columns; ++k) {
            key[2 + k] = std::bit_cast<std::uint64_t>(costs.costs[own + k]);
        }
        key[1] = costs.missing != nullptr ? std::bit_cast<std::uint64_t>(costs.missing_cost(i)) : 0;
        const auto [id, is_new] = ids.add(key.data());
        if (is_new) groups.first.push_back(i);
        groups.group[i] = id;
    }
    return groups;
}

/// Exact: the remainder of two doubles is a double.
double common_divisor(double a, double b) {
    while (b > 0) a = std::exchange(b, std::fmod(a, b));
    return a;
}

/// Stable counting sort of identifiers by a key below `n_keys`.
template <typename Key>
void sort_by(std::vector<std::uint32_t>& ids, std::size_t n_keys, Key key) {
    std::vector<std::size_t> begin(n_keys + 1, 0);
    for (const std::uint32_t k : ids) ++begin[key(k) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::uint32_t> sorted(ids.size());
    for (const std::uint32_t k : ids) sorted[begin[key(k)]++] = k;
    ids = std::move(sorted);
}

void sort_unique(std::vector<double>& numbers) {
    std::ranges::sort(numbers);
    numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
}

}  // namespace

Instance::Instance(const SearchTask& task)
    : n_classes_(to_int(task.n_classes)),
      budget_(task.budget),
      fractional_(task.fractional),
      class_weight_(task.class_weights.empty() ? std::vector<double>(task.n_classes, 1.0)
                                               : task.class_weights),
      max_class_weight_(std::ranges::max(class_weight_)),
      min_class_weight_(std::ranges::min(class_weight_)),
      constraints_(task.constraints) {
    make_columns(task);
    set_max_cost();
    std::vector<std::vector<std::uint32_t>> cost_classes;
    for (Column& column : columns_) cost_classes.push_back(compute_costs(task, column));
    merge_samples(task, cost_classes);
    find_cost_unit();
}

void Instance::make_columns(const SearchTask& task) {
    for (std::size_t s = 0; s < task.splits.size(); ++s) {
        const std::size_t feature = task.splits[s].feature;
        if (s == 0 || feature != task.splits[s - 1].feature) {
            const FeatureCosts& costs = task.costs[feature];
            const bool missing = task.splits[s].missing;
            columns_.push_back(
                {.feature = feature,
                 .ordered = costs.ordered,
                 .missing = missing,
                 .nearest_is_cheapest = costs.ordered && !missing && costs.table.size == 0,
                 .first_split = to_int(s)});
        }
        ++columns_.back().n_splits;
        column_of_split_.push_back(to_int(columns_.size()) - 1);
    }
    for (Column& column : columns_) {
        const std::span splits(task.splits.data() + column.first_split, idx(column.n_splits));
        column.n_bins = to_int(limits_of_bins(column, task.costs[column.feature], splits).size());
        column.first_bin = n_bins_;
        n_bins_ += column.n_bins;
    }
}

/// Fills in the costs of a column and returns the cost class of each sample.
std::vector<std::uint32_t> Instance::compute_costs(const SearchTask& task, Column& column) {
    const FeatureCosts& costs = task.costs[column.feature];
    const std::span splits(task.splits.data() + column.first_split, idx(column.n_splits));
    const std::vector<Limit> limits = limits_of_bins(column, costs, splits);
    std::vector<LimitCost> cost_of_bin;
    for (const Limit& limit : limits) {
        cost_of_bin.push_back(limit_cost(costs, task.table.column(column.feature), limit));
    }
    SampleGroups groups = group_alike(task.table, costs, column.feature);
    // A cost class is a bin together with the cost of every bin.
    RowIds<std::uint64_t> by_cost(limits.size() + 1);
    std::vector<std::uint64_t> key(limits.size() + 1);
    std::vector<std::uint32_t> class_of_group(groups.first.size());
    for (std::size_t k = 0; k < groups.first.size(); ++k) {
        const std::int32_t code = task.table.column(column.feature)[groups.first[k]];
        for (std::size_t b = 0; b < limits.size(); ++b) {
            const bool inside = limits[b].allows(code);
            if (inside) key[0] = b;
            const double cost = inside ? 0.0 : evaluate(cost_of_bin[b], groups.first[k]);
            key[1 + b] = std::bit_cast<std::uint64_t>(cost <= max_cost_ ? cost : infinity);
        }
        class_of_group[k] = by_cost.add(key.data()).first;
    }
    // Classes are numbered by their own bins, so that adjacent classes lie in adjacent bins.
    std::vector<std::uint32_t> order(by_cost.size()), number(by_cost.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t k) { return by_cost[k][0]; });
    for (const std::uint32_t k : order) {
        number[k] = to_id(column.own_bin.size());
        column.own_bin.push_back(static_cast<Bin>(by_cost[k][0]));
        for (std::size_t b = 0; b < limits.size(); ++b) {
            column.cost.push_back(std::bit_cast<double>(by_cost[k][1 + b]));
        }
    }
    for (std::uint32_t& group : groups.group) group = number[class_of_group[group]];
    return std::move(groups.group);
}

void Instance::merge_samples(const SearchTask& task,
                             const std::vector<std::vector<std::uint32_t>>& cost_classes) {
    RowIds<std::uint32_t> rows(columns_.size() + 1);
    std::vector<std::uint32_t> key(columns_.size() + 1);
    std::vector<double> weights, sizes;
    for (std::size_t i = 0; i < task.table.n_samples; ++i) {
        const double weight =
            (task.weights.empty() ? 1.0 : task.weights[i]) * class_weight(task.labels[i]);
        if (weight == 0.0) continue;
        total_ += weight;
        key[0] = to_id(task.labels[i]);
        for (std::size_t c = 0; c < columns_.size(); ++c) key[c + 1] = cost_classes[c][i];
        const auto [row, is_new] = rows.add(key.data());
        if (is_new) {
            weights.push_back(0.0);
            sizes.push_back(0.0);
        }
        weights[row] += weight;
        sizes[row] += task.sample_sizes.empty() ? 1.0 : task.sample_sizes[i];
    }
    // Sorted rows, by label last: neighbouring rows share most of what is computed for them.
    std::vector<std::uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0U);
    sort_by(order, idx(n_classes_), [&](std::uint32_t k) { return rows[k][0]; });
    for (std::size_t c = columns_.size(); c-- > 0;) {
        sort_by(order, columns_[c].own_bin.size(), [&](std::uint32_t k) { return rows[k][c + 1]; });
    }
    for (const std::uint32_t k : order) {
        label_.push_back(to_int(rows[k][0]));
        weight_.push_back(weights[k]);
        size_.push_back(sizes[k]);
        for (std::size_t c = 0; c < columns_.size(); ++c)
            point_.push_back(columns_[c].own_bin[rows[k][c + 1]]);
    }
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        for (const std::uint32_t k : order) cost_class_.push_back(rows[k][c + 1]);
    }
}

/// Integral case: costs above the budget are never paid. Fractional case: a cost above this limit
/// flips less than a sixteenth of the smallest difference that counts; ignoring it only raises
/// values.
void Instance::set_max_cost() {
    max_cost_ =
        fractional_ ? std::max(1.0, fractional_cost_factor * max_class_weight_) * budget_ : budget_;
}

/// Sums of costs are multiples of their common divisor, so a budget between two multiples affords
/// what the lower one affords.
void Instance::find_cost_unit() {
    for (const Column& column : columns_) {
        // Each cost class has exactly one own bin, at cost 0.
        has_free_moves_ =
            has_free_moves_ || std::ranges::count(column.cost, 0.0) > column.n_cost_classes();
        for (const double cost : column.cost) {
            if (!(cost > 0 && cost < infinity)) continue;
            min_cost_ = std::min(min_cost_, cost);
            cost_unit_ = common_divisor(cost_unit_, cost);
        }
    }
    if (cost_unit_ == 0) budget_ = 0.0;
    if (cost_unit_ > 0 && !fractional_) budget_ -= std::fmod(budget_, cost_unit_);
    if (!fractional_) max_cost_ = budget_;
    if (!fractional_ && cost_unit_ > 0 && budget_ / cost_unit_ > 0x1p48) {
        throw std::invalid_argument("costs: too fine for the budget");
    }
}

bool Instance::any_move() const {
    return std::ranges::any_of(
        columns_, [](const Column& column) {  // each cost class has one own bin
            const auto is_finite = [](double cost) { return cost < infinity; };
            return std::ranges::count_if(column.cost, is_finite) > column.n_cost_classes();
        });
}

namespace {

double sum_of_largest(std::vector<double> numbers, int n) {
    std::ranges::sort(numbers, std::greater<>());
    numbers.resize(std::min(numbers.size(), idx(std::max(0, n))));
    return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

}  // namespace

double Instance::max_margin(int columns) const {
    std::vector<double> largest;
    for (const Column& column : columns_) largest.push_back(std::ranges::max(column.cost));
    return sum_of_largest(std::move(largest), columns);
}

double Instance::max_finite_margin(int columns) const {
    std::vector<double> largest;
    for (const Column& column : columns_) {
        double own = 0.0;
        for (const double cost : column.cost) own = cost < infinity ? std::max(own, cost) : own;
        largest.push_back(own);
    }
    return sum_of_largest(std::move(largest), columns);
}

bool Instance::is_affordable(int c) const {
    return std::ranges::max(column(c).cost) < infinity;
}

std::vector<double> Instance::possible_margins(int columns, std::size_t max_margins,
                                               double& complete) const {
    for (complete = max_cost_;; complete *= 0.5) {
        std::vector<std::vector<double>> sums(idx(std::max(0, columns)) +
                                              1);  // by number of columns used
        sums[0] = {0.0};
        std::size_t n_sums = 0;
        for (const Column& column : columns_) {
            if (n_sums > max_margins) break;
            std::vector<double> costs;
            std::ranges::copy_if(column.cost, std::back_inserter(costs),
                                 [&](double cost) { return cost > 0 && cost <= complete; });
            sort_unique(costs);
            if (costs.size() > max_margins) n_sums = costs.size();
            for (std::size_t used = sums.size(); used-- > 1 && n_sums <= max_margins;) {
                // Many sums are equal, but beyond this number the list is not worth its time.
                if (sums[used - 1].size() * costs.size() > 100 * max_margins) {
                    n_sums = max_margins + 1;
                    break;
                }
                for (const double sum : sums[used - 1]) {
                    for (const double cost : costs) {
                        if (sum + cost > complete) break;
                        sums[used].push_back(sum + cost);
                    }
                }
                sort_unique(sums[used]);
                n_sums = std::max(n_sums, sums[used].size());
            }
        }
        if (n_sums > max_margins) continue;
        std::vector<double> all;
        for (std::size_t used = 1; used < sums.size(); ++used) {
            all.insert(all.end(), sums[used].begin(), sums[used].end());
        }
        sort_unique(all);
        return all;
    }
}

}  // namespace hardwood::search
