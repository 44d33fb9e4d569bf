/// Sums of weights over subsets of few splits: over the points where all splits of a subset are
/// true (docs/theory.md#subset-sums).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dp/point_weights.h"
#include "dp/split_layout.h"
#include "util/thread_team.h"

namespace hardwood::search {

/// n choose k, for k up to 5; called in inner loops, so without division by variables.
constexpr std::size_t choose(std::size_t n, int k) {
    if (n < idx(k)) return 0;
    switch (k) {
        case 0:
            return 1;
        case 1:
            return n;
        case 2:
            return n * (n - 1) / 2;
        case 3:
            return n * (n - 1) / 2 * (n - 2) / 3;
        case 4:
            return n * (n - 1) / 2 * (n - 2) / 3 * (n - 3) / 4;
        default:
            return n * (n - 1) / 2 * (n - 2) / 3 * (n - 3) / 4 * (n - 4) / 5;
    }
}

/// One number for each subset of at most `order` splits. Subsets of one size are stored together,
/// ordered by their largest split, then by the next one, and so on: all subsets with the same
/// larger splits are adjacent.
class SubsetTable {
public:
    void clear(int order, std::size_t n_splits);

    int order() const { return order_; }
    double total() const { return sums_[0]; }
    const double* of_size(int k) const { return sums_.data() + first_[idx(k)]; }

    /// Adds a point for which these splits are true, in order.
    void add(std::span<const std::uint32_t> splits, double weight);
    /// Adds a table of the same form.
    void add(const SubsetTable& other);
    /// Turns sums by bins into sums by splits.
    void accumulate_bins(const std::vector<SplitLayout::Run>& runs);
    /// The same for single splits alone, and for the pairs whose larger split is one of `begin` to
    /// `end`, excluded: whole columns. `pairs` begin with the row of split `begin`. Pairs of splits
    /// of one column are left out: their sums are those of single splits (`SplitLayout::Run`).
    static void accumulate_singles(double* singles, std::size_t n_splits,
                                   const std::vector<SplitLayout::Run>& runs);
    static void accumulate_pairs(double* pairs, std::size_t begin, std::size_t end,
                                 const std::vector<SplitLayout::Run>& runs);
    /// The sums for pairs, singles and the empty subset over the points where split k is true
    /// (where k itself is true everywhere); the arrays have room for all splits.
    void copy_pairs_where(std::size_t k, double* pairs, double* single, double& total) const;
    /// The sums over the points where split k is true, or over those where it is false, for subsets
    /// of `kept`.
    void assign_part(const SubsetTable& whole, std::size_t k, bool where_true,
                     std::span<const std::uint32_t> kept, int order);

private:
    void allocate(int order, std::size_t n_splits);
    double* of_size(int k) { return sums_.data() + first_[idx(k)]; }

    int order_ = 0;
    std::size_t n_splits_ = 0;
    std::vector<std::size_t> first_;  // by the size of a subset
    std::vector<double> sums_;        // with padding, so that vectors may be read at the end
};

/// Everything that shallow trees need to know about the points of a box.
class SubsetSums {
public:
    static constexpr int max_order = 5;

    /// Number of subsets of at most `order` out of n splits.
    static double n_subsets(int order, std::size_t n_splits);

    /// For the splits of a box (`layout`) and its points. Threads share parts of the points, which
    /// do not depend on the number of threads.
    void assign(const SplitLayout& layout, std::span<const std::uint32_t> points,
                const PointWeights& weights, int order, ThreadTeam& team);
    /// For the points on one side of the k-th split (0 where it is true), with the splits in
    /// `kept`, numbered as in `whole`.
    void assign_part(const SubsetSums& whole, std::size_t k, int side,
                     std::span<const std::uint32_t> kept);

    int order() const { return channels_[0].order(); }
    std::size_t n_splits() const { return flipped_.size(); }
    std::size_t n_channels() const { return channels_.size(); }
    const SubsetTable& channel(std::size_t c) const { return channels_[c]; }
    /// Observations, where leaves have a smallest size; otherwise null.
    const SubsetTable* sizes() const { return min_leaf_size_ > 0.0 ? &sizes_ : nullptr; }
    double min_leaf_size() const { return min_leaf_size_; }
    /// Whether the sums of a split are those of the side on which it is false, see `SplitLayout`.
    bool is_flipped(std::size_t k) const { return flipped_[k] != 0; }
    /// Weight of all points, whatever their class. Two classes: known for a box that was summed and
    /// for parts of it, as long as trees with more than two levels are asked for.
    double mass() const;

private:
    void clear(const SplitLayout& layout, const PointWeights& weights, int order);
    void add(const SplitLayout& layout, std::span<const std::uint32_t> points,
             const PointWeights& weights);
    void add(const SubsetSums& other);

    std::vector<SubsetTable> channels_;
    SubsetTable masses_;  // two classes only: of absolute weights
    SubsetTable sizes_;
    double min_leaf_size_ = 0.0;
    std::vector<std::int8_t> flipped_;
};

}  // namespace hardwood::search
