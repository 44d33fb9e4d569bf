/// Trees with three levels, one column of top splits at a time (docs/theory.md#columns).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dp/shallow_solver.h"
#include "util/stop_token.h"

namespace hardwood::search {

/// Largest gains of trees with three levels, by the split on top, from sums over pairs of splits.
///
/// `ShallowSolver` needs sums over all triples of splits at once, which no cache holds if there are
/// hundreds of splits. Here, the points are divided by their bins of one column; their sums over
/// pairs, bin by bin, add up to those over the points where a split of the column is true. Memory
/// is that of a few tables of pairs, and columns that are not asked for are not computed.
class ColumnwiseSolver {
public:
    explicit ColumnwiseSolver(StopToken& stop) : stop_(stop) {}

    /// The points of a box, its splits (`box`, mapped by `layout`), and their sums over pairs.
    void assign(const SplitLayout& layout, const Box& box, std::span<const std::uint32_t> points,
                const PointWeights& weights, std::shared_ptr<const SubsetSums> sums, bool by_size);
    /// Releases the sums.
    void clear() { sums_.reset(); }
    bool by_size() const { return by_size_; }

    /// The largest gains with the k-th split on top, by the number of splits if sizes matter. Once
    /// the search is stopped, gains that no tree exceeds.
    const std::vector<double>& gains_with(std::size_t k);

private:
    using Sums = std::vector<SubsetTable>;  // by bins and pairs of them, channel after channel
    static constexpr std::size_t block_pairs = 4096;  // 32 KB for each channel and part

    void make_blocks();
    void list_overlaps();
    void list_slots(const SplitLayout& layout, std::span<const std::uint32_t> points);
    void solve_column(std::size_t column);
    void solve_ordered(const SplitLayout::Run& run);
    void solve_with_missing(const SplitLayout::Run& run);
    void solve_categories(const SplitLayout::Run& run);
    void clear(Sums& sums) const;
    /// Adds the points whose bin enters the sums of the k-th split.
    void add_bin(std::size_t k, Sums& to);
    /// Sets the gains with the k-th split on top, which is true for the points in `running_`, and
    /// those in `more`.
    void set_gains(std::size_t k, const Sums* more = nullptr);

    StopToken& stop_;
    ShallowSolver shallow_;
    std::shared_ptr<const SubsetSums> sums_;  // of all points; null: nothing is assigned
    bool by_size_ = false;
    std::vector<SplitLayout::Run> runs_;      // of columns whose bins accumulate
    std::vector<std::size_t> column_begin_;   // splits, column after column
    std::vector<std::size_t> column_of_;      // by split
    std::vector<std::vector<double>> gains_;  // by split; empty: not computed
    std::vector<std::uint32_t> slots_;        // point after point: the sums that it enters
    std::vector<std::size_t> slots_begin_;    // by point
    std::vector<std::uint32_t> points_;       // slot after slot: the points that enter its sums
    std::vector<std::size_t> points_begin_;   // by slot
    std::size_t n_channels_ = 0;              // with the one for observations, if needed
    std::vector<double> weights_;             // point after point, channels side by side
    /// Pairs of splits of one column, in order: where one of them implies the other or they meet in
    /// a third one, `single`; otherwise `none`.
    struct Overlap {
        std::size_t pair, single;
    };
    std::vector<Overlap> overlaps_;
    std::vector<std::size_t> block_begin_;  // ranges of splits whose pairs are compared together
    Sums running_, missing_;                // buffers
    std::vector<double> totals_;
    std::vector<std::vector<double>> singles_, pairs_;
};

}  // namespace hardwood::search
