#include "dp/shallow_solver.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "dp/split_kernels.h"

namespace hardwood::search {

namespace {

constexpr double no_gain = -std::numeric_limits<double>::infinity();

void raise(std::vector<double>& gains, std::span<const double> others) {
    for (std::size_t n = 0; n < gains.size(); ++n) gains[n] = std::max(gains[n], others[n]);
}

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

void ShallowSolver::Singles::resize(std::size_t n_splits, std::size_t n_channels) {
    size = n_splits;
    stride = (n_splits + lanes - 1) / lanes * lanes;
    total.resize(n_channels);
    single.assign(n_channels * stride, 0.0);
}

void ShallowSolver::SideGains::clear(std::size_t n_splits) {
    const std::size_t length = (n_splits + lanes - 1) / lanes * lanes;
    inside.assign(length, no_gain);
    outside.assign(length, no_gain);
}

void ShallowSolver::SideGains::merge(const SideGains& other) {
    for (std::size_t k = 0; k < inside.size(); ++k) {
        inside[k] = std::max(inside[k], other.inside[k]);
        outside[k] = std::max(outside[k], other.outside[k]);
    }
}

void ShallowSolver::PartGains::clear(std::size_t n_splits) {
    for (SideGains& own : parts_) own.clear(n_splits);
}

void ShallowSolver::PartGains::merge(const PartGains& other) {
    for (int side = 0; side < 2; ++side) parts_[side].merge(other.parts_[side]);
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
        std::vector<const double*> pairs;
        for (std::size_t c = 0; c < n_all_channels_; ++c) {
            const SubsetTable& own = channel_or_sizes(sums, c);
            whole_.total[c] = own.total();
            std::copy_n(own.of_size(1), whole_.size, whole_.single.data() + c * whole_.stride);
            pairs.push_back(own.of_size(2));
        }
        sides_.clear(whole_.size);
        compare_pairs(whole_, pairs, 0, whole_.size, sides_);
        collect_gains(whole_, sides_, gains, by_split);
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

/// `pairs` begin with the row of split `begin`.
void ShallowSolver::compare_pairs(const Singles& singles, std::span<const double* const> pairs,
                                  std::size_t begin, std::size_t end, SideGains& sides) const {
    double *const inside = sides.inside.data(), *const outside = sides.outside.data();
    if (min_leaf_size_ > 0.0) {
        best_gains_with_min_leaf(pairs.data(), singles.single.data(), singles.total.data(),
                                 n_channels_, begin, end, singles.stride, min_leaf_size_, inside,
                                 outside);
    } else if (n_channels_ == 1) {
        best_gains(pairs[0], singles.single.data(), singles.total[0], begin, end, inside, outside);
    } else {
        best_gains_by_class(pairs.data(), singles.single.data(), singles.total.data(), n_channels_,
                            begin, end, singles.stride, inside, outside);
    }
}

void ShallowSolver::collect_gains(const Singles& singles, const SideGains& sides, Gains& gains,
                                  std::vector<Gains>* by_split) const {
    const std::vector<double>&inside = sides.inside, &outside = sides.outside;
    if (!by_size_) {
        for (std::size_t k = 0; k < singles.size; ++k) {
            gains[0] = std::max(gains[0], inside[k] + outside[k]);
            if (by_split != nullptr) (*by_split)[k].assign(1, inside[k] + outside[k]);
        }
        return;
    }
    std::vector<double> rest(n_all_channels_);
    for (std::size_t k = 0; k < singles.size; ++k) {
        for (std::size_t c = 0; c < n_all_channels_; ++c) {
            rest[c] = singles.total[c] - singles.single[c * singles.stride + k];
        }
        const std::array left{gain_of(singles.single.data() + k, singles.stride), inside[k]};
        const std::array right{gain_of(rest.data(), 1), outside[k]};
        combine(left, right, gains);
        if (by_split == nullptr) continue;
        (*by_split)[k].assign(gains.size(), no_gain);
        combine(left, right, (*by_split)[k]);
    }
}

void ShallowSolver::best_of_three(const SubsetSums& sums, Gains& gains,
                                  std::vector<Gains>* by_split) {
    for (Buffers& own : buffers_) own.best.assign(gains.size(), no_gain);
    team_.run(sums.n_splits(), [&](std::size_t k, std::size_t thread) {
        Buffers& own = buffers_[thread];
        if (by_split == nullptr) {
            best_with(sums, k, own, own.best);
            return;
        }
        (*by_split)[k].assign(gains.size(), no_gain);
        best_with(sums, k, own, (*by_split)[k]);
        raise(own.best, (*by_split)[k]);
    });
    for (const Buffers& own : buffers_) raise(gains, own.best);
}

/// Where the split is true, the triples with it form a table of pairs; where it is false, all pairs
/// less that table.
void ShallowSolver::best_with(const SubsetSums& sums, std::size_t k, Buffers& buffers,
                              Gains& gains) const {
    const std::size_t size = sums.n_splits(), n_pairs = choose(size, 2), length = n_pairs + lanes;
    for (int side = 0; side < 2; ++side) {
        buffers.singles[side].resize(size, n_all_channels_);
        buffers.pairs[side].resize(n_all_channels_ * length);
    }
    Singles &left = buffers.singles[0], &right = buffers.singles[1];
    std::vector<const double*> pairs[2];
    for (std::size_t c = 0; c < n_all_channels_; ++c) {
        const SubsetTable& all = channel_or_sizes(sums, c);
        double* const inside = buffers.pairs[0].data() + c * length;
        double* const outside = buffers.pairs[1].data() + c * length;
        double* const single = left.single.data() + c * left.stride;
        all.copy_pairs_where(k, inside, single, left.total[c]);
        subtract_numbers(outside, all.of_size(2), inside, n_pairs);
        for (std::size_t t = 0; t < size; ++t)
            right.single[c * right.stride + t] = all.of_size(1)[t] - single[t];
        right.total[c] = all.total() - left.total[c];
        pairs[0].push_back(inside);
        pairs[1].push_back(outside);
    }
    for (int side = 0; side < 2; ++side) {
        const Singles& own = buffers.singles[side];
        buffers.sides.clear(size);
        compare_pairs(own, pairs[side], 0, size, buffers.sides);
        buffers.parts[side].assign(by_size_ ? 4 : 1, gain_of(own.total.data(), 1));
        collect_gains(own, buffers.sides, buffers.parts[side], nullptr);
    }
    combine(buffers.parts[0], buffers.parts[1], gains);
}

void ShallowSolver::configure(const SubsetSums& all, bool by_size) {
    by_size_ = by_size;
    set_channels(all);
}

void ShallowSolver::begin(const SubsetSums& all, std::span<const double> totals,
                          std::span<const std::vector<double>> singles, TopSplit& top) const {
    const std::size_t size = all.n_splits();
    Singles &left = top.parts_[0], &right = top.parts_[1];
    left.resize(size, n_all_channels_);
    right.resize(size, n_all_channels_);
    for (std::size_t c = 0; c < n_all_channels_; ++c) {
        const SubsetTable& whole = channel_or_sizes(all, c);
        for (std::size_t t = 0; t < size; ++t) {
            left.single[c * left.stride + t] = singles[c][t];
            right.single[c * right.stride + t] = whole.of_size(1)[t] - singles[c][t];
        }
        left.total[c] = totals[c];
        right.total[c] = whole.total() - totals[c];
    }
}

void ShallowSolver::add_rows(const SubsetSums& all, const TopSplit& top, std::size_t begin,
                             std::size_t end, std::span<const std::vector<double>> pairs,
                             std::vector<double>& buffer, PartGains& gains) const {
    const std::size_t n_pairs = choose(end, 2) - choose(begin, 2), length = n_pairs + lanes;
    buffer.resize(n_all_channels_ * length);
    std::vector<const double*> left, right;
    for (std::size_t c = 0; c < n_all_channels_; ++c) {
        double* const outside = buffer.data() + c * length;
        const double* const whole = channel_or_sizes(all, c).of_size(2) + choose(begin, 2);
        subtract_numbers(outside, whole, pairs[c].data(), n_pairs);
        left.push_back(pairs[c].data());
        right.push_back(outside);
    }
    compare_pairs(top.parts_[0], left, begin, end, gains.parts_[0]);
    compare_pairs(top.parts_[1], right, begin, end, gains.parts_[1]);
}

void ShallowSolver::finish(const TopSplit& top, const PartGains& part_gains,
                           std::vector<double>& gains) const {
    Gains parts[2];
    for (int side = 0; side < 2; ++side) {
        parts[side].assign(by_size_ ? 4 : 1, gain_of(top.parts_[side].total.data(), 1));
        collect_gains(top.parts_[side], part_gains.parts_[side], parts[side], nullptr);
    }
    gains.assign(by_size_ ? 8 : 1, no_gain);
    combine(parts[0], parts[1], gains);
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
