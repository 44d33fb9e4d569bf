#include "dp/columnwise_solver.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "dp/split_kernels.h"

namespace hardwood::search {

void ColumnwiseSolver::assign(const SplitLayout& layout, const Box& box,
                              std::span<const std::uint32_t> points, const PointWeights& weights,
                              std::shared_ptr<const SubsetSums> sums, bool by_size) {
    const std::size_t n_splits = layout.size();
    sums_ = std::move(sums);
    by_size_ = by_size;
    shallow_.configure(*sums_, by_size);
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
    buffers_.resize(team_.size());
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
    overlaps_begin_.assign(1, 0);
    std::size_t block = 0;
    for (const SplitLayout::Run& run : runs_) {
        for (; run.begin >= block_begin_[block + 1]; ++block)
            overlaps_begin_.push_back(overlaps_.size());
        for (std::size_t high = run.begin + 1; high < run.end; ++high) {
            for (std::size_t low = run.begin; low < high; ++low) {
                overlaps_.push_back(
                    {.pair = choose(high, 2) + low, .single = run.intersection(low, high)});
            }
        }
    }
    overlaps_begin_.resize(block_begin_.size(), overlaps_.size());
}

void ColumnwiseSolver::list_slots(const SplitLayout& layout,
                                  std::span<const std::uint32_t> points) {
    std::vector<std::uint32_t> own(layout.max_slots());
    slots_.clear();
    slots_begin_.assign(1, 0);
    points_begin_.assign(layout.size() + 1, 0);
    n_additions_.assign(layout.size(), 0.0);
    for (const std::uint32_t z : points) {
        const std::size_t n = layout.slots_of(z, own.data());
        slots_.insert(slots_.end(), own.begin(), own.begin() + static_cast<std::ptrdiff_t>(n));
        slots_begin_.push_back(slots_.size());
        for (std::size_t i = 0; i < n; ++i) {
            ++points_begin_[own[i] + 1];
            n_additions_[own[i]] += static_cast<double>(i);
        }
    }
    for (std::size_t k = 0; k < layout.size(); ++k) points_begin_[k + 1] += points_begin_[k];
    points_.resize(slots_.size());
    std::vector<std::size_t> next(points_begin_.begin(), points_begin_.end() - 1);
    for (std::size_t i = 0; i < points.size(); ++i) {
        for (const std::uint32_t slot : slots_of(i)) points_[next[slot]++] = to_id(i);
    }
}

/// At most n ranges with about equally many additions of points and comparisons of pairs.
std::vector<ColumnwiseSolver::Range> ColumnwiseSolver::ranges(std::size_t n) const {
    const std::size_t n_blocks = block_begin_.size() - 1;
    std::vector<double> cost(n_blocks, 0.0);
    double total = 0.0;
    for (std::size_t b = 0; b < n_blocks; ++b) {
        for (std::size_t k = block_begin_[b]; k < block_begin_[b + 1]; ++k)
            cost[b] += n_additions_[k] / static_cast<double>(column_begin_.size()) +
                       10.0 * static_cast<double>(k);
        total += cost[b];
    }
    std::vector<Range> ranges;
    std::size_t first = 0;
    double sum = 0.0;
    for (std::size_t b = 1; b <= n_blocks; ++b) {
        sum += cost[b - 1];
        if (sum * static_cast<double>(n) < total && b < n_blocks) continue;
        ranges.push_back({first, b, block_begin_[first], block_begin_[b]});
        first = b;
        sum = 0.0;
    }
    return ranges;
}

const std::vector<double>& ColumnwiseSolver::gains_with(std::size_t k) {
    if (gains_[k].empty()) solve({&column_of_[k], 1});
    return gains_[k];
}

/// Thresholds below the common bin sum the bins up to theirs, the others those beyond; with missing
/// values, both variants of each threshold, and the last split is "is missing". The split of a
/// common category sums all other categories.
void ColumnwiseSolver::list_steps(TopColumn& column) const {
    using Kind = Step::Kind;
    column.steps.clear();
    const auto push = [&](Kind kind, std::size_t split = 0) {
        column.steps.push_back({.kind = kind, .split = split});
    };
    const auto push_alone = [&](std::size_t k) {
        push(Kind::clear);
        push(Kind::add, k);
        push(Kind::value, k);
    };
    const auto run = std::ranges::find(runs_, column.begin, &SplitLayout::Run::begin);
    if (run == runs_.end()) {  // sums by bins are sums by splits
        for (std::size_t k = column.begin; k < column.end; ++k) push_alone(k);
    } else if (run->missing) {
        push_alone(run->end - 1);
        push(Kind::set_apart);
        const auto push_both = [&](std::size_t alone, std::size_t with_missing) {
            push(Kind::add, alone);
            push(Kind::value, alone);
            push(Kind::value_with, with_missing);
        };
        push(Kind::clear);
        for (std::size_t k = run->begin + 1; k < run->turn; k += 2) push_both(k, k - 1);
        push(Kind::clear);
        for (std::size_t k = run->end - 1; k > run->turn; k -= 2) push_both(k - 2, k - 1);
    } else if (run->ordered) {
        const auto push_next = [&](std::size_t k) {
            push(Kind::add, k);
            push(Kind::value, k);
        };
        push(Kind::clear);
        for (std::size_t k = run->begin; k < run->turn; ++k) push_next(k);
        push(Kind::clear);
        for (std::size_t k = run->end; k-- > run->turn;) push_next(k);
    } else {
        for (std::size_t k = run->begin; k < run->end; ++k) {
            if (k != run->rest) push_alone(k);
        }
        push(Kind::clear);
        for (std::size_t k = run->begin; k < run->end; ++k) push(Kind::add, k);
        push(Kind::value, run->rest);
    }
}

ColumnwiseSolver::TopColumn ColumnwiseSolver::top_column(std::size_t column,
                                                         Buffers& buffers) const {
    TopColumn top{.begin = column_begin_[column], .end = column_begin_[column + 1]};
    list_steps(top);
    sum_singles(top, buffers);
    return top;
}

void ColumnwiseSolver::prepare(std::span<const std::size_t> splits) {
    std::vector<std::size_t> columns;
    for (const std::size_t k : splits) {
        if (gains_[k].empty()) columns.push_back(column_of_[k]);
    }
    std::ranges::sort(columns);
    columns.erase(std::ranges::unique(columns).begin(), columns.end());
    if (team_.size() > 1) solve(columns);  // alone: one after the other, when asked for
}

/// Threads divide the splits of a column, each adding up the bins before its own again; where there
/// are too few splits, or points take most of the time, they divide the pairs.
void ColumnwiseSolver::list_tasks(std::size_t column, const TopColumn& top,
                                  std::vector<Task>& tasks) const {
    const std::size_t n_values = top.tops.size(), n = team_.size();
    const double n_comparisons = 4.0 * static_cast<double>(n_values * choose(gains_.size(), 2));
    const double n_additions = std::accumulate(n_additions_.begin(), n_additions_.end(), 0.0);
    if (n > 1 && (n_values < 2 * n || n_comparisons < n_additions)) {
        for (const Range& range : ranges(n)) tasks.push_back({column, range, 0, n_values});
        return;
    }
    const Range all = ranges(1)[0];
    for (std::size_t k = 0; k < n; ++k)
        tasks.push_back({column, all, n_values * k / n, n_values * (k + 1) / n});
}

void ColumnwiseSolver::solve(std::span<const std::size_t> columns) {
    std::vector<TopColumn> tops(columns.size());
    team_.run(columns.size(), [&](std::size_t c, std::size_t thread) {
        tops[c] = top_column(columns[c], buffers_[thread]);
    });
    std::vector<Task> tasks;
    for (std::size_t c = 0; c < columns.size(); ++c) list_tasks(c, tops[c], tasks);
    std::vector<ColumnGains> gains(tasks.size());
    team_.run(tasks.size(), [&](std::size_t t, std::size_t thread) {
        const TopColumn& top = tops[tasks[t].column];
        gains[t].resize(top.tops.size());
        for (ShallowSolver::PartGains& own : gains[t]) own.clear(gains_.size());
        solve_part(top, tasks[t], thread, buffers_[thread], gains[t]);
    });
    for (std::size_t t = 0; t < tasks.size();) {
        const std::size_t c = tasks[t].column, first = t;
        while (++t < tasks.size() && tasks[t].column == c) {
            for (std::size_t k = 0; k < gains[t].size(); ++k) gains[first][k].merge(gains[t][k]);
        }
        finish(tops[c], gains[first]);
    }
}

void ColumnwiseSolver::finish(const TopColumn& column, const ColumnGains& gains) {
    for (std::size_t k = column.begin; k < column.end; ++k) {
        if (stop_.stopped()) {
            gains_[k].assign(by_size_ ? 8 : 1, sums_->mass());
        } else {
            shallow_.finish(column.tops[k - column.begin], gains[k - column.begin], gains_[k]);
        }
    }
}

/// Sums over points and over single splits.
void ColumnwiseSolver::sum_singles(TopColumn& column, Buffers& buffers) const {
    const std::size_t n_splits = gains_.size();
    std::vector<double> total(n_channels_), apart_total(n_channels_), totals(n_channels_);
    Sums &running = buffers.running, &apart = buffers.apart, &singles = buffers.pairs;
    running.resize(n_channels_);
    singles.resize(n_channels_);
    column.tops.resize(column.end - column.begin);
    const auto value = [&](std::size_t k, bool with_missing) {
        for (std::size_t c = 0; c < n_channels_; ++c) {
            totals[c] = total[c] + (with_missing ? apart_total[c] : 0.0);
            singles[c] = running[c];
            if (with_missing) add_numbers(singles[c].data(), apart[c].data(), n_splits);
            SubsetTable::accumulate_singles(singles[c].data(), n_splits, runs_);
        }
        shallow_.begin(*sums_, totals, singles, column.tops[k - column.begin]);
    };
    for (const Step& step : column.steps) {
        switch (step.kind) {
            case Step::Kind::clear:
                std::ranges::fill(total, 0.0);
                for (auto& own : running) own.assign(n_splits, 0.0);
                break;
            case Step::Kind::add:
                add_singles(step.split, total.data(), running);
                break;
            case Step::Kind::set_apart:
                apart = running;
                apart_total = total;
                break;
            case Step::Kind::value:
            case Step::Kind::value_with:
                value(step.split, step.kind == Step::Kind::value_with);
                break;
        }
    }
}

void ColumnwiseSolver::add_singles(std::size_t k, double* totals, Sums& singles) const {
    for (const std::uint32_t point : points_of(k)) {
        for (std::size_t c = 0; c < n_channels_; ++c) {
            const double weight = weights_[point * n_channels_ + c];
            if (weight == 0.0) continue;
            totals[c] += weight;
            for (const std::uint32_t slot : slots_of(point)) singles[c][slot] += weight;
        }
    }
}

void ColumnwiseSolver::add_pairs(std::size_t k, const Range& range, Sums& pairs) const {
    const std::size_t first_pair = choose(range.begin, 2);
    for (const std::uint32_t point : points_of(k)) {
        const std::span<const std::uint32_t> slots = slots_of(point);
        std::size_t first = 0;
        while (first < slots.size() && slots[first] < range.begin) ++first;
        for (std::size_t c = 0; c < n_channels_; ++c) {
            const double weight = weights_[point * n_channels_ + c];
            if (weight == 0.0) continue;
            for (std::size_t t = first; t < slots.size() && slots[t] < range.end; ++t) {
                double* const row = pairs[c].data() + choose(slots[t], 2) - first_pair;
                for (std::size_t s = 0; s < t; ++s) row[slots[s]] += weight;
            }
        }
    }
}

void ColumnwiseSolver::solve_part(const TopColumn& column, const Task& task, std::size_t thread,
                                  Buffers& buffers, ColumnGains& gains) {
    const Range& range = task.range;
    const std::size_t n_pairs = choose(range.end, 2) - choose(range.begin, 2);
    buffers.running.resize(n_channels_);
    buffers.pairs.resize(n_channels_);
    std::size_t n_values = 0;
    for (const Step& step : column.steps) {
        if (should_stop(thread) || n_values == task.end_value) return;
        switch (step.kind) {
            case Step::Kind::clear:
                for (auto& own : buffers.running) own.assign(n_pairs, 0.0);
                break;
            case Step::Kind::add:
                add_pairs(step.split, range, buffers.running);
                break;
            case Step::Kind::set_apart:
                buffers.apart = buffers.running;
                break;
            case Step::Kind::value:
            case Step::Kind::value_with:
                if (n_values++ < task.first_value) break;
                for (std::size_t b = range.first_block; b < range.end_block; ++b)
                    value_block(column, range, b, step.split, step.kind == Step::Kind::value_with,
                                buffers, gains);
                break;
        }
    }
}

/// From sums by bins, which become sums by splits.
void ColumnwiseSolver::value_block(const TopColumn& column, const Range& range, std::size_t block,
                                   std::size_t k, bool with_missing, Buffers& buffers,
                                   ColumnGains& gains) const {
    const std::size_t begin = block_begin_[block], end = block_begin_[block + 1],
                      from = choose(begin, 2), n = choose(end, 2) - from,
                      offset = from - choose(range.begin, 2);
    const ShallowSolver::TopSplit& top = column.tops[k - column.begin];
    for (std::size_t c = 0; c < n_channels_; ++c) {
        std::vector<double>& pairs = buffers.pairs[c];
        pairs.resize(std::max(pairs.size(), n + lanes));
        std::copy_n(buffers.running[c].data() + offset, n, pairs.data());
        if (with_missing) add_numbers(pairs.data(), buffers.apart[c].data() + offset, n);
        SubsetTable::accumulate_pairs(pairs.data(), begin, end, runs_);
        const double* const single = top.single(c);
        for (std::size_t i = overlaps_begin_[block]; i < overlaps_begin_[block + 1]; ++i) {
            const Overlap& own = overlaps_[i];
            pairs[own.pair - from] =
                own.single == SplitLayout::Run::none ? 0.0 : single[own.single];
        }
    }
    shallow_.add_rows(*sums_, top, begin, end, buffers.pairs, buffers.outside,
                      gains[k - column.begin]);
}

}  // namespace hardwood::search
