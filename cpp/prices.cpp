#include "prices.h"

#include <algorithm>

namespace hardwood {

namespace {

double cheapest(const double* prices, const std::vector<std::uint8_t>& allowed) {
    double best = infinity;
    for (std::size_t k = 0; k < allowed.size(); ++k) {
        if (allowed[k]) best = std::min(best, prices[k]);
    }
    return best;
}

std::variant<Unreachable, NearestCode, OwnNearestCode> nearest_price(const FeaturePrices& feature, const std::int32_t* column,
                                                                     const Limit& limit) {
    // Every sample lies within the bounds, so only the part of the limit inside them can be reached.
    const std::int32_t low = std::max(limit.low, feature.lower);
    const std::int32_t high = std::min(limit.high, feature.upper);
    if (low > high) return Unreachable{};
    NearestCode nearest{column, low, high, feature.may_rise ? 0.0 : infinity, feature.may_fall ? 0.0 : infinity,
                        static_cast<double>(feature.steps)};
    if (feature.rows > 1) return OwnNearestCode{nearest, feature.prices};
    nearest.rise += feature.prices[0];
    nearest.fall += feature.prices[0];
    return nearest;
}

LimitPrice ordered_price(const FeaturePrices& feature, const std::int32_t* column, const Limit& limit) {
    const auto answer = nearest_price(feature, column, limit);
    if (feature.missing != nullptr) return AnswerOrNone{answer, column, &feature, limit.missing};
    return std::visit([](const auto& price) -> LimitPrice { return price; }, answer);
}

LimitPrice table_price(const FeaturePrices& feature, const std::int32_t* column, const Limit& limit) {
    const PriceTable& table = feature.table;
    TablePrice price{column, table, std::vector<double>(table.size, infinity)};
    for (std::size_t from = 0; from < table.size; ++from) {
        for (std::size_t to = 0; to < table.size; ++to) {
            const double cost = from == to ? 0.0 : table.prices[from * table.size + to];
            if (limit.allows(table.codes[to])) price.cheapest[from] = std::min(price.cheapest[from], cost);
        }
    }
    return price;
}

LimitPrice categorical_price(const FeaturePrices& feature, const std::int32_t* column, const Limit& limit) {
    const std::vector<std::uint8_t>& allowed = limit.allowed;
    if (std::none_of(allowed.begin(), allowed.end(), [](std::uint8_t a) { return a != 0; })) return Unreachable{};
    if (feature.rows > 1) return OwnCategory{column, allowed, feature.prices, feature.columns};
    LeaveCategory price{column, std::vector<double>(allowed.size(), feature.prices[0])};
    const double arrive = feature.columns > 1 ? cheapest(feature.prices, allowed) : 0.0;
    for (std::size_t k = 0; k < allowed.size(); ++k) {
        if (feature.columns > 1) price.leave[k] = feature.prices[k] + arrive;
        if (allowed[k]) price.leave[k] = 0.0;
    }
    return price;
}

}  // namespace

double OwnCategory::operator()(std::size_t sample) const {
    const auto code = static_cast<std::size_t>(column[sample]);
    if (allowed[code]) return 0.0;
    const double* own = prices + sample * columns;
    return columns > 1 ? own[code] + cheapest(own, allowed) : own[0];
}

double AnswerOrNone::operator()(std::size_t sample) const {
    const double change = feature->missing_price(sample);
    if (column[sample] == no_answer) return missing ? 0.0 : std::holds_alternative<Unreachable>(answer) ? infinity : change;
    const double price = std::visit([sample](const auto& own) { return own(sample); }, answer);
    return missing ? std::min(price, change) : price;
}

std::size_t PriceTable::place(std::int32_t code) const {
    // Mostly all codes from the first on are there.
    const auto guess = static_cast<std::int64_t>(code) - codes[0];
    if (guess >= 0 && guess < static_cast<std::int64_t>(size) && codes[guess] == code) return static_cast<std::size_t>(guess);
    return static_cast<std::size_t>(std::lower_bound(codes, codes + size, code) - codes);
}

LimitPrice limit_price(const FeaturePrices& feature, const std::int32_t* column, const Limit& limit) {
    if (feature.table.size > 0) return table_price(feature, column, limit);
    return feature.ordered ? ordered_price(feature, column, limit) : categorical_price(feature, column, limit);
}

}  // namespace hardwood
