#include "dp/subset_sums.h"

#include <algorithm>
#include <cmath>

#include "dp/split_kernels.h"

namespace hardwood::search {

namespace {

/// Adds a weight to the sums of all subsets of `size` of the first n splits.
template <int size>
void add_subsets(double* sums, const std::uint32_t* splits, std::size_t n, double weight) {
    if constexpr (size == 1) {
        for (std::size_t k = 0; k < n; ++k) sums[splits[k]] += weight;
    } else {
        for (std::size_t k = size - 1; k < n; ++k) {
            add_subsets<size - 1>(sums + choose(splits[k], size), splits, k, weight);
        }
    }
}

/// Adds up the sums of one column's bins: those with its k-th split begin at `with(k)` and are
/// `n` numbers.
template <class With>
void accumulate_column(const SplitLayout::Run& run, std::size_t n, const With& with) {
    if (run.missing) {
        for (std::size_t k = run.begin + 3; k < run.turn; k += 2)
            add_numbers(with(k), with(k - 2), n);
        for (std::size_t k = run.end - 1; k-- > run.turn + 2;) {
            if (!run.with_missing(k)) add_numbers(with(k - 2), with(k), n);
        }
        for (std::size_t k = run.begin; k + 1 < run.end; ++k) {
            if (!run.with_missing(k)) continue;
            add_numbers(with(k), with(k < run.turn ? k + 1 : k - 1), n);
            add_numbers(with(k), with(run.end - 1), n);
        }
        return;
    }
    if (run.ordered) {
        for (std::size_t k = run.begin + 1; k < run.turn; ++k) add_numbers(with(k), with(k - 1), n);
        for (std::size_t k = run.end; k-- > run.turn + 1;) add_numbers(with(k - 1), with(k), n);
        return;
    }
    for (std::size_t k = run.begin; k < run.end; ++k) {
        if (k != run.rest) add_numbers(with(run.rest), with(k), n);
    }
}

/// Turns sums over bins into sums over splits, for subsets of `size` of the first `n_splits`
/// splits. Subsets with two splits of one column have no points yet, see `complete`.
void accumulate(double* sums, int size, std::size_t n_splits,
                const std::vector<SplitLayout::Run>& runs) {
    if (size == 1) return SubsetTable::accumulate_singles(sums, n_splits, runs);
    for (std::size_t largest = idx(size) - 1; largest < n_splits; ++largest) {
        accumulate(sums + choose(largest, size), size - 1, largest, runs);
    }
    for (const SplitLayout::Run& run : runs) {
        if (run.end > n_splits) break;
        // Subsets of splits of the columns before.
        accumulate_column(run, choose(run.begin, size - 1),
                          [&](std::size_t k) { return sums + choose(k, size); });
    }
}

/// Two splits of one column are true together where one of the column's splits is, or nowhere:
/// subsets with both follow from `smaller`, the sums for subsets with one split less.
void complete(double* sums, const double* smaller, int size, std::size_t n_splits,
              const std::vector<SplitLayout::Run>& runs) {
    std::size_t r = 0;
    for (std::size_t high = idx(size) - 1; high < n_splits; ++high) {
        double* const with_high = sums + choose(high, size);
        if (size > 2) complete(with_high, smaller + choose(high, size - 1), size - 1, high, runs);
        while (r < runs.size() && runs[r].end <= high) ++r;
        if (r == runs.size() || high < runs[r].begin) continue;
        const SplitLayout::Run& run = runs[r];
        for (std::size_t low = run.begin; low < high; ++low) {
            double* const with_both = with_high + choose(low, size - 1);
            const std::size_t others = choose(low, size - 2);
            // The intersection is not below `low`, so the subsets with it and some of the others,
            // which are, are adjacent. If it lies beyond the splits that are left, so does a split
            // of this column with which these subsets are completed.
            const std::size_t both = run.intersection(low, high);
            if (both < n_splits) std::copy_n(smaller + choose(both, size - 1), others, with_both);
        }
    }
}

/// Copies the sums over a part of the points.
class PartCopy {
public:
    PartCopy(std::size_t k, bool where_true, std::span<const std::uint32_t> kept)
        : k_(k), where_true_(where_true), kept_(kept) {
        for (std::size_t i = 0; i < kept.size(); ++i) {
            if (i == 0 || kept[i] != kept[i - 1] + 1) segments_.push_back(i);
        }
        segments_.push_back(kept.size());
        n_below_ = idx(std::ranges::lower_bound(kept, to_id(k)) - kept.begin());
    }

    /// The subsets of `size` of the first m kept splits: `own` has their sums over all points,
    /// `with` those where k is true, too. As long as k is not `placed` in a subset, all splits
    /// chosen so far are larger.
    void subsets(double*& out, int size, std::size_t m, const double* own, const double* with,
                 bool placed) const {
        if (size == 0) {
            const double inside = with[placed ? 0 : k_];
            *out++ = where_true_ ? inside : *own - inside;
            return;
        }
        if (size == 1) return singles(out, m, own, with, placed);
        for (std::size_t i = idx(size) - 1; i < m; ++i) {
            const std::size_t p = kept_[i];
            const double* const own_p = own + choose(p, size);
            if (placed) {
                subsets(out, size - 1, i, own_p, with + choose(p, size), true);
            } else if (p > k_) {
                subsets(out, size - 1, i, own_p, with + choose(p, size + 1), false);
            } else {
                subsets(out, size - 1, i, own_p, with + choose(k_, size + 1) + choose(p, size),
                        true);
            }
        }
    }

private:
    void singles(double*& out, std::size_t m, const double* own, const double* with,
                 bool placed) const {
        const double* const below = placed ? with : with + choose(k_, 2);
        const std::size_t n_below = placed ? m : std::min(m, n_below_);
        for (std::size_t s = 0; segments_[s] < n_below;
             ++s) {  // adjacent splits are copied together
            const std::size_t begin = segments_[s], n = std::min(segments_[s + 1], n_below) - begin,
                              p = kept_[begin];
            double* const to = out + begin;
            if (where_true_) {
                std::copy_n(below + p, n, to);
            } else {
                for (std::size_t i = 0; i < n; ++i) to[i] = own[p + i] - below[p + i];
            }
        }
        for (std::size_t i = n_below; i < m; ++i) {
            const std::size_t p = kept_[i];
            const double inside = with[choose(p, 2) + k_];
            out[i] = where_true_ ? inside : own[p] - inside;
        }
        out += m;
    }

    std::size_t k_;
    bool where_true_;
    std::span<const std::uint32_t> kept_;
    std::vector<std::size_t> segments_;  // where runs of adjacent kept splits begin, and the end
    std::size_t n_below_;                // kept splits below k
};

}  // namespace

void SubsetTable::allocate(int order, std::size_t n_splits) {
    order_ = order;
    n_splits_ = n_splits;
    first_.assign(1, 0);
    for (int size = 0; size <= order; ++size)
        first_.push_back(first_.back() + choose(n_splits, size));
    sums_.resize(first_.back() + lanes);
}

void SubsetTable::clear(int order, std::size_t n_splits) {
    allocate(order, n_splits);
    std::ranges::fill(sums_, 0.0);
}

void SubsetTable::add(std::span<const std::uint32_t> splits, double weight) {
    sums_[0] += weight;
    const std::size_t n = splits.size();
    if (order_ >= 1) add_subsets<1>(of_size(1), splits.data(), n, weight);
    if (order_ >= 2) add_subsets<2>(of_size(2), splits.data(), n, weight);
    if (order_ >= 3) add_subsets<3>(of_size(3), splits.data(), n, weight);
    if (order_ >= 4) add_subsets<4>(of_size(4), splits.data(), n, weight);
    if (order_ >= 5) add_subsets<5>(of_size(5), splits.data(), n, weight);
}

void SubsetTable::add(const SubsetTable& other) {
    add_numbers(sums_.data(), other.sums_.data(), first_.back());
}

void SubsetTable::accumulate_bins(const std::vector<SplitLayout::Run>& runs) {
    if (runs.empty()) return;
    for (int size = 1; size <= order_; ++size) {
        accumulate(of_size(size), size, n_splits_, runs);
        if (size > 1) complete(of_size(size), of_size(size - 1), size, n_splits_, runs);
    }
}

/// Most of the time of large tables goes here.
void SubsetTable::accumulate_singles(double* sums, std::size_t n_splits,
                                     const std::vector<SplitLayout::Run>& runs) {
    for (const SplitLayout::Run& run : runs) {
        if (run.end > n_splits) break;
        if (run.missing) {
            const double missing = sums[run.end - 1];
            for (std::size_t k = run.begin + 3; k < run.turn; k += 2) sums[k] += sums[k - 2];
            for (std::size_t k = run.end - 1; k >= run.turn + 4; k -= 2) sums[k - 4] += sums[k - 2];
            for (std::size_t k = run.begin; k < run.turn; k += 2)
                sums[k] = sums[k] + sums[k + 1] + missing;
            for (std::size_t k = run.turn + 1; k + 1 < run.end; k += 2)
                sums[k] = sums[k] + sums[k - 1] + missing;
        } else if (run.ordered) {
            for (std::size_t k = run.begin + 1; k < run.turn; ++k) sums[k] += sums[k - 1];
            for (std::size_t k = run.end; k-- > run.turn + 1;) sums[k - 1] += sums[k];
        } else {
            double rest = sums[run.rest];
            for (std::size_t k = run.begin; k < run.end; ++k) rest += k == run.rest ? 0.0 : sums[k];
            sums[run.rest] = rest;
        }
    }
}

void SubsetTable::accumulate_pairs(double* pairs, std::size_t begin, std::size_t end,
                                   const std::vector<SplitLayout::Run>& runs) {
    const auto row = [&](std::size_t k) { return pairs + choose(k, 2) - choose(begin, 2); };
    for (std::size_t k = begin; k < end; ++k) accumulate_singles(row(k), k, runs);
    for (const SplitLayout::Run& run : runs) {
        if (run.begin >= begin && run.end <= end) accumulate_column(run, run.begin, row);
    }
}

void SubsetTable::assign_part(const SubsetTable& whole, std::size_t k, bool where_true,
                              std::span<const std::uint32_t> kept, int order) {
    allocate(order, kept.size());
    const PartCopy copy(k, where_true, kept);
    for (int size = 0; size <= order; ++size) {
        double* out = of_size(size);
        copy.subsets(out, size, kept.size(), whole.of_size(size), whole.of_size(size + 1), false);
    }
}

void SubsetTable::copy_pairs_where(std::size_t k, double* pairs, double* single,
                                   double& total) const {
    const double* const two = of_size(2);
    const double* const three = of_size(3);
    total = of_size(1)[k];
    std::copy_n(two + choose(k, 2), k, single);
    single[k] = total;
    for (std::size_t p = k + 1; p < n_splits_; ++p) single[p] = two[choose(p, 2) + k];
    std::copy_n(three + choose(k, 3), choose(k, 2), pairs);  // both splits before k
    std::copy_n(two + choose(k, 2), k, pairs + choose(k, 2));
    for (std::size_t high = k + 1; high < n_splits_; ++high) {
        double* const row = pairs + choose(high, 2);
        const double* const from = three + choose(high, 3);
        std::copy_n(from + choose(k, 2), k, row);
        row[k] = single[high];
        const double* next = from + choose(k + 1, 2) + k;
        for (std::size_t low = k + 1; low < high; next += low++) row[low] = *next;
    }
}

double SubsetSums::n_subsets(int order, std::size_t n_splits) {
    double n = 0.0;
    for (int size = 0; size <= order; ++size) n += static_cast<double>(choose(n_splits, size));
    return n;
}

void SubsetSums::clear(const SplitLayout& layout, const PointWeights& weights, int order) {
    const std::size_t n_splits = layout.size();
    flipped_.resize(n_splits);
    for (std::size_t k = 0; k < n_splits; ++k) flipped_[k] = layout.is_flipped(k) ? 1 : 0;
    channels_.resize(idx(weights.n_channels));
    for (SubsetTable& channel : channels_) channel.clear(order, n_splits);
    masses_.clear(weights.n_channels == 1 ? std::max(0, order - 3) : 0, n_splits);
    min_leaf_size_ = weights.min_leaf_size;
    if (min_leaf_size_ > 0.0) sizes_.clear(order, n_splits);
}

void SubsetSums::add(const SplitLayout& layout, std::span<const std::uint32_t> points,
                     const PointWeights& weights) {
    std::vector<std::uint32_t> slots(layout.max_slots());
    for (const std::uint32_t z : points) {
        const std::span<const std::uint32_t> own(slots.data(), layout.slots_of(z, slots.data()));
        for (std::size_t c = 0; c < channels_.size(); ++c) {
            const double weight = weights.at(z)[c];
            if (weight != 0.0) channels_[c].add(own, weight);
        }
        if (channels_.size() == 1) masses_.add(own, std::abs(weights.at(z)[0]));
        if (min_leaf_size_ > 0.0 && weights.sizes[z] > 0.0) sizes_.add(own, weights.sizes[z]);
    }
}

void SubsetSums::add(const SubsetSums& other) {
    for (std::size_t c = 0; c < channels_.size(); ++c) channels_[c].add(other.channels_[c]);
    masses_.add(other.masses_);
    if (min_leaf_size_ > 0.0) sizes_.add(other.sizes_);
}

namespace {

/// Adding up a part takes a step for each subset, so points have to be many.
std::size_t n_parts(std::size_t n_points, double n_subsets) {
    constexpr double min_points = 4096, subsets_per_point = 8.0;
    const auto n = static_cast<double>(n_points);
    if (n < min_points || n * subsets_per_point < n_subsets) return 1;
    return n < 4.0 * min_points || n * subsets_per_point < 4.0 * n_subsets ? 2 : 4;
}

}  // namespace

void SubsetSums::assign(const SplitLayout& layout, std::span<const std::uint32_t> points,
                        const PointWeights& weights, int order, ThreadTeam& team) {
    const std::size_t n = n_parts(points.size(), n_subsets(order, layout.size()));
    std::vector<SubsetSums> others(n - 1);
    team.run(n, [&](std::size_t part, std::size_t) {
        SubsetSums& own = part == 0 ? *this : others[part - 1];
        own.clear(layout, weights, order);
        const std::size_t begin = points.size() * part / n, end = points.size() * (part + 1) / n;
        own.add(layout, points.subspan(begin, end - begin), weights);
    });
    for (const SubsetSums& other : others) add(other);
    for (SubsetTable& channel : channels_) channel.accumulate_bins(layout.runs());
    masses_.accumulate_bins(layout.runs());
    if (min_leaf_size_ > 0.0) sizes_.accumulate_bins(layout.runs());
}

void SubsetSums::assign_part(const SubsetSums& whole, std::size_t k, int side,
                             std::span<const std::uint32_t> kept) {
    flipped_.resize(kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i) flipped_[i] = whole.flipped_[kept[i]];
    const bool where_true = (side == 0) != whole.is_flipped(k);
    channels_.resize(whole.channels_.size());
    for (std::size_t c = 0; c < channels_.size(); ++c) {
        channels_[c].assign_part(whole.channels_[c], k, where_true, kept, whole.order() - 1);
    }
    min_leaf_size_ = whole.min_leaf_size_;
    if (min_leaf_size_ > 0.0)
        sizes_.assign_part(whole.sizes_, k, where_true, kept, whole.order() - 1);
    if (whole.masses_.order() > 0) {
        masses_.assign_part(whole.masses_, k, where_true, kept, whole.masses_.order() - 1);
    } else {
        masses_.clear(0, 0);
    }
}

double SubsetSums::mass() const {
    if (channels_.size() == 1) return masses_.total();
    double total = 0.0;
    for (const SubsetTable& channel : channels_) total += channel.total();
    return total;
}

}  // namespace hardwood::search
