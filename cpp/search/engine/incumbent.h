// The best tree so far.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>

#include "../model/evaluation.h"

namespace hardwood::search {

// What counts of a tree: the samples that it keeps correct in the worst case, its tests, and what of the last row is left if that may be
// lost in part (otherwise `value` is the samples again).
struct Score {
    double correct = -1.0;
    int tests = 0;
    double value = -1.0;

    bool operator==(const Score&) const = default;
    // Trees with so many tests are better iff they keep more samples correct than this: correct - penalty * (this->tests -
    // tests), rounded down in exact arithmetic (a product of doubles and its rounding error are two doubles).
    double to_beat(int others_tests, double penalty) const {
        const double more = others_tests - tests;
        const double product = penalty * more, error = std::fma(penalty, more, -product);
        const double down = std::floor(product);
        return correct + (product == down && error < 0 ? down - 1.0 : down);
    }
};

struct Incumbent {
    Score score;
    Skeleton tree;
    double dual_price = 0.0;
    double penalty = 0.0;  // of a test

    // Trees with so many tests need more correct samples than this to be better.
    double to_beat(int tests) const { return score.to_beat(tests, penalty); }
    // Of two trees that are worth the same, the smaller one is kept if it is as robust: it matters if tests cost nothing. Of two that
    // have the same size, too, the one that keeps the larger part of the last row.
    bool is_beaten_by(const Score& other) const {
        const bool as_robust = other.correct == score.correct;
        const bool smaller = as_robust && other.tests < score.tests;
        const bool a_little = as_robust && other.tests == score.tests && other.value > score.value;
        return score.correct < 0 || other.correct > to_beat(other.tests) || smaller || a_little;
    }
};

// Evaluates trees, each once for the prices that it comes up at.
class Judge {
public:
    explicit Judge(const Instance& instance) : evaluate_(instance) {}

    // Nothing if the tree was seen before, at this price or a lower one: then it was looked at as far as rows are present.
    std::optional<Evaluation> operator()(const Skeleton& tree, double price);
    const Evaluator& evaluator() const { return evaluate_; }

private:
    Evaluator evaluate_;
    std::unordered_map<std::string, double> seen_;  // the lowest price
};

}  // namespace hardwood::search
