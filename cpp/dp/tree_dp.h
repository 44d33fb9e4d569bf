/// The ordinary optimal tree on weighted points (docs/theory.md#tree-dp): least errors in a box,
/// for every number of splits.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dp/columnwise_solver.h"
#include "dp/error_by_size.h"
#include "dp/shallow_solver.h"
#include "util/search_params.h"
#include "util/stop_token.h"

namespace hardwood::search {

/// A subproblem of the DP: a box, the levels that a tree may have there, and its points. Where sums
/// over subsets of up to `levels` splits are known, the points are not needed any more.
struct Subproblem {
    Box box;
    int levels = 0;
    std::vector<std::uint32_t> points = {};
    std::shared_ptr<const SubsetSums> sums = nullptr;
    /// Three levels with more splits than `ShallowSolver` can have: the sums are over pairs, and
    /// the points are listed (`ColumnwiseSolver`).
    bool columnwise = false;

    /// Whether errors are found without recursion.
    bool is_shallow() const { return sums != nullptr && levels <= ShallowSolver::max_levels; }
    /// Whether all trees are solved at once: then errors by size cost almost nothing.
    bool solves_at_once() const { return is_shallow() && !columnwise; }
};

class TreeDp {
public:
    TreeDp(const PointSet& points, StopToken& stop, ThreadTeam& team, const SearchParams& params)
        : points_(points),
          layout_(points),
          shallow_(team),
          stop_(stop),
          team_(team),
          params_(params),
          columnwise_(stop, team) {}
    TreeDp(const TreeDp&) = delete;  // subproblems return their sums to it
    TreeDp& operator=(const TreeDp&) = delete;

    /// New weights: all known values are forgotten.
    void load(PointWeights weights);
    const PointWeights& weights() const { return weights_; }

    Subproblem subproblem(Box box, int levels, std::vector<std::uint32_t> points);
    Subproblem part(const Subproblem& subproblem, int split, int side);

    /// Least errors of a subproblem; with two classes, in excess of
    /// `PointWeights::unavoidable_error`, which callers add once. Numbers below the cutoff are
    /// exact; others (at least the cutoff) are lower bounds, and so are all numbers once the search
    /// is stopped. Infinite if the box holds fewer observations than a leaf must.
    ErrorBySize least_error(const Subproblem& subproblem, const SizeRange& sizes, double cutoff);
    /// The same with a given split on top.
    ErrorBySize least_error_with(const Subproblem& subproblem, int split, const SizeRange& sizes,
                                 double cutoff);
    /// Prepares `least_error_with` for several splits of a subproblem, which threads share.
    void prepare(const Subproblem& subproblem, std::span<const int> splits, bool by_size);
    /// A lower bound on the error of trees with one of the thresholds from `first` to `last` of an
    /// ordered column on top, in a subproblem that is not shallow. What lies left of `first` lies
    /// left of every threshold in between, and what lies right of `last` lies right of it; adding
    /// points never lowers a least error, so the errors of these two parts add up to a bound
    /// (docs/theory.md#runs). With a smallest leaf size, only if
    /// `TreeConstraint::preserves_monotone_errors`.
    double least_error_between(const Subproblem& subproblem, int first, int last,
                               const SizeRange& sizes, double cutoff);
    double error_of_label(const Subproblem& subproblem, int label) const;
    double error_of_best_label(const Subproblem& subproblem) const;
    int best_label(const Subproblem& subproblem) const;
    /// Whether the subproblem holds as many observations as a leaf must.
    bool is_large_enough(const Subproblem& subproblem) const;

    /// Writes a tree that attains `least_error`, with at most this many splits, to position `at`.
    void extract_tree(const Subproblem& subproblem, const SizeRange& sizes, int max_splits,
                      std::size_t at, HeapTree& tree);
    /// The same for `least_error_with`.
    void extract_tree_with(const Subproblem& subproblem, int split, const SizeRange& sizes,
                           int max_splits, std::size_t at, HeapTree& tree);

private:
    static constexpr int leaf = -1;

    struct Key {
        BoxKey box;
        int levels = -1;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const {
            return key.box.hash() * 31 + idx(key.levels);
        }
    };
    /// What is known about a subproblem.
    struct Entry {
        ErrorBySize error;
        double cutoff = -infinity;  // errors below it are exact
        int min_size = 0;           // for this number of splits and more
        std::vector<int> top = {};  // by size: the split on top of the best tree, or `leaf`

        void offer(const ErrorBySize& errors, int split);
    };
    /// The shallow gains computed last, and what they are about.
    struct CachedGains {
        Key key;
        bool by_size = false;
        ShallowGains gains;
    };

    const Entry* find(const BoxKey& box, int levels, const SizeRange& sizes, double cutoff) const;
    Entry solve(const Subproblem& subproblem, const SizeRange& sizes, double cutoff);
    void try_split(const Subproblem& subproblem, int split, const SizeRange& sizes, double cutoff,
                   Entry& entry);
    bool should_sum(const Subproblem& subproblem);
    double n_additions(std::span<const std::uint32_t> points, int order);
    std::shared_ptr<const SubsetSums> sum_pairs(const Subproblem& subproblem);
    std::shared_ptr<SubsetSums> allocate_sums();
    const ShallowGains& shallow_gains(const Subproblem& subproblem, bool by_size);
    /// Least errors with the k-th split on top.
    ErrorBySize shallow_errors(const Subproblem& subproblem, std::size_t k, const SizeRange& sizes);
    static ErrorBySize errors_of_gains(const SubsetSums& sums, std::span<const double> gains,
                                       const SizeRange& sizes);
    void assign_columnwise(const Subproblem& subproblem, bool by_size);
    std::span<const double> columnwise_gains(const Subproblem& subproblem, std::size_t k,
                                             bool by_size);
    std::vector<std::pair<double, int>> splits_by_promise(const Subproblem& subproblem,
                                                          const SizeRange& sizes, Entry& entry);
    ErrorBySize child_error(const Subproblem& subproblem, int split, int side,
                            const SizeRange& sizes, double cutoff);

    const PointSet& points_;
    SplitLayout layout_;
    ShallowSolver shallow_;
    StopToken& stop_;
    ThreadTeam& team_;
    const SearchParams& params_;
    PointWeights weights_;
    std::vector<std::unique_ptr<SubsetSums>> spare_sums_;  // reused, since they are large
    std::unordered_map<Key, Entry, Hash> entries_;
    CachedGains cached_;
    ColumnwiseSolver columnwise_;  // after `spare_sums_`, to which it returns sums
    Key columnwise_key_;           // what it is about
};

}  // namespace hardwood::search
