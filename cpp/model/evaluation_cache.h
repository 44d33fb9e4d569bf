/// Evaluations of trees, each made once.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "model/evaluator.h"

namespace hardwood::search {

/// Evaluates a tree once, or again if it returns at a lower multiplier, where rows keep mass at
/// more points.
class EvaluationCache {
public:
    explicit EvaluationCache(const Instance& instance) : evaluator_(instance) {}

    /// Empty if the tree was evaluated before at this or a lower multiplier.
    std::optional<Evaluation> evaluate(const HeapTree& tree, double multiplier);
    /// Holds the margins of the tree that was evaluated last.
    const Evaluator& evaluator() const { return evaluator_; }

private:
    Evaluator evaluator_;
    std::unordered_map<std::string, double> lowest_multiplier_;  // by tree
};

}  // namespace hardwood::search
