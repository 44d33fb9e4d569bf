/// The exact worst case of a tree.
#pragma once

#include <vector>

#include "model/box.h"

namespace hardwood::search {

struct Evaluation {
    double correct;  // (weighted) samples correct in the worst case
    double dual;     // max over u of total - u * budget - loss(u): the value if the last row may be
                     // flipped in part; `correct` is this, rounded up
    double dual_multiplier;  // a multiplier that attains it
};

class Evaluator {
public:
    explicit Evaluator(const Instance& instance) : instance_(instance) {}

    Evaluation operator()(const HeapTree& tree);

    /// Of the last tree, by row: the smallest cost of a leaf with a wrong label, and the costs of
    /// that leaf.
    const std::vector<double>& margins() const { return margin_; }
    const BoxCost& wrong_leaf(std::size_t row) const { return leaves_[nearest_[row]]; }

private:
    Evaluation worst_case() const;
    std::vector<std::pair<double, double>> weight_by_margin() const;

    const Instance& instance_;
    std::vector<BoxCost> leaves_;
    std::vector<std::uint32_t> nearest_;
    std::vector<double> margin_;
};

}  // namespace hardwood::search
