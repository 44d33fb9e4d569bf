/// All trees with at most three levels at once, from sums over subsets of splits
/// (docs/theory.md#subset-sums).
#pragma once

#include <span>
#include <vector>

#include "dp/subset_sums.h"
#include "model/heap_tree.h"
#include "util/thread_team.h"

namespace hardwood::search {

/// Largest gains of trees with at least one split, by the split on top.
///
/// The gain of a leaf is the absolute value of its sum (two classes), or its largest sum over the
/// classes; the error of a tree is `ShallowSolver::error` of the gains of its leaves together.
/// Trees with a leaf that is too small gain -inf.
class ShallowGains {
public:
    /// The largest gain with the k-th split on top and at most `max_splits` splits; with any number
    /// of splits if gains were not computed by size.
    double with_split(std::size_t k, std::size_t max_splits = 0) const {
        return within(by_split_[k], max_splits);
    }
    /// By the number of splits, or one gain for any number.
    std::span<const double> of_split(std::size_t k) const { return by_split_[k]; }
    /// The largest of these gains with at most `max_splits` splits.
    static double within(std::span<const double> gains, std::size_t max_splits);

private:
    friend class ShallowSolver;
    std::vector<std::vector<double>> by_split_;
};

class ShallowSolver {
    /// Sums over singles and all points, channel after channel; where leaves have a smallest size,
    /// the observations are the last channel.
    struct Singles {
        std::size_t size = 0, stride = 0;  // splits; the same, rounded up for vectors
        std::vector<double> total = {}, single = {};

        void resize(std::size_t n_splits, std::size_t n_channels);
    };
    /// By split: the largest gain of one more split on each of its sides, see `best_gains`.
    struct SideGains {
        std::vector<double> inside = {}, outside = {};

        void clear(std::size_t n_splits);
        void merge(const SideGains& other);
    };

public:
    static constexpr int max_levels = 3;

    /// A split on top, and what its two parts are about.
    class TopSplit {
    public:
        /// Channel c, by split: the sums where it and the split on top are true.
        const double* single(std::size_t c) const {
            return parts_[0].single.data() + c * parts_[0].stride;
        }

    private:
        friend class ShallowSolver;
        Singles parts_[2];
    };
    /// What is known of the trees in these parts.
    class PartGains {
    public:
        void clear(std::size_t n_splits);
        /// Takes over what is larger.
        void merge(const PartGains& other);

    private:
        friend class ShallowSolver;
        SideGains parts_[2];
    };

    explicit ShallowSolver(ThreadTeam& team) : team_(team), buffers_(team.size()) {}

    /// `by_size`: whether gains are computed for each number of splits.
    void solve(const SubsetSums& sums, int levels, bool by_size, ShallowGains& gains);
    /// Trees with three levels and a given split on top, from sums over pairs of splits that arrive
    /// row by row, so that tables of pairs never leave the caches. Several threads may do this at
    /// once. First, what all such splits share.
    void configure(const SubsetSums& all, bool by_size);
    /// Then the sums over the points where the split is true, and over all points: of all points
    /// and of single splits, channel after channel (observations last, if leaves have a smallest
    /// size).
    void begin(const SubsetSums& all, std::span<const double> totals,
               std::span<const std::vector<double>> singles, TopSplit& top) const;
    /// Then the pairs whose larger split is one of these, where the split on top is true; each
    /// `gains` is given ranges in ascending order. `lanes` numbers may be read beyond the pairs.
    void add_rows(const SubsetSums& all, const TopSplit& top, std::size_t begin, std::size_t end,
                  std::span<const std::vector<double>> pairs, std::vector<double>& buffer,
                  PartGains& gains) const;
    /// The largest gains.
    void finish(const TopSplit& top, const PartGains& part_gains, std::vector<double>& gains) const;

    /// A tree with the largest gain, with at most `max_splits` splits if sizes matter, written to
    /// position `at`; `splits` are the splits that the sums are about.
    void extract_tree(const SubsetSums& sums, std::span<const int> splits, int levels, bool by_size,
                      int max_splits, std::size_t at, HeapTree& tree);
    /// The same with the k-th split on top.
    void extract_tree_with(const SubsetSums& sums, std::span<const int> splits, std::size_t k,
                           int levels, bool by_size, int max_splits, std::size_t at,
                           HeapTree& tree);

    static double gain_of_leaf(const SubsetSums& sums);
    static int best_label(const SubsetSums& sums);
    static double error(const SubsetSums& sums, double gain);
    static double error_of_label(const SubsetSums& sums, int label);

private:
    using Gains = std::vector<double>;  // by the number of splits, or one for any number
    struct Buffers;

    void set_channels(const SubsetSums& sums);
    void best(const SubsetSums& sums, int levels, Gains& gains, std::vector<Gains>* by_split);
    void best_of_one(const SubsetSums& sums, Gains& gains, std::vector<Gains>* by_split);
    void compare_pairs(const Singles& singles, std::span<const double* const> pairs,
                       std::size_t begin, std::size_t end, SideGains& sides) const;
    void collect_gains(const Singles& singles, const SideGains& sides, Gains& gains,
                       std::vector<Gains>* by_split) const;
    void best_of_three(const SubsetSums& sums, Gains& gains, std::vector<Gains>* by_split);
    void best_with(const SubsetSums& sums, std::size_t k, Buffers& buffers, Gains& gains) const;
    double gain_of(const double* sums, std::size_t stride) const;
    const SubsetTable& channel_or_sizes(const SubsetSums& sums, std::size_t c) const;
    void combine(std::span<const double> left, std::span<const double> right, Gains& best) const;

    // Set by `set_channels` and the public members.
    bool by_size_ = false;
    std::size_t n_channels_ = 1;
    double min_leaf_size_ = 0.0;
    std::size_t n_all_channels_ = 1;  // with the one for observations, if needed
    ThreadTeam& team_;
    // Buffers, some of them by thread.
    struct Buffers {
        Singles singles[2];
        std::vector<double> pairs[2];
        SideGains sides;
        Gains parts[2], best;
    };
    std::vector<Buffers> buffers_;
    Singles whole_;
    SideGains sides_;
    Gains best_;
};

}  // namespace hardwood::search
