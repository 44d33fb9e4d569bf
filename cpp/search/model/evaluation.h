// The exact worth of a tree.
#pragma once

#include <vector>

#include "box.h"

namespace hardwood::search {

// correct    samples correct in the worst case
// dual       largest value over all prices of n_samples - price * budget - loss: what is left in the worst case if the last row may be
//            lost in part; `correct` is this, rounded up
// dual_price a price that attains it
struct Evaluation {
    double correct;
    double dual;
    double dual_price;
};

class Evaluator {
public:
    explicit Evaluator(const Instance& instance) : instance_(instance) {}

    Evaluation operator()(const Skeleton& tree);

    // Of the last tree, by row: the cheapest price of a leaf with a wrong label, and what that leaf costs.
    const std::vector<double>& margins() const { return margin_; }
    const BoxCost& wrong_leaf(std::size_t row) const { return leaves_[nearest_[row]]; }

private:
    Evaluation worst_case() const;
    std::vector<std::pair<double, double>> tally() const;

    const Instance& instance_;
    std::vector<BoxCost> leaves_;
    std::vector<std::uint32_t> nearest_;
    std::vector<double> margin_;
};

}  // namespace hardwood::search
