#include "dp/shallow_solver.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "dp/split_kernels.h"

namespace hardwood::search {

namespace {

constexpr double no_gain = -std::numeric_limits<double>::infinity();

std::vector<std::uint32_t> all_but(std::size_t k, std::size_t n) {
    std::vector<std::uint32_t> kept;
    for (std::size_t other = 0; other < n; ++other) {
        if (other != k) kept.push_back(to_id(other));
    }
    return kept;
}

}  // namespace

double ShallowGains::within(std::span<const double> gains, std::size_t max_splits) {
    double gain = gains[0];
    for (std::size_t n = 1; n < gains.size() && n <= max_splits; ++n)
        gain = std::max(gain, gains[n]);
    return gain;
}

double ShallowSolver::gain_of_leaf(const SubsetSums& sums) {
    if (sums.sizes() != nullptr && sums.sizes()->total() < sums.min_leaf_size()) return no_gain;
    double gain = sums.n_channels() == 1 ? std::abs(sums.channel(0).total()) : 0.0;
    for (std::size_t c = 0; c < sums.n_channels(); ++c)
        gain = std::max(gain, sums.channel(c).total());
    return gain;
}

int ShallowSolver::best_label(const SubsetSums& sums) {
    if (sums.n_channels() == 1) return sums.channel(0).total() > 0 ? 1 : 0;
    std::size_t best = 0;
    for (std::size_t c = 1; c < sums.n_channels(); ++c) {
        if (sums.channel(c).total() > sums.channel(best).total()) best = c;
    }
    return to_int(best);
}

/// Two classes: the error of a leaf is half of its mass less the absolute value of its sum.
double ShallowSolver::error(const SubsetSums& sums, double gain) {
    return std::max(0.0, (sums.n_channels() == 1 ? 0.5 : 1.0) * (sums.mass() - gain));
}

double ShallowSolver::error_of_label(const SubsetSums& sums, int label) {
    if (sums.n_channels() > 1) return std::max(0.0, sums.mass() - sums.channel(idx(label)).total());
    const double difference = sums.channel(0).total();
    return std::max(0.0, 0.5 * (label == 1 ? sums.mass() - difference : sums.mass() + difference));
}

/// The gain of a leaf whose sums lie `stride` numbers apart, channel after channel.
double ShallowSolver::gain_of(const double* sums, std::size_t stride) const {
    if (min_leaf_size_ > 0.0 && sums[n_channels_ * stride] < min_leaf_size_) return no_gain;
    if (n_channels_ == 1) return std::abs(sums[0]);
    double gain = sums[0];
    for (std::size_t c = 1; c < n_channels_; ++c) gain = std::max(gain, sums[c * stride]);
    return gain;
}

const SubsetTable& ShallowSolver::channel_or_sizes(const SubsetSums& sums, std::size_t c) const {
    return c < n_channels_ ? sums.channel(c) : *sums.sizes();
}

void ShallowSolver::solve(const SubsetSums& sums, int levels, bool by_size, ShallowGains& gains) {
    by_size_ = by_size;
    gains.by_split_.resize(sums.n_splits());
    best(sums, levels, best_, &gains.by_split_);
}

/// A split with these gains on its two sides.
void ShallowSolver::combine(std::span<const double> left, std::span<const double> right,
                            Gains& best) const {
    if (!by_size_) {
        best[0] = std::max(best[0], left[0] + right[0]);
        return;
    }
    for (std::size_t a = 0; a < left.size(); ++a) {
        for (std::size_t b = 0; b < right.size(); ++b) {
            best[a + b + 1] = std::max(best[a + b + 1], left[a] + right[b]);
        }
    }
}

void ShallowSolver::PairSums::resize(std::size_t n_splits, std::size_t n_channels) {
    size = n_splits;
    stride = (n_splits + lanes - 1) / lanes * lanes;
    total.resize(n_channels);
    single.assign(n_channels * stride, 0.0);
    pairs.resize(n_channels);
    inside.resize(stride);
    outside.resize(stride);
}

double* ShallowSolver::PairSums::allocate_pairs(std::size_t channel, std::size_t n_pairs) {
    const std::size_t length = n_pairs + lanes;
    if (own_pairs.size() < pairs.size() * length) own_pairs.resize(pairs.size() * length);
    pairs[channel] = own_pairs.data() + channel * length;
    return own_pairs.data() + channel * length;
}

void ShallowSolver::set_channels(const SubsetSums& sums) {
    n_channels_ = sums.n_channels();
    min_leaf_size_ = sums.min_leaf_size();
    n_all_channels_ = n_channels_ + (min_leaf_size_ > 0.0 ? 1 : 0);
}

void ShallowSolver::best(const SubsetSums& sums, int levels, Gains& gains,
                         std::vector<Gains>* by_split) {
    set_channels(sums);
    gains.assign(by_size_ ? std::size_t{1} << levels : 1, gain_of_leaf(sums));
    if (levels == 1) best_of_one(sums, gains, by_split);
    if (levels == 2) {
        whole_.resize(sums.n_splits(), n_all_channels_);
        for (std::size_t c = 0; c < n_all_channels_; ++c) {
            const SubsetTable& own = channel_or_sizes(sums, c);
            whole_.total[c] = own.total();
            std::copy_n(own.of_size(1), whole_.size, whole_.single.data() + c * whole_.stride);
            whole_.pairs[c] = own.of_size(2);
        }
        best_of_two(whole_, gains, by_split);
    }
    if (levels == 3) best_of_three(sums, gains, by_split);
}

void ShallowSolver::best_of_one(const SubsetSums& sums, Gains& gains,
                                std::vector<Gains>* by_split) {
    std::vector<double> left(n_all_channels_), right(n_all_channels_);
    for (std::size_t k = 0; k < sums.n_splits(); ++k) {
        for (std::size_t c = 0; c < n_all_channels_; ++c) {
            const SubsetTable& own = channel_or_sizes(sums, c);
            left[c] = own.of_size(1)[k];
            right[c] = own.total() - left[c];
        }
        const double gain = gain_of(left.data(), 1) + gain_of(right.data(), 1);
        gains.back() = std::max(gains.back(), gain);
        if (by_split != nullptr) (*by_split)[k].assign(gains.size(), gain);
    }
}

void ShallowSolver::best_of_two(PairSums& pairs, Gains& gains, std::vector<Gains>* by_split) {
    compare_pairs(pairs, 0, pairs.size);
    collect_gains(pairs, gains, by_split);
}

/// `pairs.pairs` begin with the row of split `begin`.
void ShallowSolver::compare_pairs(PairSums& pairs, std::size_t begin, std::size_t end) const {
    double *const inside = pairs.inside.data(), *const outside = pairs.outside.data();
    if (min_leaf_size_ > 0.0) {
        best_gains_with_min_leaf(pairs.pairs.data(), pairs.single.data(), pairs.total.data(),
                                 n_channels_, begin, end, pairs.stride, min_leaf_size_, inside,
                                 outside);
    } else if (n_channels_ == 1) {
        best_gains(pairs.pairs[0], pairs.single.data(), pairs.total[0], begin, end, inside,
                   outside);
    } else {
        best_gains_by_class(pairs.pairs.data(), pairs.single.data(), pairs.total.data(),
                            n_channels_, begin, end, pairs.stride, inside, outside);
    }
}

void ShallowSolver::collect_gains(const PairSums& pairs, Gains& gains,
                                  std::vector<Gains>* by_split) {
    const std::vector<double>&inside = pairs.inside, &outside = pairs.outside;
    if (!by_size_) {
        for (std::size_t k = 0; k < pairs.size; ++k) {
            gains[0] = std::max(gains[0], inside[k] + outside[k]);
            if (by_split != nullptr) (*by_split)[k].assign(1, inside[k] + outside[k]);
        }
        return;
    }
    rest_.resize(n_all_channels_);
    for (std::size_t k = 0; k < pairs.size; ++k) {
        for (std::size_t c = 0; c < n_all_channels_; ++c) {
            rest_[c] = pairs.total[c] - pairs.single[c * pairs.stride + k];
        }
        const std::array left{gain_of(pairs.single.data() + k, pairs.stride), inside[k]};
        const std::array right{gain_of(rest_.data(), 1), outside[k]};
        combine(left, right, gains);
        if (by_split == nullptr) continue;
        (*by_split)[k].assign(gains.size(), no_gain);
        combine(left, right, (*by_split)[k]);
    }
}

/// Where the first split is true, the triples with it form a table of pairs; where it is false, all
/// pairs less that table.
void ShallowSolver::best_of_three(const SubsetSums& sums, Gains& gains,
                                  std::vector<Gains>* by_split) {
    const std::size_t size = sums.n_splits();
    for (PairSums& part : parts_) part.resize(size, n_all_channels_);
    for (std::size_t k = 0; k < size; ++k) {
        for (std::size_t c = 0; c < n_all_channels_; ++c) {
            const SubsetTable& all = channel_or_sizes(sums, c);
            double* const left = parts_[0].allocate_pairs(c, choose(size, 2));
            double* const right = parts_[1].allocate_pairs(c, choose(size, 2));
            double* const single = parts_[0].single.data() + c * parts_[0].stride;
            all.copy_pairs_where(k, left, single, parts_[0].total[c]);
            subtract_numbers(right, all.of_size(2), left, choose(size, 2));
            for (std::size_t t = 0; t < size; ++t) {
                parts_[1].single[c * parts_[1].stride + t] = all.of_size(1)[t] - single[t];
            }
            parts_[1].total[c] = all.total() - parts_[0].total[c];
        }
        for (int side = 0; side < 2; ++side) {
            part_gains_[side].assign(by_size_ ? 4 : 1, gain_of(parts_[side].total.data(), 1));
            best_of_two(parts_[side], part_gains_[side], nullptr);
        }
        combine(part_gains_[0], part_gains_[1], gains);
        if (by_split == nullptr) continue;
        (*by_split)[k].assign(gains.size(), no_gain);
        combine(part_gains_[0], part_gains_[1], (*by_split)[k]);
    }
}

void ShallowSolver::begin_parts(const SubsetSums& all, std::span<const double> totals,
                                std::span<const std::vector<double>> singles, bool by_size) {
    by_size_ = by_size;
    set_channels(all);
    const std::size_t size = all.n_splits();
    for (PairSums& part : parts_) part.resize(size, n_all_channels_);
    const std::size_t stride = parts_[0].stride;
    for (std::size_t c = 0; c < n_all_channels_; ++c) {
        const SubsetTable& whole = channel_or_sizes(all, c);
        for (std::size_t t = 0; t < size; ++t) {
            parts_[0].single[c * stride + t] = singles[c][t];
            parts_[1].single[c * stride + t] = whole.of_size(1)[t] - singles[c][t];
        }
        parts_[0].total[c] = totals[c];
        parts_[1].total[c] = whole.total() - totals[c];
    }
}

void ShallowSolver::add_rows(const SubsetSums& all, std::size_t begin, std::size_t end,
                             std::span<const std::vector<double>> pairs) {
    const std::size_t n_pairs = choose(end, 2) - choose(begin, 2);
    for (std::size_t c = 0; c < n_all_channels_; ++c) {
        const double* const whole = channel_or_sizes(all, c).of_size(2) + choose(begin, 2);
        const double* const inside = pairs[c].data();
        subtract_numbers(parts_[1].allocate_pairs(c, n_pairs), whole, inside, n_pairs);
        parts_[0].pairs[c] = inside;
    }
    for (PairSums& part : parts_) compare_pairs(part, begin, end);
}

void ShallowSolver::finish_parts(std::vector<double>& gains) {
    for (int side = 0; side < 2; ++side) {
        part_gains_[side].assign(by_size_ ? 4 : 1, gain_of(parts_[side].total.data(), 1));
        collect_gains(parts_[side], part_gains_[side], nullptr);
    }
    gains.assign(by_size_ ? 8 : 1, no_gain);
    combine(part_gains_[0], part_gains_[1], gains);
}

void ShallowSolver::extract_tree(const SubsetSums& sums, std::span<const int> splits, int levels,
                                 bool by_size, int max_splits, std::size_t at, HeapTree& tree) {
    const double leaf = gain_of_leaf(sums);
    tree[at] = HeapNode::leaf(best_label(sums));
    if (levels == 0 || splits.empty() || (by_size && max_splits == 0)) return;
    ShallowGains gains;
    solve(sums, levels, by_size, gains);
    const std::size_t n = idx(std::max(0, max_splits));
    std::size_t top = 0;
    for (std::size_t k = 1; k < splits.size(); ++k) {
        top = gains.with_split(k, n) > gains.with_split(top, n) ? k : top;
    }
    if (!(gains.with_split(top, n) > leaf)) return;
    extract_tree_with(sums, splits, top, levels, by_size, max_splits, at, tree);
}

void ShallowSolver::extract_tree_with(const SubsetSums& sums, std::span<const int> splits,
                                      std::size_t k, int levels, bool by_size, int max_splits,
                                      std::size_t at, HeapTree& tree) {
    by_size_ = by_size;
    tree[at] = HeapNode::branch(splits[k]);
    const std::vector<std::uint32_t> kept = all_but(k, splits.size());
    std::vector<int> others;
    for (const std::uint32_t other : kept) others.push_back(splits[other]);
    SubsetSums parts[2];
    Gains gains[2];
    for (int side = 0; side < 2; ++side) {
        parts[side].assign_part(sums, k, side, kept);
        best(parts[side], levels - 1, gains[side], nullptr);
    }
    int left = 0;  // splits of the left subtree
    for (int n = 1; by_size && n < max_splits && n < to_int(gains[0].size()); ++n) {
        const auto gain = [&](int first) {
            const std::size_t second = std::min(idx(max_splits - 1 - first), gains[1].size() - 1);
            return gains[0][idx(first)] + gains[1][second];
        };
        if (gain(n) > gain(left)) left = n;
    }
    extract_tree(parts[0], others, levels - 1, by_size, left, 2 * at, tree);
    extract_tree(parts[1], others, levels - 1, by_size, max_splits - 1 - left, 2 * at + 1, tree);
}

}  // namespace hardwood::search
