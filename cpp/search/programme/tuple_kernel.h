// All trees with few levels at once: from the weights of all pairs, triples, ... of answers (docs/theory.md#tuples).
#pragma once

#include <span>
#include <vector>

#include "answers.h"
#include "weights.h"

namespace hardwood::search {

class TupleKernel {
public:
    explicit TupleKernel(const Points& points);

    // Whether all trees of so many levels are worth it in a box with so many tests: the tables have that power of it.
    static bool serves(int levels, std::size_t tests, int channels);

    // Finds the least errors of trees with at least one test in a box, from the points in it. Unless tests are counted, only
    // those of trees with any number of tests.
    void load(const Box& box, std::span<const std::uint32_t> members, const Weights& weights, int levels, bool counted);

    // The least error with the k-th test of the box on top, and at most so many tests; if they are not counted, with any number.
    double error_with(std::size_t k, std::size_t tests = 0) const;

private:
    // The gain of a leaf is the size of its sum, or its largest sum over the classes; the error of a tree is
    // scale * (mass - sum of the gains of its leaves). Gains by the number of tests, or one for any number.
    using Gains = std::vector<double>;
    using Tables = std::vector<const double*>;  // by channel

    std::size_t length(int dimensions) const;
    void sum(std::span<const std::uint32_t> members, const Weights& weights);
    void from_bins_to_tests(double* table) const;
    // The largest gains of trees of so many levels, and of those with each test on top if asked for.
    void solve(int levels, const Tables& tables, const double* totals, Gains& best, std::vector<Gains>* by_test);
    void solve_one(const Tables& tables, const double* totals, Gains& best, std::vector<Gains>* by_test);
    void solve_two(const Tables& tables, const double* totals, Gains& best, std::vector<Gains>* by_test);
    void offer(const Gains& here, const Gains& there, Gains& best) const;
    double gain_of(const double* sums) const;

    const Points& points_;
    Answers answers_;
    int levels_ = 0, channels_ = 1;
    bool counted_ = false;
    std::size_t size_ = 0, stride_ = 0;  // tests of the box; the same, padded
    double scale_ = 1.0, mass_ = 0.0;
    std::vector<std::uint32_t> places_;
    std::vector<double> tables_, total_, single_, inside_, outside_;
    struct Buffers {  // of a level
        std::vector<double> lower, there, totals;
        Gains here_gains, there_gains;
    };
    std::vector<Buffers> buffers_;
    std::vector<Gains> by_test_;
    Gains best_;
};

}  // namespace hardwood::search
