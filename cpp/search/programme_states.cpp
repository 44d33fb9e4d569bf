// What is left of a feature on a path, and what its tests do there.
#include <algorithm>
#include <utility>

#include "programme.h"

namespace hardwood::search {

namespace {

double presence(double scaled_cost) { return std::max(0.0, 1.0 - scaled_cost); }

}  // namespace

Programme::State* Programme::state_of(const Limit& limit) {
    const auto [entry, is_new] = states_.try_emplace({limit.feature, limit.low, limit.high, limit.allowed});
    State& state = entry->second;
    if (!is_new) return &state;
    const std::size_t n_values = representative_[limit.feature].size();
    const auto costs = [&](const Limit& part) {
        const LimitPrice price = instance_.price_of(part);
        std::vector<double> result(n_values);
        for (std::size_t v = 0; v < n_values; ++v) result[v] = evaluate(price, representative_[limit.feature][v]);
        return result;
    };
    state.limit = limit;
    for (const int t : tests_of_[limit.feature]) {
        Cut& cut = state.cuts.emplace_back();
        const Test& test = instance_.tests()[static_cast<std::size_t>(t)];
        const Limit left = instance_.restricted(limit, test, 0), right = instance_.restricted(limit, test, 1);
        if (instance_.empty(left) || instance_.empty(right)) continue;
        cut.splits = true;
        const std::vector<double> to_left = costs(left), to_right = costs(right);
        for (std::size_t v = 0; v < n_values; ++v) {
            const bool goes_right = to_right[v] < to_left[v];
            const double dearer = goes_right ? to_left[v] : to_right[v], cheaper = std::min(to_left[v], to_right[v]);
            const double extra = cheaper < infinity ? scaled(dearer - cheaper) : 2.0;
            cut.side.push_back(goes_right ? 1 : 0);
            cut.extra[0].push_back(goes_right ? extra : 0.0);
            cut.extra[1].push_back(goes_right ? 0.0 : extra);
        }
    }
    state.part.resize(state.cuts.size());
    if (slopes_known_) find_alike(state);
    return &state;
}

Terms Programme::terms_of(std::size_t feature, const std::vector<std::size_t>& values) const {
    const std::size_t n_values = representative_[feature].size();
    std::vector<bool> wanted(n_values, false);
    for (const std::size_t v : values) wanted[v] = true;
    Terms terms;
    if (n_columns_[feature] == n_values) {
        terms.all = 2 * values.size() > n_values;
        for (std::size_t v = 0; v < n_values; ++v) {
            if (wanted[v] != terms.all) terms.columns.emplace_back(v, terms.all ? -1.0 : 1.0);
        }
        return terms;
    }
    for (std::size_t v = 0; v < n_values; ++v) {  // runs of values: above what is before them, but not above their last
        if (!wanted[v]) continue;
        if (v == 0) terms.all = true;
        if (v > 0 && !wanted[v - 1]) terms.columns.emplace_back(v - 1, 1.0);
        if (v + 1 < n_values && !wanted[v + 1]) terms.columns.emplace_back(v, -1.0);
    }
    return terms;
}

// Values on the same side that pay the same to cross and cross in the same part.
void Programme::find_alike(State& state) const {
    std::map<std::vector<std::size_t>, std::size_t> known;
    for (std::size_t k = 0; k < state.cuts.size(); ++k) {
        Cut& cut = state.cuts[k];
        if (!cut.splits) continue;
        const auto t = static_cast<std::size_t>(tests_of_[state.limit.feature][k]);
        std::map<std::tuple<int, double, double, int>, std::vector<std::size_t>> classes;
        for (std::size_t v = 0; v < cut.side.size(); ++v) {
            classes[{cut.side[v], cut.extra[1 - cut.side[v]][v], slope_[t][v], home_side_[t][v]}].push_back(v);
        }
        for (auto& [key, values] : classes) {
            const std::size_t value = values.front();
            const auto [entry, is_new] = known.try_emplace(values, state.sets.size());
            if (is_new) state.sets.push_back(terms_of(state.limit.feature, values));
            cut.alike.push_back({entry->second, value});
        }
        std::vector<std::size_t> right;
        for (std::size_t v = 0; v < cut.side.size(); ++v) {
            if (cut.side[v] == 1) right.push_back(v);
        }
        cut.right = terms_of(state.limit.feature, right);
    }
}

Programme::State* Programme::part_of_state(State& state, int test, int side) {
    State*& part = state.part[place_of_test_[static_cast<std::size_t>(test)]][static_cast<std::size_t>(side)];
    if (part == nullptr) {
        part = state_of(instance_.restricted(state.limit, instance_.tests()[static_cast<std::size_t>(test)], side));
    }
    return part;
}

void Programme::find_seconds(State& state) {
    const std::vector<int>& tests = tests_of_[state.limit.feature];
    state.seconds.resize(tests.size());
    for (std::size_t first = 0; first < tests.size(); ++first) {
        if (!state.cuts[first].splits) continue;
        for (int side = 0; side < 2; ++side) {
            const State* left_over = part_of_state(state, tests[first], side);
            for (std::size_t second = 0; second < tests.size(); ++second) {
                const Cut& here = state.cuts[second];
                const Cut& there = left_over->cuts[second];
                if (!there.splits) continue;
                std::vector<std::size_t> differs;
                for (std::size_t v = 0; v < here.side.size(); ++v) {
                    const bool present = state.cuts[first].extra[static_cast<std::size_t>(side)][v] < 1.0;
                    const bool same = here.side[v] == there.side[v] && here.extra[0][v] == there.extra[0][v] &&
                                      here.extra[1][v] == there.extra[1][v];
                    if (present && !same) differs.push_back(v);
                }
                state.seconds[first][static_cast<std::size_t>(side)].push_back({second, &there, std::move(differs)});
            }
        }
    }
}

void Programme::set_price(double price) {
    if (price == price_) return;
    price_ = price;
    states_.clear();
    slopes_known_ = false;
    for (std::size_t t = 0; t < instance_.tests().size(); ++t) {
        const Cut& cut = state_of(instance_.open_limit(feature_of(t)))->cuts[place_of_test_[t]];
        home_side_[t] = cut.side;
        slope_[t].resize(cut.side.size());
        for (std::size_t v = 0; v < cut.side.size(); ++v) slope_[t][v] = presence(cut.extra[1 - cut.side[v]][v]);
    }
    slopes_known_ = true;
    for (auto& [limit, state] : states_) find_alike(state);
}

void Programme::set(double price, const Crossings& crossings) {
    set_price(price);
    part_.assign(n_classes_ * instance_.tests().size() * 2 * most_values_, 0.0);
    for (std::size_t c = 0; c < n_classes_; ++c) {
        for (std::size_t t = 0; t < instance_.tests().size(); ++t) {
            for (std::size_t v = 0; v < slope_[t].size(); ++v) {
                const int home = home_side_[t][v];
                const double crosses = crossings(c, home, t) * slope_[t][v];
                part_[part_index(c, t, home) + v] = 1.0 - crosses;
                part_[part_index(c, t, 1 - home) + v] = crosses;
            }
        }
    }
}

}  // namespace hardwood::search
