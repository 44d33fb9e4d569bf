// A bound for a node from shared weights: a part of each point crosses each test, fixed or not, and the parts are improved by
// subgradient steps along the trees that attain the bound. Cheap for many levels, since points that share alike form groups.
#pragma once

#include <optional>

#include "programme.h"
#include "task.h"

namespace hardwood::search {

class Sharing {
public:
    Sharing(const Instance& instance, Watch& watch);

    // Whether shared weights can be had at all: see Programme::fits.
    bool fits() const { return programme_.has_value(); }

    // A bound at a price; stops early once `target` is reached. The bounds for each test on top of each region are worked out
    // up to the target only. Tests that are closed at this price are left out of a single region: the bound is on all others.
    PriceBound bound(const Node& node, double price, Task& task, double target, int iterations,
                     const std::vector<bool>& closed);

    // The bound for the parts to begin with, and nothing else.
    double quick_bound(const Node& node, double price, const Task& task);

    // Whether nobody can cross any test at a price: then the loss on the own side is all there is.
    bool nobody_crosses(double price);
    // The least loss, plus a price for each test, if every sample keeps to its own side; with a tree that attains it.
    double least_own_loss(const Region& root, double price, double test_price, Skeleton& tree);

    // The tree that is best if losses are added up over all leaves that a sample can reach, instead of taken once.
    Skeleton best_by_sum(const Region& root, double price);


private:
    struct Solved {
        double value = 0.0;
        std::vector<Relaxed> regions;
        Skeleton tree;
    };

    Solved solve(const Node& node, double price, const Task& task, const Crossings& crossings, double cutoff,
                 bool each_test, const std::vector<bool>& closed);
    Relaxed ask_root(const Region& root, double price, Rule rule, double test_price);
    std::vector<double> parts_of(const Node& node, const Region& region) const;
    std::vector<Crossings> first_crossings(const Node& node, double price) const;
    // Moves crossings so that the bound gains about `gain`, to first order; false if no step can help.
    bool step(const Skeleton& tree, double price, const Task& task, double gain, Crossings& crossings);
    void follow(const Skeleton& tree, std::size_t at, std::size_t depth, double price, const Task& task);

    const Instance& instance_;
    std::optional<Programme> programme_;

    // Of `follow`, by depth and point.
    std::vector<Limit> limits_;
    std::vector<std::vector<double>> cost_, share_, value_;
    std::vector<double> gradient_;
};

}  // namespace hardwood::search
