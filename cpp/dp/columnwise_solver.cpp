#include "dp/columnwise_solver.h"

#include <algorithm>
#include <utility>

#include "dp/split_kernels.h"

namespace hardwood::search {

void ColumnwiseSolver::assign(const SplitLayout& layout, const Box& box,
                              std::span<const std::uint32_t> points, const PointWeights& weights,
                              std::shared_ptr<const SubsetSums> sums, bool by_size) {
    const std::size_t n_splits = layout.size();
    sums_ = std::move(sums);
    by_size_ = by_size;
    runs_ = layout.runs();
    gains_.assign(n_splits, {});
    column_begin_.clear();
    column_of_.clear();
    int last = -1;
    for (std::size_t k = 0; k < n_splits; ++k) {
        const int c = layout.column_of(box.splits[k]);
        if (c != last) column_begin_.push_back(k);
        last = c;
        column_of_.push_back(column_begin_.size() - 1);
    }
    column_begin_.push_back(n_splits);
    make_blocks();
    list_overlaps();
    list_slots(layout, points);
    const std::size_t n_weights = idx(weights.n_channels);
    n_channels_ = n_weights + (weights.min_leaf_size > 0.0 ? 1 : 0);
    weights_.clear();
    for (const std::uint32_t z : points) {
        weights_.insert(weights_.end(), weights.at(z), weights.at(z) + n_weights);
        if (n_channels_ > n_weights) weights_.push_back(weights.sizes[z]);
    }
}

/// Whole columns, with at most `block_pairs` pairs where one column alone has not more.
void ColumnwiseSolver::make_blocks() {
    block_begin_.assign(1, 0);
    for (std::size_t c = 1; c < column_begin_.size(); ++c) {
        const std::size_t end = column_begin_[c], last = column_begin_[c - 1];
        if (choose(end, 2) - choose(block_begin_.back(), 2) > block_pairs &&
            last > block_begin_.back()) {
            block_begin_.push_back(last);
        }
    }
    block_begin_.push_back(column_begin_.back());
}

void ColumnwiseSolver::list_overlaps() {
    overlaps_.clear();
    for (const SplitLayout::Run& run : runs_) {
        for (std::size_t high = run.begin + 1; high < run.end; ++high) {
            for (std::size_t low = run.begin; low < high; ++low) {
                overlaps_.push_back(
                    {.pair = choose(high, 2) + low, .single = run.intersection(low, high)});
            }
        }
    }
}

void ColumnwiseSolver::list_slots(const SplitLayout& layout,
                                  std::span<const std::uint32_t> points) {
    std::vector<std::uint32_t> own(layout.max_slots());
    slots_.clear();
    slots_begin_.assign(1, 0);
    points_begin_.assign(layout.size() + 1, 0);
    for (const std::uint32_t z : points) {
        const std::size_t n = layout.slots_of(z, own.data());
        slots_.insert(slots_.end(), own.begin(), own.begin() + static_cast<std::ptrdiff_t>(n));
        slots_begin_.push_back(slots_.size());
        for (std::size_t i = 0; i < n; ++i) ++points_begin_[own[i] + 1];
    }
    for (std::size_t k = 0; k < layout.size(); ++k) points_begin_[k + 1] += points_begin_[k];
    points_.resize(slots_.size());
    std::vector<std::size_t> next(points_begin_.begin(), points_begin_.end() - 1);
    for (std::size_t i = 0; i < points.size(); ++i) {
        for (std::size_t k = slots_begin_[i]; k < slots_begin_[i + 1]; ++k)
            points_[next[slots_[k]]++] = to_id(i);
    }
}

const std::vector<double>& ColumnwiseSolver::gains_with(std::size_t k) {
    if (gains_[k].empty()) solve_column(column_of_[k]);
    return gains_[k];
}

void ColumnwiseSolver::solve_column(std::size_t column) {
    const std::size_t begin = column_begin_[column], end = column_begin_[column + 1];
    const auto run = std::ranges::find(runs_, begin, &SplitLayout::Run::begin);
    if (run == runs_.end()) {  // sums by bins are sums by splits
        for (std::size_t k = begin; k < end; ++k) {
            clear(running_);
            add_bin(k, running_);
            set_gains(k);
        }
    } else if (run->missing) {
        solve_with_missing(*run);
    } else if (run->ordered) {
        solve_ordered(*run);
    } else {
        solve_categories(*run);
    }
}

/// Thresholds below the common bin sum the bins up to theirs, the others those beyond.
void ColumnwiseSolver::solve_ordered(const SplitLayout::Run& run) {
    clear(running_);
    for (std::size_t k = run.begin; k < run.turn; ++k) {
        add_bin(k, running_);
        set_gains(k);
    }
    clear(running_);
    for (std::size_t k = run.end; k-- > run.turn;) {
        add_bin(k, running_);
        set_gains(k);
    }
}

/// The same for both variants of each threshold; the last split is "is missing".
void ColumnwiseSolver::solve_with_missing(const SplitLayout::Run& run) {
    clear(running_);
    add_bin(run.end - 1, running_);
    set_gains(run.end - 1);
    std::swap(running_, missing_);
    const auto set_both = [&](std::size_t alone, std::size_t with_missing) {
        add_bin(alone, running_);
        set_gains(alone);
        set_gains(with_missing, &missing_);
    };
    clear(running_);
    for (std::size_t k = run.begin + 1; k < run.turn; k += 2) set_both(k, k - 1);
    clear(running_);
    for (std::size_t k = run.end - 1; k > run.turn; k -= 2) set_both(k - 2, k - 1);
}

/// The split of the common category sums all other categories.
void ColumnwiseSolver::solve_categories(const SplitLayout::Run& run) {
    for (std::size_t k = run.begin; k < run.end; ++k) {
        if (k == run.rest) continue;
        clear(running_);
        add_bin(k, running_);
        set_gains(k);
    }
    clear(running_);
    for (std::size_t k = run.begin; k < run.end; ++k) add_bin(k, running_);
    set_gains(run.rest);
}

void ColumnwiseSolver::clear(Sums& sums) const {
    sums.resize(n_channels_);
    for (SubsetTable& own : sums) own.clear(2, gains_.size());
}

void ColumnwiseSolver::add_bin(std::size_t k, Sums& to) {
    if (stop_.should_stop_waiting()) return;
    for (std::size_t at = points_begin_[k]; at < points_begin_[k + 1]; ++at) {
        const std::size_t point = points_[at];
        const std::span<const std::uint32_t> slots(slots_.data() + slots_begin_[point],
                                                   slots_begin_[point + 1] - slots_begin_[point]);
        for (std::size_t c = 0; c < n_channels_; ++c) {
            const double weight = weights_[point * n_channels_ + c];
            if (weight != 0.0) to[c].add(slots, weight);
        }
    }
}

/// From sums by bins, which become sums by splits block by block.
void ColumnwiseSolver::set_gains(std::size_t k, const Sums* more) {
    if (stop_.stopped()) {
        gains_[k].assign(by_size_ ? 8 : 1, sums_->mass());
        return;
    }
    const auto copy = [&](std::vector<double>& to, std::size_t c, int size, std::size_t from,
                          std::size_t n) {
        const double* const own = std::as_const(running_[c]).of_size(size) + from;
        to.resize(n + lanes);
        if (more == nullptr) {
            std::copy_n(own, n, to.data());
            return;
        }
        const double* const other = (*more)[c].of_size(size) + from;
        for (std::size_t i = 0; i < n; ++i) to[i] = own[i] + other[i];
    };
    const std::size_t n_splits = gains_.size();
    totals_.resize(n_channels_);
    singles_.resize(n_channels_);
    pairs_.resize(n_channels_);
    for (std::size_t c = 0; c < n_channels_; ++c) {
        totals_[c] = running_[c].total() + (more == nullptr ? 0.0 : (*more)[c].total());
        copy(singles_[c], c, 1, 0, n_splits);
        SubsetTable::accumulate_singles(singles_[c].data(), n_splits, runs_);
    }
    shallow_.begin_parts(*sums_, totals_, singles_, by_size_);
    auto overlap = overlaps_.begin();
    for (std::size_t b = 0; b + 1 < block_begin_.size(); ++b) {
        const std::size_t begin = block_begin_[b], end = block_begin_[b + 1];
        const std::size_t from = choose(begin, 2), n = choose(end, 2) - from;
        for (std::size_t c = 0; c < n_channels_; ++c) {
            copy(pairs_[c], c, 2, from, n);
            SubsetTable::accumulate_pairs(pairs_[c].data(), begin, end, runs_);
        }
        for (; overlap != overlaps_.end() && overlap->pair < from + n; ++overlap) {
            for (std::size_t c = 0; c < n_channels_; ++c) {
                pairs_[c][overlap->pair - from] =
                    overlap->single == SplitLayout::Run::none ? 0.0 : singles_[c][overlap->single];
            }
        }
        shallow_.add_rows(*sums_, begin, end, pairs_);
    }
    shallow_.finish_parts(gains_[k]);
}

}  // namespace hardwood::search
