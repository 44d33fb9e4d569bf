// A lower bound on the loss inside one region at one price.
//
// Every sample keeps to its own side of each test, where it is cheapest, except that the last test on a path is exact: there
// a sample may also cross. Valid: the loss of a sample is the largest over all leaves with a wrong label that it can reach
// (theory, section 2), so looking at some of the leaves only makes it smaller. Keeping to one side makes the choice of the
// two subtrees below a test independent, so the minimum over all subtrees is a plain recursion.
#pragma once

#include <cstddef>
#include <vector>

#include "region.h"
#include "watch.h"

namespace hardwood::search {

// A region at one price: presence (1 - price * cost)_+ of each point here and across each test.
struct View {
    std::size_t n_classes = 0;
    std::size_t n = 0;  // points, padded
    const std::vector<int>* tests = nullptr;
    std::vector<std::size_t> class_begin;
    std::vector<double> weight;  // how many samples of each point are counted here
    std::vector<double> own;
    const double* side = nullptr;  // tests x points; the region's, or `own_side`
    Doubles own_side;
    Doubles cross;                      // tests x points
    std::vector<std::uint8_t> crossed;  // by test: whether anybody can cross it at this price

    std::size_t n_tests() const { return tests->size(); }
};

View view_of(const Instance& instance, const Region& region, double price);

struct Relaxed {
    double value = infinity;      // least loss over all subtrees, node prices included
    double leaf = infinity;       // loss of a single leaf
    std::vector<double> by_test;  // least loss with each test at the top
    Skeleton best;                // a subtree that attains `value`; position 1 is the region's top
};

// The best labels p left and q right of a last test, p != q (theory, section 3), from what each class has on its own side and
// across, and the total on their own sides.
struct LeafPair {
    double loss;
    int left;
    int right;
};
LeafPair best_pair(std::size_t n_classes, const double* own_left, const double* cross_left, const double* own_right,
                   const double* cross_right, double total);

// Solves the relaxation of a view. Values above `cutoff` need not be exact, only larger than it. When the watch stops, what
// is not known yet counts as no loss, which is a bound still.
class Relaxation {
public:
    Relaxation(std::size_t n_classes, Watch& watch) : n_classes_(n_classes), watch_(watch) {}

    Relaxed solve(const View& view, int levels, double node_price, double cutoff = infinity);

private:
    double leaf(const View& view, Choice& choice) const;
    void last_level(const View& view, double node_price, Relaxed& result) const;
    void two_levels(const View& view, double node_price, Relaxed& result);
    void more_levels(const View& view, int levels, double node_price, double cutoff, Relaxed& result);

    std::size_t n_classes_;
    Watch& watch_;
    std::vector<double> top_, second_, sums_;  // of two_levels, kept to be filled again
    std::vector<std::size_t> crossed_column_;
};

}  // namespace hardwood::search
