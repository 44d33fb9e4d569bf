/// Trees with three levels, one column of top splits at a time (docs/theory.md#columns).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dp/shallow_solver.h"
#include "util/stop_token.h"
#include "util/thread_team.h"

namespace hardwood::search {

/// Largest gains of trees with three levels, by the split on top, from sums over pairs of splits.
///
/// `ShallowSolver` needs sums over all triples of splits at once, which no cache holds if there are
/// hundreds of splits. Here, the points are divided by their bins of one column; their sums over
/// pairs, bin by bin, add up to those over the points where a split of the column is true. Pairs
/// are compared in blocks that fit into the caches of one core. Threads share the splits
/// on top, or ranges of blocks; each pair is summed in the same order whatever their number.
/// Columns that are not asked for are not computed.
class ColumnwiseSolver {
public:
    ColumnwiseSolver(StopToken& stop, ThreadTeam& team)
        : stop_(stop), team_(team), shallow_(team) {}

    /// The points of a box, its splits (`box`, mapped by `layout`), and their sums over pairs.
    void assign(const SplitLayout& layout, const Box& box, std::span<const std::uint32_t> points,
                const PointWeights& weights, std::shared_ptr<const SubsetSums> sums, bool by_size);
    /// Releases the sums.
    void clear() { sums_.reset(); }
    bool by_size() const { return by_size_; }

    /// The largest gains with the k-th split on top, by the number of splits if sizes matter. Once
    /// the search is stopped, gains that no tree exceeds.
    const std::vector<double>& gains_with(std::size_t k);
    /// Computes these gains together.
    void prepare(std::span<const std::size_t> splits);

private:
    using Sums = std::vector<std::vector<double>>;    // channel after channel
    static constexpr std::size_t block_pairs = 4096;  // 32 KB for each channel and part

    /// How the sums of a column's splits arise from those of its bins, one after the other.
    struct Step {
        enum class Kind {
            clear,       // of the running sums
            add,         // the bin of a split
            set_apart,   // the running sums are those of missing values
            value,       // the split is true where the running sums are about ...
            value_with,  // ... or where a value is missing, too
        };
        Kind kind;
        std::size_t split = 0;
    };
    /// What a thread needs for itself.
    struct Buffers {
        Sums running, apart, pairs;
        std::vector<double> outside;
    };
    /// A column whose splits are on top.
    struct TopColumn {
        std::size_t begin = 0, end = 0;
        std::vector<Step> steps = {};
        std::vector<ShallowSolver::TopSplit> tops = {};  // by split of the column
    };
    using ColumnGains = std::vector<ShallowSolver::PartGains>;  // by split of the column
    /// Blocks that a thread takes together; running sums are about their pairs.
    struct Range {
        std::size_t first_block, end_block;
        std::size_t begin, end;  // their splits
    };
    struct Task {
        std::size_t column;  // of those to be solved
        Range range;
        std::size_t first_value, end_value;  // splits on top, in the order of the steps
    };

    void make_blocks();
    void list_overlaps();
    void list_slots(const SplitLayout& layout, std::span<const std::uint32_t> points);
    std::vector<Range> ranges(std::size_t n) const;
    void solve(std::span<const std::size_t> columns);
    TopColumn top_column(std::size_t column, Buffers& buffers) const;
    void list_steps(TopColumn& column) const;
    void sum_singles(TopColumn& column, Buffers& buffers) const;
    void list_tasks(std::size_t column, const TopColumn& top, std::vector<Task>& tasks) const;
    void solve_part(const TopColumn& column, const Task& task, std::size_t thread, Buffers& buffers,
                    ColumnGains& gains);
    void value_block(const TopColumn& column, const Range& range, std::size_t block, std::size_t k,
                     bool with_missing, Buffers& buffers, ColumnGains& gains) const;
    void finish(const TopColumn& column, const ColumnGains& gains);
    /// Adds the points whose bin enters the sums of the k-th split to sums over all points and over
    /// single splits ...
    void add_singles(std::size_t k, double* totals, Sums& singles) const;
    /// ... and over the pairs of a range.
    void add_pairs(std::size_t k, const Range& range, Sums& pairs) const;
    std::span<const std::uint32_t> points_of(std::size_t k) const {
        return {points_.data() + points_begin_[k], points_begin_[k + 1] - points_begin_[k]};
    }
    std::span<const std::uint32_t> slots_of(std::size_t point) const {
        return {slots_.data() + slots_begin_[point], slots_begin_[point + 1] - slots_begin_[point]};
    }
    bool should_stop(std::size_t thread) const {
        return thread == 0 ? stop_.should_stop_waiting() : stop_.stopped();
    }

    StopToken& stop_;
    ThreadTeam& team_;
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
    std::vector<double> n_additions_;         // by the larger split of pairs
    /// Pairs of splits of one column, in order: where one of them implies the other or they meet in
    /// a third one, `single`; otherwise `none`.
    struct Overlap {
        std::size_t pair, single;
    };
    std::vector<Overlap> overlaps_;
    std::vector<std::size_t> block_begin_;     // ranges of splits whose pairs are taken together
    std::vector<std::size_t> overlaps_begin_;  // by block
    std::vector<Buffers> buffers_;             // by thread
};

}  // namespace hardwood::search
