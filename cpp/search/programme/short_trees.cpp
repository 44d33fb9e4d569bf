#include "short_trees.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "gains.h"

namespace hardwood::search {

namespace {

constexpr double no_gain = -std::numeric_limits<double>::infinity();

// All tests but one.
void all_but(std::size_t k, std::size_t n, std::vector<std::uint32_t>& kept) {
    kept.clear();
    for (std::size_t other = 0; other < n; ++other) {
        if (other != k) kept.push_back(static_cast<std::uint32_t>(other));
    }
}

}  // namespace

double ShortTrees::gain_of_leaf(const TupleSums& sums) {
    if (sums.sizes() != nullptr && sums.sizes()->total() < sums.least_leaf()) return no_gain;
    double most = sums.n_channels() == 1 ? std::abs(sums.channel(0).total()) : 0.0;
    for (std::size_t c = 0; c < sums.n_channels(); ++c) most = std::max(most, sums.channel(c).total());
    return most;
}

int ShortTrees::best_label(const TupleSums& sums) {
    if (sums.n_channels() == 1) return sums.channel(0).total() > 0 ? 1 : 0;
    std::size_t best = 0;
    for (std::size_t c = 1; c < sums.n_channels(); ++c) {
        if (sums.channel(c).total() > sums.channel(best).total()) best = c;
    }
    return static_cast<int>(best);
}

// Two classes: a leaf errs on what is left of its weights when the size of their sum is taken away, half of it.
double ShortTrees::error(const TupleSums& sums, double gain) {
    return std::max(0.0, (sums.n_channels() == 1 ? 0.5 : 1.0) * (sums.mass() - gain));
}

double ShortTrees::error_of_label(const TupleSums& sums, int label) {
    if (sums.n_channels() > 1) return std::max(0.0, sums.mass() - sums.channel(static_cast<std::size_t>(label)).total());
    const double more = sums.channel(0).total();
    return std::max(0.0, 0.5 * (label == 1 ? sums.mass() - more : sums.mass() + more));
}

// Of a leaf whose sums stand so many numbers apart, channel after channel.
double ShortTrees::gain_of(const double* sums, std::size_t step) const {
    if (least_leaf_ > 0.0 && sums[channels_ * step] < least_leaf_) return no_gain;
    if (channels_ == 1) return std::abs(sums[0]);
    double most = sums[0];
    for (std::size_t c = 1; c < channels_; ++c) most = std::max(most, sums[c * step]);
    return most;
}

// The sums of a class, or, after the last of them, of samples.
const SetSums& ShortTrees::counted_channel(const TupleSums& sums, std::size_t c) const {
    return c < channels_ ? sums.channel(c) : *sums.sizes();
}

void ShortTrees::solve(const TupleSums& sums, int levels, bool counted) {
    counted_ = counted;
    by_test_.resize(sums.n_tests());
    best(sums, levels, best_, &by_test_);
}

double ShortTrees::gain_with(std::size_t k, std::size_t tests) const {
    const Gains& gains = by_test_[k];
    double gain = gains[0];
    for (std::size_t n = 1; n < gains.size() && n <= tests; ++n) gain = std::max(gain, gains[n]);
    return gain;
}

// A test with these gains on its two sides.
void ShortTrees::offer(std::span<const double> here, std::span<const double> there, Gains& best) const {
    if (!counted_) {
        best[0] = std::max(best[0], here[0] + there[0]);
        return;
    }
    for (std::size_t a = 0; a < here.size(); ++a) {
        for (std::size_t b = 0; b < there.size(); ++b) best[a + b + 1] = std::max(best[a + b + 1], here[a] + there[b]);
    }
}

void ShortTrees::Pairs::resize(std::size_t tests, std::size_t channels) {
    size = tests;
    stride = (tests + lanes - 1) / lanes * lanes;
    total.resize(channels);
    single.assign(channels * stride, 0.0);
    pairs.resize(channels);
}

double* ShortTrees::Pairs::own(std::size_t channel) {
    const std::size_t length = choose(size, 2) + lanes;
    own_pairs.resize(pairs.size() * length);
    pairs[channel] = own_pairs.data() + channel * length;
    return own_pairs.data() + channel * length;
}

void ShortTrees::best(const TupleSums& sums, int levels, Gains& gains, std::vector<Gains>* by_test) {
    channels_ = sums.n_channels();
    least_leaf_ = sums.least_leaf();
    all_channels_ = channels_ + (least_leaf_ > 0.0 ? 1 : 0);
    gains.assign(counted_ ? std::size_t{1} << levels : 1, gain_of_leaf(sums));
    if (levels == 1) best_of_one(sums, gains, by_test);
    if (levels == 2) {
        whole_.resize(sums.n_tests(), all_channels_);
        for (std::size_t c = 0; c < all_channels_; ++c) {
            const SetSums& own = counted_channel(sums, c);
            whole_.total[c] = own.total();
            std::copy_n(own.of(1), whole_.size, whole_.single.data() + c * whole_.stride);
            whole_.pairs[c] = own.of(2);
        }
        best_of_two(whole_, gains, by_test);
    }
    if (levels == 3) best_of_three(sums, gains, by_test);
}

void ShortTrees::best_of_one(const TupleSums& sums, Gains& gains, std::vector<Gains>* by_test) {
    std::vector<double> here(all_channels_), there(all_channels_);
    for (std::size_t k = 0; k < sums.n_tests(); ++k) {
        for (std::size_t c = 0; c < all_channels_; ++c) {
            const SetSums& own = counted_channel(sums, c);
            here[c] = own.of(1)[k];
            there[c] = own.total() - here[c];
        }
        const double gain = gain_of(here.data(), 1) + gain_of(there.data(), 1);
        gains.back() = std::max(gains.back(), gain);
        if (by_test != nullptr) (*by_test)[k].assign(gains.size(), gain);
    }
}

void ShortTrees::best_of_two(const Pairs& pairs, Gains& gains, std::vector<Gains>* by_test) {
    inside_.resize(pairs.stride);
    outside_.resize(pairs.stride);
    if (least_leaf_ > 0.0) {
        best_gains_of_leaves(pairs.pairs.data(), pairs.single.data(), pairs.total.data(), channels_, pairs.size, pairs.stride,
                             least_leaf_, inside_.data(), outside_.data());
    } else if (channels_ == 1) {
        best_gains(pairs.pairs[0], pairs.single.data(), pairs.total[0], pairs.size, inside_.data(), outside_.data());
    } else {
        best_gains_of_classes(pairs.pairs.data(), pairs.single.data(), pairs.total.data(), channels_, pairs.size, pairs.stride,
                              inside_.data(), outside_.data());
    }
    if (!counted_) {
        for (std::size_t k = 0; k < pairs.size; ++k) {
            gains[0] = std::max(gains[0], inside_[k] + outside_[k]);
            if (by_test != nullptr) (*by_test)[k].assign(1, inside_[k] + outside_[k]);
        }
        return;
    }
    rest_.resize(all_channels_);
    for (std::size_t k = 0; k < pairs.size; ++k) {
        for (std::size_t c = 0; c < all_channels_; ++c) rest_[c] = pairs.total[c] - pairs.single[c * pairs.stride + k];
        const std::array in{gain_of(pairs.single.data() + k, pairs.stride), inside_[k]}, out{gain_of(rest_.data(), 1), outside_[k]};
        offer(in, out, gains);
        if (by_test == nullptr) continue;
        (*by_test)[k].assign(gains.size(), no_gain);
        offer(in, out, (*by_test)[k]);
    }
}

// Where the first test is true, the triples with it are a table of pairs; where it is not, all pairs less that table.
void ShortTrees::best_of_three(const TupleSums& sums, Gains& gains, std::vector<Gains>* by_test) {
    const std::size_t size = sums.n_tests();
    for (Pairs& part : parts_) part.resize(size, all_channels_);
    for (std::size_t k = 0; k < size; ++k) {
        for (std::size_t c = 0; c < all_channels_; ++c) {
            const SetSums& all = counted_channel(sums, c);
            double* const here = parts_[0].own(c);
            double* const there = parts_[1].own(c);
            double* const single = parts_[0].single.data() + c * parts_[0].stride;
            all.copy_pairs_where(k, here, single, parts_[0].total[c]);
            for (std::size_t pair = 0; pair < choose(size, 2); ++pair) there[pair] = all.of(2)[pair] - here[pair];
            for (std::size_t t = 0; t < size; ++t) parts_[1].single[c * parts_[1].stride + t] = all.of(1)[t] - single[t];
            parts_[1].total[c] = all.total() - parts_[0].total[c];
        }
        for (int side = 0; side < 2; ++side) {
            const Pairs& part = parts_[side];
            part_gains_[side].assign(counted_ ? 4 : 1, gain_of(part.total.data(), 1));
            best_of_two(part, part_gains_[side], nullptr);
        }
        offer(part_gains_[0], part_gains_[1], gains);
        if (by_test == nullptr) continue;
        (*by_test)[k].assign(gains.size(), no_gain);
        offer(part_gains_[0], part_gains_[1], (*by_test)[k]);
    }
}

void ShortTrees::put_tree(const TupleSums& sums, std::span<const int> tests, int levels, bool counted, int most_tests,
                          std::size_t at, Skeleton& tree) {
    const double leaf = gain_of_leaf(sums);
    tree[at] = {-1, best_label(sums)};
    if (levels == 0 || tests.empty() || (counted && most_tests == 0)) return;
    solve(sums, levels, counted);
    const auto enough = static_cast<std::size_t>(std::max(0, most_tests));
    std::size_t top = 0;
    for (std::size_t k = 1; k < tests.size(); ++k) top = gain_with(k, enough) > gain_with(top, enough) ? k : top;
    if (!(gain_with(top, enough) > leaf)) return;
    put_tree_with(sums, tests, top, levels, counted, most_tests, at, tree);
}

void ShortTrees::put_tree_with(const TupleSums& sums, std::span<const int> tests, std::size_t k, int levels, bool counted,
                               int most_tests, std::size_t at, Skeleton& tree) {
    counted_ = counted;
    tree[at] = {tests[k], 0};
    std::vector<std::uint32_t> kept;
    all_but(k, tests.size(), kept);
    std::vector<int> others;
    for (const std::uint32_t other : kept) others.push_back(tests[other]);
    TupleSums parts[2];
    Gains own[2];
    for (int side = 0; side < 2; ++side) {
        parts[side].assign_part(sums, k, side, kept);
        best(parts[side], levels - 1, own[side], nullptr);
    }
    int left = 0;  // tests of the first side
    for (int n = 1; counted && n < most_tests && n < static_cast<int>(own[0].size()); ++n) {
        const auto gain = [&](int first) {
            const std::size_t second = std::min(static_cast<std::size_t>(most_tests - 1 - first), own[1].size() - 1);
            return own[0][static_cast<std::size_t>(first)] + own[1][second];
        };
        if (gain(n) > gain(left)) left = n;
    }
    put_tree(parts[0], others, levels - 1, counted, left, 2 * at, tree);
    put_tree(parts[1], others, levels - 1, counted, most_tests - 1 - left, 2 * at + 1, tree);
}

}  // namespace hardwood::search
