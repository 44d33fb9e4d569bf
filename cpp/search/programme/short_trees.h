// All trees with at most three levels at once, from the sums over sets of tests (docs/theory.md#tuples).
#pragma once

#include <span>
#include <vector>

#include "../model/tree.h"
#include "tuple_sums.h"

namespace hardwood::search {

class ShortTrees {
public:
    static constexpr int deepest = 3;

    // Finds the largest gains of trees with at least one test, for each test on top. The gain of a leaf is the size of its sum, or its
    // largest sum over the classes; the error of a tree is `error` of the gains of its leaves together. Unless tests are counted, only
    // trees with any number of tests are told apart by their top. Leaves that do not hold enough samples gain -inf.
    void solve(const TupleSums& sums, int levels, bool counted);

    // The largest gain with the k-th test on top, and at most so many tests; if they are not counted, with any number.
    double gain_with(std::size_t k, std::size_t tests = 0) const;

    // A tree with the largest gain, with at most so many tests if they are counted; `tests` says which ones the sums are about.
    void put_tree(const TupleSums& sums, std::span<const int> tests, int levels, bool counted, int most_tests, std::size_t at,
                  Skeleton& tree);
    // The same with the k-th test on top.
    void put_tree_with(const TupleSums& sums, std::span<const int> tests, std::size_t k, int levels, bool counted, int most_tests,
                       std::size_t at, Skeleton& tree);

    static double gain_of_leaf(const TupleSums& sums);
    static int best_label(const TupleSums& sums);
    static double error(const TupleSums& sums, double gain);
    static double error_of_label(const TupleSums& sums, int label);

private:
    using Gains = std::vector<double>;  // by the number of tests, or one for any number

    // What trees with two levels need, channel after channel; where samples are counted, they come last.
    struct Pairs {
        std::size_t size = 0, stride = 0;  // tests; the same, rounded up for vectors
        std::vector<double> total, single;
        std::vector<const double*> pairs;
        std::vector<double> own_pairs;  // where they are not those of the sums

        void resize(std::size_t tests, std::size_t channels);
        double* own(std::size_t channel);
    };

    void best(const TupleSums& sums, int levels, Gains& gains, std::vector<Gains>* by_test);
    void best_of_one(const TupleSums& sums, Gains& gains, std::vector<Gains>* by_test);
    void best_of_two(const Pairs& pairs, Gains& gains, std::vector<Gains>* by_test);
    void best_of_three(const TupleSums& sums, Gains& gains, std::vector<Gains>* by_test);
    double gain_of(const double* sums, std::size_t step) const;
    const SetSums& counted_channel(const TupleSums& sums, std::size_t c) const;
    void offer(std::span<const double> here, std::span<const double> there, Gains& best) const;

    bool counted_ = false;
    std::size_t channels_ = 1;
    double least_leaf_ = 0.0;
    std::size_t all_channels_ = 1;  // samples counted, too, where leaves must hold some
    Pairs whole_, parts_[2];
    std::vector<double> rest_, inside_, outside_;
    Gains best_, part_gains_[2];
    std::vector<Gains> by_test_;
};

}  // namespace hardwood::search
