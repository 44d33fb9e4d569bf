#include "costs/move_costs.h"

#include <algorithm>

namespace hardwood {

namespace {

double cheapest(const double* costs, const std::vector<std::uint8_t>& allowed) {
    double best = infinity;
    for (std::size_t k = 0; k < allowed.size(); ++k) {
        if (allowed[k]) best = std::min(best, costs[k]);
    }
    return best;
}

std::variant<Unreachable, NearestCode, NearestCodeBySample> nearest_cost(
    const FeatureCosts& feature, const std::int32_t* column, const Limit& limit) {
    // Every sample lies within the bounds, so only the part of the limit inside them can be
    // reached.
    const std::int32_t low = std::max(limit.low, feature.lower);
    const std::int32_t high = std::min(limit.high, feature.upper);
    if (low > high) return Unreachable{};
    NearestCode nearest{.column = column,
                        .low = low,
                        .high = high,
                        .up_cost = feature.may_increase ? 0.0 : infinity,
                        .down_cost = feature.may_decrease ? 0.0 : infinity,
                        .max_steps = static_cast<double>(feature.max_steps)};
    if (feature.rows > 1) return NearestCodeBySample{.surcharge = nearest, .costs = feature.costs};
    nearest.up_cost += feature.costs[0];
    nearest.down_cost += feature.costs[0];
    return nearest;
}

LimitCost ordered_cost(const FeatureCosts& feature, const std::int32_t* column,
                       const Limit& limit) {
    const auto value = nearest_cost(feature, column, limit);
    if (feature.missing != nullptr) {
        return ValueOrMissing{
            .value = value, .column = column, .feature = &feature, .missing = limit.missing};
    }
    return std::visit([](const auto& cost) -> LimitCost { return cost; }, value);
}

LimitCost pair_cost(const FeatureCosts& feature, const std::int32_t* column, const Limit& limit) {
    const PairCosts& table = feature.table;
    CheapestPair pair{
        .column = column, .table = table, .cost = std::vector<double>(table.size, infinity)};
    for (std::size_t from = 0; from < table.size; ++from) {
        for (std::size_t to = 0; to < table.size; ++to) {
            const double cost = from == to ? 0.0 : table.costs[from * table.size + to];
            if (limit.allows(table.codes[to])) pair.cost[from] = std::min(pair.cost[from], cost);
        }
    }
    return pair;
}

LimitCost categorical_cost(const FeatureCosts& feature, const std::int32_t* column,
                           const Limit& limit) {
    const std::vector<std::uint8_t>& allowed = limit.allowed;
    if (std::none_of(allowed.begin(), allowed.end(), [](std::uint8_t a) { return a != 0; }))
        return Unreachable{};
    if (feature.rows > 1) {
        return LeaveCategoryBySample{.column = column,
                                     .allowed = allowed,
                                     .costs = feature.costs,
                                     .columns = feature.columns};
    }
    LeaveCategory leave{.column = column,
                        .cost = std::vector<double>(allowed.size(), feature.costs[0])};
    const double arrive = feature.columns > 1 ? cheapest(feature.costs, allowed) : 0.0;
    for (std::size_t k = 0; k < allowed.size(); ++k) {
        if (feature.columns > 1) leave.cost[k] = feature.costs[k] + arrive;
        if (allowed[k]) leave.cost[k] = 0.0;
    }
    return leave;
}

}  // namespace

double LeaveCategoryBySample::operator()(std::size_t sample) const {
    const auto code = static_cast<std::size_t>(column[sample]);
    if (allowed[code]) return 0.0;
    const double* own = costs + sample * columns;
    return columns > 1 ? own[code] + cheapest(own, allowed) : own[0];
}

double ValueOrMissing::operator()(std::size_t sample) const {
    const double change = feature->missing_cost(sample);
    if (column[sample] == missing_code) {
        return missing ? 0.0 : std::holds_alternative<Unreachable>(value) ? infinity : change;
    }
    const double cost = std::visit([sample](const auto& own) { return own(sample); }, value);
    return missing ? std::min(cost, change) : cost;
}

std::size_t PairCosts::position(std::int32_t code) const {
    // Usually the codes are consecutive.
    const auto guess = static_cast<std::int64_t>(code) - codes[0];
    if (guess >= 0 && guess < static_cast<std::int64_t>(size) && codes[guess] == code) {
        return static_cast<std::size_t>(guess);
    }
    return static_cast<std::size_t>(std::lower_bound(codes, codes + size, code) - codes);
}

LimitCost limit_cost(const FeatureCosts& feature, const std::int32_t* column, const Limit& limit) {
    if (feature.table.size > 0) return pair_cost(feature, column, limit);
    return feature.ordered ? ordered_cost(feature, column, limit)
                           : categorical_cost(feature, column, limit);
}

}  // namespace hardwood
