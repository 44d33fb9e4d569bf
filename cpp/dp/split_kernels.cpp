#include "dp/split_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "util/clones.h"

namespace hardwood::search {

namespace {

using Lane = double __attribute__((vector_size(lanes * sizeof(double))));
using Bits = std::int64_t __attribute__((vector_size(lanes * sizeof(double))));

/// Explicit vectors of eight numbers: the compiler does not vectorise a maximum over doubles by
/// itself.
inline __attribute__((always_inline)) Lane load(const double* from) {
    Lane lane;
    std::memcpy(&lane, from, sizeof lane);
    return lane;
}

inline __attribute__((always_inline)) void store_max(double* to, Lane candidate) {
    const Lane known = load(to), best = candidate > known ? candidate : known;
    std::memcpy(to, &best, sizeof best);
}

inline __attribute__((always_inline)) Lane larger(Lane a, Lane b) {
    return a > b ? a : b;
}

inline __attribute__((always_inline)) double largest(Lane lane) {
    double best = lane[0];
    for (std::size_t k = 1; k < lanes; ++k) best = std::max(best, lane[k]);
    return best;
}

/// All bits where numbers are left, none beyond: gains are not negative, so the masked lanes gain
/// nothing.
inline __attribute__((always_inline)) Bits remaining_mask(std::size_t n) {
    const Bits number = {0, 1, 2, 3, 4, 5, 6, 7};
    return number < static_cast<std::int64_t>(n);
}

inline __attribute__((always_inline)) Lane masked(Lane lane, Bits mask) {
    return (Lane)((Bits)lane & mask);
}

/// Gains of the leaves where s and t are true, only s, only t, or neither.
struct Leaves {
    Lane both, only_s, only_t, neither;
};

/// The best gains so far: of splits below t, and of t below each of a vector of splits s.
struct Best {
    Lane in{}, out{};

    __attribute__((always_inline)) void offer(const Leaves& leaves, double* inside,
                                              double* outside) {
        store_max(inside, leaves.both + leaves.only_s);
        store_max(outside, leaves.only_t + leaves.neither);
        in = larger(leaves.both + leaves.only_t, in);
        out = larger(leaves.only_s + leaves.neither, out);
    }
    __attribute__((always_inline)) void keep(double& inside, double& outside) const {
        inside = std::max(inside, largest(in));
        outside = std::max(outside, largest(out));
    }
};

constexpr double no_gain = -std::numeric_limits<double>::infinity();

/// Gains of leaves from sums that arrive channel by channel; -inf for leaves that are too small.
class GainOfLeaves {
public:
    explicit __attribute__((always_inline)) GainOfLeaves(bool absolute) : absolute_(absolute) {}

    __attribute__((always_inline)) void add(Lane sum) {
        most_ = larger(absolute_ ? larger(sum, -sum) : sum, most_);
    }
    __attribute__((always_inline)) Lane if_large_enough(Lane sizes, double min_leaf_size,
                                                        Bits mask) const {
        const Lane none = Lane{} + no_gain;
        return mask & (sizes >= Lane{} + min_leaf_size) ? most_ : none;
    }

private:
    Lane most_{};
    bool absolute_;
};

}  // namespace

HARDWOOD_CLONES
void best_gains(const double* pairs, const double* single, double total, std::size_t begin,
                std::size_t end, double* inside, double* outside) {
    const Bits magnitude_bits = Bits{} + 0x7fffffffffffffffLL;
    for (std::size_t s = begin; s < end; ++s) {
        inside[s] = std::abs(single[s]);
        outside[s] = std::abs(total - single[s]);
    }
    const double* row = pairs;
    for (std::size_t t = begin; t < end; row += t++) {
        const double here = single[t], there = total - here;
        Best best;
        for (std::size_t s = 0; s < t; s += lanes) {
            const Lane both = load(row + s), only_s = load(single + s) - both, only_t = here - both,
                       neither = there - only_s;
            const Bits mask =
                s + lanes <= t ? magnitude_bits : magnitude_bits & remaining_mask(t - s);
            best.offer({masked(both, mask), masked(only_s, mask), masked(only_t, mask),
                        masked(neither, mask)},
                       inside + s, outside + s);
        }
        best.keep(inside[t], outside[t]);
    }
}

HARDWOOD_CLONES
void best_gains_by_class(const double* const* pairs, const double* singles, const double* totals,
                         std::size_t n_classes, std::size_t begin, std::size_t end,
                         std::size_t stride, double* inside, double* outside) {
    for (std::size_t s = begin; s < end; ++s) {
        inside[s] = outside[s] = 0.0;
        for (std::size_t c = 0; c < n_classes; ++c) {
            inside[s] = std::max(inside[s], singles[c * stride + s]);
            outside[s] = std::max(outside[s], totals[c] - singles[c * stride + s]);
        }
    }
    std::size_t row = 0;
    for (std::size_t t = begin; t < end; row += t++) {
        Best best;
        for (std::size_t s = 0; s < t; s += lanes) {
            Leaves most{};
            for (std::size_t c = 0; c < n_classes; ++c) {
                const double here = singles[c * stride + t], there = totals[c] - here;
                const Lane both = load(pairs[c] + row + s),
                           only_s = load(singles + c * stride + s) - both;
                most.both = larger(both, most.both);
                most.only_s = larger(only_s, most.only_s);
                most.only_t = larger(here - both, most.only_t);
                most.neither = larger(there - only_s, most.neither);
            }
            if (s + lanes > t) {
                const Bits mask = remaining_mask(t - s);
                most = {masked(most.both, mask), masked(most.only_s, mask),
                        masked(most.only_t, mask), masked(most.neither, mask)};
            }
            best.offer(most, inside + s, outside + s);
        }
        best.keep(inside[t], outside[t]);
    }
}

HARDWOOD_CLONES
void best_gains_with_min_leaf(const double* const* pairs, const double* singles,
                              const double* totals, std::size_t n_channels, std::size_t begin,
                              std::size_t end, std::size_t stride, double min_leaf_size,
                              double* inside, double* outside) {
    const bool absolute = n_channels == 1;
    const double* const counts = singles + n_channels * stride;
    for (std::size_t s = begin; s < end; ++s) {
        double here = 0.0, there = 0.0;
        for (std::size_t c = 0; c < n_channels; ++c) {
            const double sum = singles[c * stride + s], rest = totals[c] - sum;
            here = std::max(here, absolute ? std::abs(sum) : sum);
            there = std::max(there, absolute ? std::abs(rest) : rest);
        }
        inside[s] = counts[s] >= min_leaf_size ? here : no_gain;
        outside[s] = totals[n_channels] - counts[s] >= min_leaf_size ? there : no_gain;
    }
    std::size_t row = 0;
    for (std::size_t t = begin; t < end; row += t++) {
        Best best{Lane{} + no_gain, Lane{} + no_gain};
        for (std::size_t s = 0; s < t; s += lanes) {
            GainOfLeaves both(absolute), only_s(absolute), only_t(absolute), neither(absolute);
            Lane sums[4]{};
            for (std::size_t c = 0; c <= n_channels; ++c) {
                const double here = singles[c * stride + t], there = totals[c] - here;
                sums[0] = load(pairs[c] + row + s);
                sums[1] = load(singles + c * stride + s) - sums[0];
                sums[2] = here - sums[0];
                sums[3] = there - sums[1];
                if (c == n_channels) break;  // the last channel counts observations
                both.add(sums[0]);
                only_s.add(sums[1]);
                only_t.add(sums[2]);
                neither.add(sums[3]);
            }
            const Bits mask = remaining_mask(t - s);
            best.offer({both.if_large_enough(sums[0], min_leaf_size, mask),
                        only_s.if_large_enough(sums[1], min_leaf_size, mask),
                        only_t.if_large_enough(sums[2], min_leaf_size, mask),
                        neither.if_large_enough(sums[3], min_leaf_size, mask)},
                       inside + s, outside + s);
        }
        best.keep(inside[t], outside[t]);
    }
}

HARDWOOD_CLONES
void add_numbers(double* to, const double* from, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) to[k] += from[k];
}

HARDWOOD_CLONES
void subtract_numbers(double* to, const double* a, const double* b, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) to[k] = a[k] - b[k];
}

}  // namespace hardwood::search
