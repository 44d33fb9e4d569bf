#include "gains.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

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
        Lane best_in{}, best_out{};
        for (std::size_t s = 0; s < t; s += lanes) {
            const Lane both = load(row + s), only_s = load(single + s) - both, only_t = here - both, neither = there - only_s;
            const Bits mask = s + lanes <= t ? size_bits : size_bits & left_of(t - s);
            const Lane b = masked(both, mask), o = masked(only_s, mask), p = masked(only_t, mask), n = masked(neither, mask);
            raise(inside + s, b + o);
            raise(outside + s, p + n);
            best_in = larger(b + p, best_in);
            best_out = larger(o + n, best_out);
        }
        inside[t] = std::max(inside[t], largest(best_in));
        outside[t] = std::max(outside[t], largest(best_out));
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
        Lane best_in{}, best_out{};
        for (std::size_t s = 0; s < t; s += lanes) {
            Lane b{}, o{}, p{}, n{};
            for (std::size_t c = 0; c < classes; ++c) {
                const double here = singles[c * stride + t], there = totals[c] - here;
                const Lane both = load(pairs[c] + row + s), only_s = load(singles + c * stride + s) - both;
                b = larger(both, b);
                o = larger(only_s, o);
                p = larger(here - both, p);
                n = larger(there - only_s, n);
            }
            if (s + lanes > t) {
                const Bits mask = left_of(t - s);
                b = masked(b, mask), o = masked(o, mask), p = masked(p, mask), n = masked(n, mask);
            }
            raise(inside + s, b + o);
            raise(outside + s, p + n);
            best_in = larger(b + p, best_in);
            best_out = larger(o + n, best_out);
        }
        inside[t] = std::max(inside[t], largest(best_in));
        outside[t] = std::max(outside[t], largest(best_out));
    }
}

}  // namespace hardwood::search
