#include "instance.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "../support/row_numbers.h"

namespace hardwood::search {

namespace {

// What the bins of a column demand.
std::vector<Limit> limits_of_bins(const Column& column, const FeaturePrices& prices, std::span<const Test> tests) {
    constexpr auto lowest = std::numeric_limits<std::int32_t>::min(), highest = std::numeric_limits<std::int32_t>::max();
    std::vector<Limit> limits;
    if (column.ordered) {
        std::int32_t low = lowest;
        for (const Test& test : tests) {
            if (test.missing) continue;
            limits.push_back({column.feature, low, test.code, {}});
            low = test.code + 1;
        }
        limits.push_back({column.feature, low, column.missing ? highest - 1 : highest, {}});
        if (column.missing) limits.push_back({column.feature, highest, lowest, {}, true});
        return limits;
    }
    std::vector<std::uint8_t> rest(static_cast<std::size_t>(prices.upper) + 1, 1);
    for (const Test& test : tests) {
        std::vector<std::uint8_t> one(rest.size(), 0);
        one[static_cast<std::size_t>(test.code)] = 1;
        rest[static_cast<std::size_t>(test.code)] = 0;
        limits.push_back({column.feature, lowest, highest, std::move(one)});
    }
    if (std::ranges::find(rest, 1) != rest.end()) limits.push_back({column.feature, lowest, highest, std::move(rest)});
    return limits;
}

// Numbers for the values of a column. `first` has the first sample of each number.
std::vector<std::uint32_t> number_values(std::span<const std::int32_t> values, std::vector<std::size_t>& first) {
    const auto [least, most] = std::ranges::minmax(values);
    const std::int64_t range = static_cast<std::int64_t>(most) - least + 1;
    std::vector<std::uint32_t> number(values.size());
    if (range <= 1 << 20) {  // a table is faster
        constexpr std::uint32_t none = 0xffffffff;
        std::vector<std::uint32_t> known(static_cast<std::size_t>(range), none);
        for (std::size_t i = 0; i < values.size(); ++i) {
            std::uint32_t& own = known[static_cast<std::size_t>(static_cast<std::int64_t>(values[i]) - least)];
            if (own == none) {
                own = static_cast<std::uint32_t>(first.size());
                first.push_back(i);
            }
            number[i] = own;
        }
        return number;
    }
    RowNumbers<std::int32_t> numbers(1);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto [own, is_new] = numbers.add(&values[i]);
        if (is_new) first.push_back(i);
        number[i] = own;
    }
    return number;
}

// Numbers for samples that a column treats alike, whatever their prices are: the same value, and the same prices of their own.
// `first` has the first sample of each number.
std::vector<std::uint32_t> number_alike(const Table& table, const FeaturePrices& prices, std::size_t feature,
                                        std::vector<std::size_t>& first) {
    if (prices.rows == 1 && prices.missing_rows <= 1) return number_values({table.column(feature), table.n_samples}, first);
    RowNumbers<std::uint64_t> numbers(2 + prices.columns);
    std::vector<std::uint64_t> row(2 + prices.columns);
    std::vector<std::uint32_t> number(table.n_samples);
    for (std::size_t i = 0; i < number.size(); ++i) {
        row[0] = static_cast<std::uint32_t>(table.column(feature)[i]);
        const std::size_t own_prices = prices.rows > 1 ? i * prices.columns : 0;
        for (std::size_t k = 0; k < prices.columns; ++k) row[2 + k] = std::bit_cast<std::uint64_t>(prices.prices[own_prices + k]);
        row[1] = prices.missing != nullptr ? std::bit_cast<std::uint64_t>(prices.missing_price(i)) : 0;
        const auto [own, is_new] = numbers.add(row.data());
        if (is_new) first.push_back(i);
        number[i] = own;
    }
    return number;
}

// Exact: the remainder of two doubles is a double.
double common_divisor(double a, double b) {
    while (b > 0) a = std::exchange(b, std::fmod(a, b));
    return a;
}

}  // namespace

Instance::Instance(const Task& task)
    : n_classes_(static_cast<int>(task.n_classes)),
      n_samples_(0.0),
      budget_(task.budget),
      in_part_(task.in_part),
      worth_(task.worth.empty() ? std::vector<double>(task.n_classes, 1.0) : task.worth),
      most_worth_(std::ranges::max(worth_)),
      least_worth_(std::ranges::min(worth_)),
      least_leaf_(task.least_leaf) {
    make_columns(task);
    set_limit();
    std::vector<std::vector<std::uint32_t>> kinds;
    for (Column& column : columns_) kinds.push_back(price_column(task, column));
    merge(task, kinds);
    find_grain();
}

void Instance::make_columns(const Task& task) {
    for (std::size_t t = 0; t < task.tests.size(); ++t) {
        const std::size_t feature = task.tests[t].feature;
        if (t == 0 || feature != task.tests[t - 1].feature) {
            const FeaturePrices& prices = task.prices[feature];
            const bool missing = task.tests[t].missing, nearest = prices.ordered && !missing && prices.table.size == 0;
            columns_.push_back({feature, prices.ordered, missing, nearest, 0, static_cast<int>(t), 0, 0, {}, {}});
        }
        ++columns_.back().n_tests;
        column_of_test_.push_back(static_cast<int>(columns_.size()) - 1);
    }
    for (Column& column : columns_) {
        const FeaturePrices& prices = task.prices[column.feature];
        const std::span own(task.tests.data() + column.first_test, static_cast<std::size_t>(column.n_tests));
        column.n_bins = static_cast<int>(limits_of_bins(column, prices, own).size());
        column.first_bin = n_bins_;
        n_bins_ += column.n_bins;
    }
}

namespace {

// Sorts numbers by a key below so many; numbers with the same key stay as they are.
template <typename Key>
void sort_by(std::vector<std::uint32_t>& numbers, std::size_t n_keys, Key key) {
    std::vector<std::size_t> begin(n_keys + 1, 0);
    for (const std::uint32_t k : numbers) ++begin[key(k) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::uint32_t> sorted(numbers.size());
    for (const std::uint32_t k : numbers) sorted[begin[key(k)]++] = k;
    numbers = std::move(sorted);
}

}  // namespace

// Finds the kind of each sample.
std::vector<std::uint32_t> Instance::price_column(const Task& task, Column& column) const {
    const FeaturePrices& prices = task.prices[column.feature];
    const std::span tests(task.tests.data() + column.first_test, static_cast<std::size_t>(column.n_tests));
    std::vector<LimitPrice> price_of_bin;
    const std::vector<Limit> limits = limits_of_bins(column, prices, tests);
    for (const Limit& limit : limits) {
        price_of_bin.push_back(limit_price(prices, task.table.column(column.feature), limit));
    }
    std::vector<std::size_t> first;
    std::vector<std::uint32_t> kinds = number_alike(task.table, prices, column.feature, first);
    // What counts of a value is its bin and what it pays for each bin.
    RowNumbers<std::uint64_t> by_cost(limits.size() + 1);
    std::vector<std::uint64_t> row(limits.size() + 1);
    std::vector<std::uint32_t> kind_of(first.size());
    for (std::size_t k = 0; k < first.size(); ++k) {
        const std::int32_t code = task.table.column(column.feature)[first[k]];
        for (std::size_t b = 0; b < limits.size(); ++b) {
            const Limit& limit = limits[b];
            const bool here = limit.allows(code);
            if (here) row[0] = b;
            const double price = here ? 0.0 : evaluate(price_of_bin[b], first[k]);
            row[1 + b] = std::bit_cast<std::uint64_t>(price <= limit_ ? price : infinity);
        }
        kind_of[k] = by_cost.add(row.data()).first;
    }
    // Kinds that are at home side by side are numbered side by side.
    std::vector<std::uint32_t> order(by_cost.size()), number(by_cost.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t kind) { return by_cost[kind][0]; });
    for (const std::uint32_t kind : order) {
        number[kind] = static_cast<std::uint32_t>(column.home.size());
        column.home.push_back(static_cast<Bin>(by_cost[kind][0]));
        for (std::size_t b = 0; b < limits.size(); ++b) column.cost.push_back(std::bit_cast<double>(by_cost[kind][1 + b]));
    }
    for (std::uint32_t& kind : kinds) kind = number[kind_of[kind]];
    return kinds;
}

void Instance::merge(const Task& task, const std::vector<std::vector<std::uint32_t>>& kinds) {
    RowNumbers<std::uint32_t> rows(columns_.size() + 1);
    std::vector<std::uint32_t> row(columns_.size() + 1);
    std::vector<double> count, size;
    for (std::size_t i = 0; i < task.table.n_samples; ++i) {
        const double weight = (task.weights.empty() ? 1.0 : task.weights[i]) * worth(task.labels[i]);
        if (weight == 0.0) continue;
        n_samples_ += weight;
        row[0] = static_cast<std::uint32_t>(task.labels[i]);
        for (std::size_t c = 0; c < columns_.size(); ++c) row[c + 1] = kinds[c][i];
        const auto [number, is_new] = rows.add(row.data());
        if (is_new) {
            count.push_back(0.0);
            size.push_back(0.0);
        }
        count[number] += weight;
        size[number] += task.leaf_sizes.empty() ? 1.0 : task.leaf_sizes[i];
    }
    // Rows are sorted, by their labels last: what is done for one of them is at hand for the next one.
    std::vector<std::uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0U);
    sort_by(order, static_cast<std::size_t>(n_classes_), [&](std::uint32_t k) { return rows[k][0]; });
    for (std::size_t c = columns_.size(); c-- > 0;) {
        sort_by(order, columns_[c].home.size(), [&](std::uint32_t k) { return rows[k][c + 1]; });
    }
    for (const std::uint32_t k : order) {
        label_.push_back(static_cast<int>(rows[k][0]));
        count_.push_back(count[k]);
        size_.push_back(size[k]);
        for (std::size_t c = 0; c < columns_.size(); ++c) point_.push_back(columns_[c].home[rows[k][c + 1]]);
    }
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        for (const std::uint32_t k : order) kind_.push_back(rows[k][c + 1]);
    }
}

// Whole samples: what exceeds the budget is never paid. In part: what is beyond the limit loses less than a sixteenth of what counts,
// and to ignore it only raises values.
void Instance::set_limit() { limit_ = in_part_ ? std::max(1.0, 16.0 * most_worth_) * budget_ : budget_; }

// Sums of prices are multiples of their common divisor, so a budget between two multiples pays for what the lower one pays.
void Instance::find_grain() {
    for (const Column& column : columns_) {
        // Each kind is at home in one bin.
        moves_for_nothing_ = moves_for_nothing_ || std::ranges::count(column.cost, 0.0) > column.n_kinds();
        for (const double cost : column.cost) {
            if (!(cost > 0 && cost < infinity)) continue;
            smallest_price_ = std::min(smallest_price_, cost);
            grain_ = common_divisor(grain_, cost);
        }
    }
    if (grain_ == 0) budget_ = 0.0;
    if (grain_ > 0 && !in_part_) budget_ -= std::fmod(budget_, grain_);
    if (!in_part_) limit_ = budget_;
    if (!in_part_ && grain_ > 0 && budget_ / grain_ > 0x1p48) throw std::invalid_argument("prices: too fine for the budget");
}

bool Instance::anybody_moves() const {
    return std::ranges::any_of(columns_, [](const Column& column) {  // each kind is at home in one bin
        return std::ranges::count_if(column.cost, [](double cost) { return cost < infinity; }) > column.n_kinds();
    });
}

namespace {

void sort_once(std::vector<double>& numbers) {
    std::ranges::sort(numbers);
    numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
}

}  // namespace

double Instance::longest_margin(int columns) const {
    std::vector<double> ranges;
    for (const Column& column : columns_) ranges.push_back(std::ranges::max(column.cost));
    std::ranges::sort(ranges, std::greater<>());
    ranges.resize(std::min(ranges.size(), static_cast<std::size_t>(std::max(0, columns))));
    return std::accumulate(ranges.begin(), ranges.end(), 0.0);
}

std::vector<double> Instance::possible_margins(int columns, std::size_t most, double& complete) const {
    for (complete = limit_;; complete *= 0.5) {
        std::vector<std::vector<double>> sums(static_cast<std::size_t>(std::max(0, columns)) + 1);  // by columns used
        sums[0] = {0.0};
        std::size_t n_sums = 0;
        for (const Column& column : columns_) {
            if (n_sums > most) break;
            std::vector<double> prices;
            std::ranges::copy_if(column.cost, std::back_inserter(prices), [&](double p) { return p > 0 && p <= complete; });
            sort_once(prices);
            if (prices.size() > most) n_sums = prices.size();
            for (std::size_t used = sums.size(); used-- > 1 && n_sums <= most;) {
                // Many sums of prices are equal, but so many as this are no longer worth the list.
                if (sums[used - 1].size() * prices.size() > 100 * most) {
                    n_sums = most + 1;
                    break;
                }
                for (const double sum : sums[used - 1]) {
                    for (const double price : prices) {
                        if (sum + price > complete) break;
                        sums[used].push_back(sum + price);
                    }
                }
                sort_once(sums[used]);
                n_sums = std::max(n_sums, sums[used].size());
            }
        }
        if (n_sums > most) continue;
        std::vector<double> all;
        for (std::size_t used = 1; used < sums.size(); ++used) all.insert(all.end(), sums[used].begin(), sums[used].end());
        sort_once(all);
        return all;
    }
}

}  // namespace hardwood::search
