#include "instance.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace hardwood::search {

namespace {

constexpr std::int32_t lowest_code = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t highest_code = std::numeric_limits<std::int32_t>::max();

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
    return hash ^ (hash >> 29);
}

// Samples are interchangeable if codes, label and all prices of their own agree.
class RowComparison {
public:
    RowComparison(const Table& samples, const std::vector<FeaturePrices>& prices, std::span<const std::int32_t> labels)
        : samples_(samples), prices_(prices), labels_(labels) {}

    std::uint64_t hash(std::size_t i) const {
        std::uint64_t h = static_cast<std::uint32_t>(labels_[i]) + 1ULL;
        for (std::size_t f = 0; f < samples_.n_features; ++f) {
            h = mix(h, static_cast<std::uint32_t>(samples_.column(f)[i]));
            for (const double p : own_prices(f, i)) h = mix(h, std::hash<double>{}(p));
        }
        return h;
    }

    bool equal(std::size_t i, std::size_t j) const {
        if (labels_[i] != labels_[j]) return false;
        for (std::size_t f = 0; f < samples_.n_features; ++f) {
            if (samples_.column(f)[i] != samples_.column(f)[j]) return false;
            if (!std::ranges::equal(own_prices(f, i), own_prices(f, j))) return false;
        }
        return true;
    }

    // Prices that only this sample has; none if the feature has one price for all.
    std::span<const double> own_prices(std::size_t f, std::size_t i) const {
        const FeaturePrices& p = prices_[f];
        if (p.rows == 1) return {};
        return {p.prices + i * p.columns, p.columns};
    }

private:
    const Table& samples_;
    const std::vector<FeaturePrices>& prices_;
    std::span<const std::int32_t> labels_;
};

}  // namespace

Instance::Instance(const Table& samples, const std::vector<FeaturePrices>& prices,
                   std::span<const std::int32_t> labels, std::size_t n_classes, std::vector<Test> tests, double budget)
    : n_classes_(n_classes),
      budget_(budget),
      n_samples_(static_cast<double>(samples.n_samples)),
      tests_(std::move(tests)) {
    merge(samples, prices, labels);
    find_smallest_price();
}

void Instance::merge(const Table& samples, const std::vector<FeaturePrices>& prices,
                     std::span<const std::int32_t> labels) {
    const RowComparison rows(samples, prices, labels);
    std::unordered_multimap<std::uint64_t, std::size_t> seen;  // hash -> point
    std::vector<std::size_t> first;                            // point -> its first sample
    for (std::size_t i = 0; i < samples.n_samples; ++i) {
        const std::uint64_t hash = rows.hash(i);
        const auto [begin, end] = seen.equal_range(hash);
        const auto twin = std::find_if(begin, end, [&](const auto& entry) { return rows.equal(first[entry.second], i); });
        if (twin != end) {
            count_[twin->second] += 1.0;
        } else {
            seen.emplace(hash, first.size());
            first.push_back(i);
            count_.push_back(1.0);
            label_.push_back(labels[i]);
        }
    }
    values_.resize(first.size() * samples.n_features);
    price_rows_.resize(samples.n_features);
    for (std::size_t f = 0; f < samples.n_features; ++f) {
        FeaturePrices merged = prices[f];
        for (std::size_t p = 0; p < first.size(); ++p) {
            values_[f * first.size() + p] = samples.column(f)[first[p]];
        }
        if (merged.rows > 1) {
            for (const std::size_t i : first) {
                const auto own = rows.own_prices(f, i);
                price_rows_[f].insert(price_rows_[f].end(), own.begin(), own.end());
            }
        } else {
            price_rows_[f].assign(merged.prices, merged.prices + merged.columns);
        }
        if (merged.rows > 1) merged.rows = first.size();
        merged.prices = price_rows_[f].data();
        prices_.push_back(merged);
        n_categories_.push_back(merged.ordered ? 0 : static_cast<std::size_t>(merged.upper) + 1);
    }
}

void Instance::find_smallest_price() {
    for (const auto& rows : price_rows_) {
        for (const double price : rows) {
            if (price > 0) smallest_price_ = std::min(smallest_price_, price);
        }
    }
}

std::vector<std::int32_t> Instance::values_of(std::size_t feature) const {
    const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(feature * n_points());
    std::vector<std::int32_t> values(begin, begin + static_cast<std::ptrdiff_t>(n_points()));
    std::ranges::sort(values);
    values.erase(std::ranges::unique(values).begin(), values.end());
    return values;
}

bool Instance::priced_by_value(std::size_t feature) const {
    const FeaturePrices& prices = prices_[feature];
    if (prices.rows == 1) return true;
    const auto row_of = [&](std::size_t point) {
        return std::span<const double>{prices.prices + point * prices.columns, prices.columns};
    };
    std::unordered_map<std::int32_t, std::size_t> first;  // value -> a point that has it
    for (std::size_t i = 0; i < n_points(); ++i) {
        const auto [known, is_new] = first.try_emplace(value(feature, i), i);
        if (!is_new && !std::ranges::equal(row_of(known->second), row_of(i))) return false;
    }
    return true;
}

Limit Instance::open_limit(std::size_t feature) const {
    return {feature, lowest_code, highest_code, std::vector<std::uint8_t>(n_categories_[feature], 1)};
}

Limit Instance::restricted(const Limit& limit, const Test& test, int side) const {
    Limit part = limit;
    if (n_categories_[test.feature] > 0) {
        for (std::size_t k = 0; k < part.allowed.size(); ++k) {
            const bool is_tested = k == static_cast<std::size_t>(test.code);
            if (is_tested != (side == 0)) part.allowed[k] = 0;
        }
    } else if (side == 0) {
        part.high = std::min(part.high, test.code);
    } else {
        part.low = std::max(part.low, test.code + 1);
    }
    return part;
}

bool Instance::empty(const Limit& limit) const {
    if (n_categories_[limit.feature] == 0) return limit.low > limit.high;
    return std::ranges::none_of(limit.allowed, [](std::uint8_t a) { return a != 0; });
}

LimitPrice Instance::price_of(const Limit& limit) const {
    return limit_price(prices_[limit.feature], values_.data() + limit.feature * n_points(), limit);
}

}  // namespace hardwood::search
