#include "gains.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(HARDWOOD_NO_CLONES)
#define HARDWOOD_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define HARDWOOD_CLONES
#endif

namespace hardwood::search {

namespace {

using Lane = double __attribute__((vector_size(lanes * sizeof(double))));
using Bits = std::int64_t __attribute__((vector_size(lanes * sizeof(double))));

// Written with vectors of eight numbers: a maximum over doubles is not split into lanes by the compiler on its own.
inline __attribute__((always_inline)) Lane load(const double* from) {
    Lane lane;
    std::memcpy(&lane, from, sizeof lane);
    return lane;
}

inline __attribute__((always_inline)) void raise(double* to, Lane candidate) {
    const Lane known = load(to), most = candidate > known ? candidate : known;
    std::memcpy(to, &most, sizeof most);
}

inline __attribute__((always_inline)) Lane larger(Lane a, Lane b) { return a > b ? a : b; }

inline __attribute__((always_inline)) double largest(Lane lane) {
    double most = lane[0];
    for (std::size_t k = 1; k < lanes; ++k) most = std::max(most, lane[k]);
    return most;
}

// All bits where numbers are left, none beyond: gains are not negative, so nothing is gained there.
inline __attribute__((always_inline)) Bits left_of(std::size_t n) {
    const Bits number = {0, 1, 2, 3, 4, 5, 6, 7};
    return number < static_cast<std::int64_t>(n);
}

inline __attribute__((always_inline)) Lane masked(Lane lane, Bits mask) { return (Lane)((Bits)lane & mask); }

// Gains of leaves: where s and t are true, only s, only t, neither.
struct Leaves {
    Lane both, only_s, only_t, neither;
};

// What the best of all tests so far gain below t, and each test s below a vector of others.
struct Best {
    Lane in{}, out{};

    __attribute__((always_inline)) void offer(const Leaves& leaves, double* inside, double* outside) {
        raise(inside, leaves.both + leaves.only_s);
        raise(outside, leaves.only_t + leaves.neither);
        in = larger(leaves.both + leaves.only_t, in);
        out = larger(leaves.only_s + leaves.neither, out);
    }
    __attribute__((always_inline)) void keep(double& inside, double& outside) const {
        inside = std::max(inside, largest(in));
        outside = std::max(outside, largest(out));
    }
};

constexpr double no_gain = -std::numeric_limits<double>::infinity();

// The gains of leaves with sums of one channel after the other, as far as they hold enough samples.
class GainOfLeaves {
public:
    explicit __attribute__((always_inline)) GainOfLeaves(bool by_size) : by_size_(by_size) {}

    __attribute__((always_inline)) void add(Lane sum) { most_ = larger(by_size_ ? larger(sum, -sum) : sum, most_); }
    __attribute__((always_inline)) Lane within(Lane samples, double least_leaf, Bits mask) const {
        const Lane none = Lane{} + no_gain;
        return mask & (samples >= Lane{} + least_leaf) ? most_ : none;
    }

private:
    Lane most_{};
    bool by_size_;
};

}  // namespace

HARDWOOD_CLONES
void best_gains(const double* pairs, const double* single, double total, std::size_t size, double* inside, double* outside) {
    const Bits size_bits = Bits{} + 0x7fffffffffffffffLL;
    for (std::size_t s = 0; s < size; ++s) {
        inside[s] = std::abs(single[s]);
        outside[s] = std::abs(total - single[s]);
    }
    const double* row = pairs;
    for (std::size_t t = 1; t < size; row += t++) {
        const double here = single[t], there = total - here;
        Best best;
        for (std::size_t s = 0; s < t; s += lanes) {
            const Lane both = load(row + s), only_s = load(single + s) - both, only_t = here - both, neither = there - only_s;
            const Bits mask = s + lanes <= t ? size_bits : size_bits & left_of(t - s);
            best.offer({masked(both, mask), masked(only_s, mask), masked(only_t, mask), masked(neither, mask)}, inside + s, outside + s);
        }
        best.keep(inside[t], outside[t]);
    }
}

HARDWOOD_CLONES
void best_gains_of_classes(const double* const* pairs, const double* singles, const double* totals, std::size_t classes,
                           std::size_t size, std::size_t stride, double* inside, double* outside) {
    for (std::size_t s = 0; s < size; ++s) {
        inside[s] = outside[s] = 0.0;
        for (std::size_t c = 0; c < classes; ++c) {
            inside[s] = std::max(inside[s], singles[c * stride + s]);
            outside[s] = std::max(outside[s], totals[c] - singles[c * stride + s]);
        }
    }
    std::size_t row = 0;
    for (std::size_t t = 1; t < size; row += t++) {
        Best best;
        for (std::size_t s = 0; s < t; s += lanes) {
            Leaves most{};
            for (std::size_t c = 0; c < classes; ++c) {
                const double here = singles[c * stride + t], there = totals[c] - here;
                const Lane both = load(pairs[c] + row + s), only_s = load(singles + c * stride + s) - both;
                most.both = larger(both, most.both);
                most.only_s = larger(only_s, most.only_s);
                most.only_t = larger(here - both, most.only_t);
                most.neither = larger(there - only_s, most.neither);
            }
            if (s + lanes > t) {
                const Bits mask = left_of(t - s);
                most = {masked(most.both, mask), masked(most.only_s, mask), masked(most.only_t, mask), masked(most.neither, mask)};
            }
            best.offer(most, inside + s, outside + s);
        }
        best.keep(inside[t], outside[t]);
    }
}

HARDWOOD_CLONES
void best_gains_of_leaves(const double* const* pairs, const double* singles, const double* totals, std::size_t channels,
                          std::size_t size, std::size_t stride, double least_leaf, double* inside, double* outside) {
    const bool by_size = channels == 1;
    const double* const counts = singles + channels * stride;
    for (std::size_t s = 0; s < size; ++s) {
        double here = 0.0, there = 0.0;
        for (std::size_t c = 0; c < channels; ++c) {
            const double sum = singles[c * stride + s], rest = totals[c] - sum;
            here = std::max(here, by_size ? std::abs(sum) : sum);
            there = std::max(there, by_size ? std::abs(rest) : rest);
        }
        inside[s] = counts[s] >= least_leaf ? here : no_gain;
        outside[s] = totals[channels] - counts[s] >= least_leaf ? there : no_gain;
    }
    std::size_t row = 0;
    for (std::size_t t = 1; t < size; row += t++) {
        Best best{Lane{} + no_gain, Lane{} + no_gain};
        for (std::size_t s = 0; s < t; s += lanes) {
            GainOfLeaves both(by_size), only_s(by_size), only_t(by_size), neither(by_size);
            Lane sums[4]{};
            for (std::size_t c = 0; c <= channels; ++c) {
                const double here = singles[c * stride + t], there = totals[c] - here;
                sums[0] = load(pairs[c] + row + s);
                sums[1] = load(singles + c * stride + s) - sums[0];
                sums[2] = here - sums[0];
                sums[3] = there - sums[1];
                if (c == channels) break;  // these count samples
                both.add(sums[0]);
                only_s.add(sums[1]);
                only_t.add(sums[2]);
                neither.add(sums[3]);
            }
            const Bits mask = left_of(t - s);
            best.offer({both.within(sums[0], least_leaf, mask), only_s.within(sums[1], least_leaf, mask),
                        only_t.within(sums[2], least_leaf, mask), neither.within(sums[3], least_leaf, mask)},
                       inside + s, outside + s);
        }
        best.keep(inside[t], outside[t]);
    }
}

}  // namespace hardwood::search
