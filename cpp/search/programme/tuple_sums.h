// Sums of weights over all sets of few tests: of the points for which all tests of a set are true (docs/theory.md#tuples).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "answers.h"
#include "weights.h"

namespace hardwood::search {

// Ways to choose so many of n.
constexpr std::size_t choose(std::size_t n, int of) {
    std::size_t ways = 1;
    for (std::size_t k = 0; k < static_cast<std::size_t>(of); ++k) ways = n > k ? ways * (n - k) / (k + 1) : 0;
    return ways;
}

// One number for each set of at most `order` of so many tests. Sets of one size stand side by side, ordered by their largest test,
// then by the next one, and so on: all sets with the same larger tests are a stretch.
class SetSums {
public:
    void clear(int order, std::size_t tests);

    int order() const { return order_; }
    double total() const { return sums_[0]; }
    const double* of(int tests) const { return sums_.data() + first_[static_cast<std::size_t>(tests)]; }

    // A point for which these tests are true, in order.
    void add(std::span<const std::uint32_t> tests, double weight);
    // Points entered by bins of their columns; from sums by bins to sums by tests.
    void from_bins(const Answers& answers);
    // The sums for pairs, single tests and no test over the part where test k is true, which is true everywhere there; room for as many
    // as there are of the whole.
    void copy_pairs_where(std::size_t k, double* pairs, double* single, double& total) const;
    // The sums over the part where test k is true, or over the part where it is not, for sets of the tests that are kept.
    void assign_part(const SetSums& whole, std::size_t k, bool where_true, std::span<const std::uint32_t> kept, int order);

private:
    void lay_out(int order, std::size_t tests);
    double* to(int tests) { return sums_.data() + first_[static_cast<std::size_t>(tests)]; }

    int order_ = 0;
    std::size_t tests_ = 0;
    std::vector<std::size_t> first_;  // by the size of a set
    std::vector<double> sums_;        // and some numbers more, so that vectors may be read at the end
};

// What trees with few levels need to know about the points of a box.
class TupleSums {
public:
    static constexpr int longest = 5;

    // Sets of at most `order` out of so many tests: numbers that are kept, or sums that a point enters for which so many are true.
    static double n_sets(int order, std::size_t tests);

    // The tests of a box, and the points in it.
    void assign(const Answers& answers, std::span<const std::uint32_t> members, const Weights& weights, int order);
    // The points on one side of the k-th test: 0 where it is true; with the tests that are kept, by their numbers in the whole.
    void assign_part(const TupleSums& whole, std::size_t k, int side, std::span<const std::uint32_t> kept);

    int order() const { return channels_[0].order(); }
    std::size_t n_tests() const { return flipped_.size(); }
    std::size_t n_channels() const { return channels_.size(); }
    const SetSums& channel(std::size_t c) const { return channels_[c]; }
    // Of the samples that stand there, where leaves must hold some; otherwise nothing.
    const SetSums* sizes() const { return least_leaf_ > 0.0 ? &sizes_ : nullptr; }
    double least_leaf() const { return least_leaf_; }
    // Whether "true", for a test, means that it is false: sums are those of the minority, so to speak.
    bool is_flipped(std::size_t k) const { return flipped_[k] != 0; }
    // The weight of all points, whatever their label. Two classes: known for a box that was summed up and for parts of it, as long as
    // trees with more than two levels are asked for.
    double mass() const;

private:
    std::vector<SetSums> channels_;
    SetSums masses_;  // two classes only: of the sizes of weights
    SetSums sizes_;
    double least_leaf_ = 0.0;
    std::vector<std::int8_t> flipped_;
};

}  // namespace hardwood::search
