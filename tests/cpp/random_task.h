// Small random problems of every kind.
#pragma once

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "model/instance.h"

namespace hardwood::search::testing {

// Owns what a task points to.
struct RandomTask {
    std::vector<std::int32_t> values, labels;
    std::vector<std::vector<double>> costs, missing_costs, tables;
    std::vector<std::vector<std::int32_t>> codes;
    std::vector<double> weights;
    SearchTask task;

    explicit RandomTask(unsigned seed, std::size_t total = 8, std::size_t n_features = 3,
                        int n_values = 3, std::size_t n_classes = 2) {
        std::mt19937 random(seed);
        const auto below = [&](int n) {
            return static_cast<std::int32_t>(random() % static_cast<unsigned>(n));
        };
        for (auto* lists : {&costs, &missing_costs, &tables}) lists->resize(n_features);
        codes.resize(n_features);
        const auto cost = [&] { return below(6) == 0 ? infinity : 0.25 * (1 + below(6)); };
        std::vector<FeatureCosts> features;
        for (std::size_t f = 0; f < n_features; ++f) {
            const bool ordered = below(2) == 0, by_sample = below(3) == 0,
                       by_category = !ordered && below(3) == 0;
            const std::size_t rows = by_sample ? total : 1,
                              columns = by_category ? static_cast<std::size_t>(n_values) : 1;
            for (std::size_t k = 0; k < rows * columns; ++k) costs[f].push_back(cost());
            const bool missing = ordered && below(3) == 0, by_table = below(4) == 0;
            const bool rises = below(4) > 0, falls = !rises || below(4) > 0;
            features.push_back({costs[f].data(), rows, columns, ordered, rises, falls, 0,
                                n_values - 1, below(5) == 0 ? 1 : 1000});
            if (missing) {
                const std::size_t own = below(3) == 0 ? total : 1;
                for (std::size_t k = 0; k < own; ++k) missing_costs[f].push_back(cost());
                features.back().missing = missing_costs[f].data();
                features.back().missing_rows = missing_costs[f].size();
            }
            if (by_table) {
                for (std::int32_t code = 0; code < n_values; ++code) codes[f].push_back(code);
                if (missing) codes[f].push_back(missing_code);
                for (std::size_t k = 0; k < codes[f].size() * codes[f].size(); ++k)
                    tables[f].push_back(cost());
                features.back().table = {codes[f].data(), tables[f].data(), codes[f].size()};
            }
            std::set<std::int32_t> seen;
            for (std::size_t i = 0; i < total; ++i) {
                values.push_back(missing && below(4) == 0 ? missing_code : below(n_values));
                seen.insert(values.back());
            }
            for (std::int32_t code = 0; code < n_values - (ordered ? 1 : 0); ++code) {
                if (missing) task.splits.push_back({f, code, true});
                if (ordered || seen.contains(code) || below(2) == 0)
                    task.splits.push_back({f, code});
            }
            if (missing) task.splits.push_back({f, -missing_code, true});
        }
        for (std::size_t i = 0; i < total; ++i)
            labels.push_back(below(static_cast<int>(n_classes)));
        task.table = {values.data(), total, n_features};
        task.costs = features;
        task.labels = labels;
        task.n_classes = n_classes;
        task.budget = 0.25 * below(20);
    }
    RandomTask(const RandomTask&) = delete;
};

// Every point of the domain.
inline std::vector<std::vector<Bin>> all_points(const Instance& instance) {
    std::vector<std::vector<Bin>> points{{}};
    for (int c = 0; c < instance.n_columns(); ++c) {
        std::vector<std::vector<Bin>> longer;
        for (const auto& point : points) {
            for (Bin b = 0; b < instance.column(c).n_bins; ++b) {
                longer.push_back(point);
                longer.back().push_back(b);
            }
        }
        points = longer;
    }
    return points;
}

// Samples left correct if the cheapest margins are paid first.
inline double kept(const Instance& instance, std::vector<double> margins) {
    std::ranges::sort(margins);
    double spent = 0.0, correct = instance.total();
    for (const double margin : margins) {
        spent += margin;
        if (spent > instance.budget()) break;
        correct -= 1.0;
    }
    return correct;
}

inline double cost_of(const Instance& instance, std::size_t row, const Bin* point) {
    double total = 0.0;
    for (int c = 0; c < instance.n_columns(); ++c) total += instance.cost(row, c, point[c]);
    return total <= instance.budget() ? total : infinity;
}

}  // namespace hardwood::search::testing
