#include "kernels.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HARDWOOD_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define HARDWOOD_CLONES
#endif

namespace hardwood::search {

namespace {

using Lane = double __attribute__((vector_size(64)));

}  // namespace

// Four rows against two at a time, so that each number loaded is used more than once. The order of the additions differs
// from a plain loop; the rounding term of `Instance::rounding` holds for any order.
HARDWOOD_CLONES
void products(const double* left, std::size_t n_left, const double* right, std::size_t n_right, std::size_t stride,
              std::size_t begin, std::size_t end, double* out) {
    constexpr std::size_t chunk = 256;  // of so many columns, all rows stay in the second-level cache
    std::fill(out, out + n_left * n_right, 0.0);
    for (std::size_t from = begin; from < end; from += chunk) {
        const std::size_t to = std::min(end, from + chunk);
        for (std::size_t s = 0; s < n_left; s += 4) {
            const double* a[4];
            for (std::size_t q = 0; q < 4; ++q) a[q] = left + std::min(s + q, n_left - 1) * stride;
            for (std::size_t t = 0; t < n_right; t += 2) {
                const double* b0 = right + t * stride;
                const double* b1 = right + std::min(t + 1, n_right - 1) * stride;
                Lane sum[4][2] = {};
                for (std::size_t j = from; j < to; j += 8) {
                    Lane y0, y1;
                    std::memcpy(&y0, b0 + j, sizeof y0);
                    std::memcpy(&y1, b1 + j, sizeof y1);
                    for (int q = 0; q < 4; ++q) {
                        Lane x;
                        std::memcpy(&x, a[q] + j, sizeof x);
                        sum[q][0] += x * y0;
                        sum[q][1] += x * y1;
                    }
                }
                for (std::size_t q = 0; q < 4 && s + q < n_left; ++q) {
                    for (std::size_t e = 0; e < 2 && t + e < n_right; ++e) {
                        double total = 0.0;
                        for (int k = 0; k < 8; ++k) total += sum[q][e][k];
                        out[(s + q) * n_right + t + e] += total;
                    }
                }
            }
        }
    }
}

HARDWOOD_CLONES
SideSums side_sums(const double* here, const double* weight, const double* cross, const double* side,
                   std::size_t begin, std::size_t end) {
    Lane a = {}, b = {}, c = {};
    for (std::size_t j = begin; j < end && cross == nullptr; j += 8) {
        Lane h, s;
        std::memcpy(&h, here + j, sizeof h);
        std::memcpy(&s, side + j, sizeof s);
        a += h * s;
    }
    for (std::size_t j = begin; j < end && cross != nullptr; j += 8) {
        Lane h, w, x, s;
        std::memcpy(&h, here + j, sizeof h);
        std::memcpy(&w, weight + j, sizeof w);
        std::memcpy(&x, cross + j, sizeof x);
        std::memcpy(&s, side + j, sizeof s);
        const Lane there = w * x;
        a += h * s;
        b += there;
        c += there * s;
    }
    SideSums sums{0.0, 0.0, 0.0};
    for (int k = 0; k < 8; ++k) {
        sums.here_right += a[k];
        sums.there += b[k];
        sums.there_right += c[k];
    }
    return sums;
}

}  // namespace hardwood::search
