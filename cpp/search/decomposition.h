// A bound for several open regions at once (theory, section 4).
//
// The loss of a point is the largest over all regions that it can reach, hence at least any average of them. Give each
// point shares that add up to at most one; then the loss of every completion is at least the sum over the regions of the least
// share-weighted loss inside each. Better shares are found by subgradient steps.
#pragma once

#include <span>
#include <vector>

#include "evaluation.h"
#include "relaxation.h"
#include "task.h"

namespace hardwood::search {

struct Place {
    std::size_t region;
    std::size_t index;
};

// Where each point stands in the open regions.
class Places {
public:
    Places(const Instance& instance, const Node& node);
    std::span<const Place> of(std::size_t point) const {
        return {places_.data() + begin_[point], begin_[point + 1] - begin_[point]};
    }

private:
    std::vector<std::size_t> begin_;
    std::vector<Place> places_;
};

// Points that are present in two or more open regions.
class Meetings {
public:
    Meetings(const Instance& instance, const Node& node, const Task& task, double price);

    std::size_t size() const { return begin_.size() - 1; }
    std::size_t begin(std::size_t m) const { return begin_[m]; }
    std::size_t end(std::size_t m) const { return begin_[m + 1]; }
    const Place& place(std::size_t z) const { return places_[z]; }
    double weight(std::size_t m) const { return weight_[m]; }

    // Moves shares towards the regions with the larger loss so that the bound gains about `gain`, to first order.
    // False if no step can help.
    bool step(const std::vector<const std::vector<double>*>& loss, double gain, Shares& shares) const;

private:
    std::vector<std::size_t> begin_{0};
    std::vector<Place> places_;
    std::vector<double> weight_;
};

class Decomposition {
public:
    Decomposition(const Instance& instance, Watch& watch)
        : instance_(instance), relaxation_(instance.n_classes(), watch), watch_(watch) {}

    // A bound at a price; stops early once `target` is reached. `start`: shares to begin with.
    PriceBound bound(const Node& node, double price, Task& task, double target, int iterations,
                     const Shares* start = nullptr);

    // The relaxed optimum of one region under shares, with its losses.
    Relaxed relax(const Region& region, View& view, const std::vector<double>& shares, const Task& task);
    void relaxed_losses(const Region& region, const View& view, const Skeleton& best, std::vector<double>& loss) const;


private:
    Shares first_shares(const Node& node, double price, const Shares* start) const;

    const Instance& instance_;
    Relaxation relaxation_;
    Watch& watch_;
};

// How many steps a bound is worth: the more levels, the dearer each.
inline int iterations_for(int levels) { return levels <= 1 ? 5 : levels == 2 ? 6 : 3; }

// Puts a subtree of a region, given relative to the region's top, into a tree.
void put_subtree(const Skeleton& subtree, const Region& region, Skeleton& tree);

}  // namespace hardwood::search
