#include "prices.h"

#include <algorithm>

namespace hardwood {

namespace {

// Price of a sample whose limit is `low <= code <= high`: the nearest code that fits is the cheapest, steps cost the same.
// `rise` and `fall` are +inf where the direction is closed; they are only multiplied by at least one step, never by 0.
inline double nearest(std::int32_t code, std::int32_t low, std::int32_t high, double rise, double fall) {
    const double up = static_cast<double>(low) - code;
    const double down = static_cast<double>(code) - high;
    return (up > 0 ? up * rise : 0.0) + (down > 0 ? down * fall : 0.0);
}

double cheapest(const double* prices, const std::vector<std::uint8_t>& allowed) {
    double best = infinity;
    for (std::size_t k = 0; k < allowed.size(); ++k) {
        if (allowed[k]) best = std::min(best, prices[k]);
    }
    return best;
}

}  // namespace

void FeaturePrices::add(const Table& table, const Limit& limit, std::size_t begin, std::span<double> total) const {
    const std::int32_t* column = table.column(limit.feature) + begin;
    if (ordered) {
        add_ordered(column, limit, begin, total);
    } else {
        add_categorical(column, limit, begin, total);
    }
}

void FeaturePrices::add_ordered(const std::int32_t* column, const Limit& limit, std::size_t begin,
                                std::span<double> total) const {
    // Every sample lies within the bounds, so only the part of the limit inside them can be reached.
    const std::int32_t low = std::max(limit.low, lower);
    const std::int32_t high = std::min(limit.high, upper);
    if (low > high) {
        std::fill(total.begin(), total.end(), infinity);
        return;
    }
    if (rows == 1) {
        const double rise = may_rise ? prices[0] : infinity;
        const double fall = may_fall ? prices[0] : infinity;
        for (std::size_t i = 0; i < total.size(); ++i) total[i] += nearest(column[i], low, high, rise, fall);
        return;
    }
    const double* own = prices + begin;
    for (std::size_t i = 0; i < total.size(); ++i) {
        total[i] += nearest(column[i], low, high, may_rise ? own[i] : infinity, may_fall ? own[i] : infinity);
    }
}

void FeaturePrices::add_categorical(const std::int32_t* column, const Limit& limit, std::size_t begin,
                                    std::span<double> total) const {
    const std::vector<std::uint8_t>& allowed = limit.allowed;
    const bool any = std::any_of(allowed.begin(), allowed.end(), [](std::uint8_t a) { return a != 0; });
    if (rows == 1) {
        // The same for all samples: a price for each category to leave.
        std::vector<double> leave(allowed.size(), any ? prices[0] : infinity);
        const double arrive = columns > 1 ? cheapest(prices, allowed) : 0.0;
        for (std::size_t k = 0; k < allowed.size(); ++k) {
            if (columns > 1) leave[k] = prices[k] + arrive;
            if (allowed[k]) leave[k] = 0.0;
        }
        for (std::size_t i = 0; i < total.size(); ++i) total[i] += leave[static_cast<std::size_t>(column[i])];
        return;
    }
    for (std::size_t i = 0; i < total.size(); ++i) {
        const auto code = static_cast<std::size_t>(column[i]);
        if (allowed[code]) continue;
        const double* own = prices + (begin + i) * columns;
        const double change = columns > 1 ? own[code] + cheapest(own, allowed) : own[0];
        total[i] += any ? change : infinity;
    }
}

}  // namespace hardwood
