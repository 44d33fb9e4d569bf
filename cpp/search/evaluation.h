// The exact worth of a tree.
#pragma once

#include <vector>

#include "instance.h"
#include "region.h"

namespace hardwood::search {

// correct    samples correct in the worst case
// dual       largest value over all prices of n_samples - price * budget - loss; `correct` is this, rounded up
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

    // The loss of each point in a region at one price, for a subtree that stands at the region's position.
    void losses(const Region& region, const Skeleton& tree, double price, std::vector<double>& loss);

private:
    void visit(const Skeleton& tree, std::size_t position, std::size_t depth);
    Evaluation worst_case();

    const Instance& instance_;
    std::vector<Limit> limits_;
    std::vector<std::size_t> points_;
    std::vector<std::vector<double>> cost_;  // by depth
    std::vector<double> margin_;
    std::vector<std::pair<double, double>> sorted_;
};

int count_tests(const Skeleton& tree, std::size_t position = 1);

}  // namespace hardwood::search
