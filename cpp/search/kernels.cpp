#include "kernels.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HARDWOOD_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#define HARDWOOD_COUNTING_CLONES __attribute__((target_clones("arch=icelake-server", "avx2", "popcnt", "default")))
#else
#define HARDWOOD_CLONES
#define HARDWOOD_COUNTING_CLONES
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

void transpose(std::uint64_t rows[64]) {
    std::uint64_t mask = 0x00000000FFFFFFFFULL;
    for (std::size_t width = 32; width > 0; width >>= 1, mask ^= mask << width) {
        for (std::size_t k = 0; k < 64; k = (k + width + 1) & ~width) {
            const std::uint64_t swapped = ((rows[k] >> width) ^ rows[k + width]) & mask;
            rows[k] ^= swapped << width;
            rows[k + width] ^= swapped;
        }
    }
}

HARDWOOD_COUNTING_CLONES
void pair_counts(const std::uint64_t* columns, std::size_t n_blocks, std::size_t n_columns, std::size_t stride,
                 double* out) {
    for (std::size_t c = 0; c < n_columns; ++c) {
        for (std::size_t first = c / 8 * 8; first < stride; first += 8) {
            std::int64_t count[8] = {};
            for (std::size_t b = 0; b < n_blocks; ++b) {
                const std::uint64_t column = columns[b * stride + c];
                const std::uint64_t* others = columns + b * stride + first;
                for (std::size_t q = 0; q < 8; ++q) count[q] += __builtin_popcountll(column & others[q]);
            }
            for (std::size_t q = 0; q < 8; ++q) out[c * stride + first + q] = static_cast<double>(count[q]);
        }
        for (std::size_t d = c / 8 * 8; d < n_columns; ++d) out[d * stride + c] = out[c * stride + d];
    }
}

HARDWOOD_CLONES
void add_contributions(std::span<const Contribution> contributions, const double* own_count, std::size_t own_width,
                       const double* across_count, const double* extra, std::size_t across_width, double* own,
                       double* across) {
    for (const Contribution& one : contributions) {
        const double here = one.weight * one.presence;
        const double* count = own_count + one.from * own_width;
        double* sum = own + one.to * own_width;
        for (std::size_t j = 0; j < own_width; ++j) sum[j] += here * count[j];
        count = across_count + one.from * across_width;
        sum = across + one.to * across_width;
        for (std::size_t j = 0; j < across_width; ++j) {
            const double there = one.presence - extra[j];
            sum[j] += one.weight * (there > 0.0 ? there : 0.0) * count[j];
        }
    }
}

HARDWOOD_CLONES
void two_class_losses(const double* totals, const double* right, std::size_t width, const double* first_across,
                      const double* second_across, std::size_t crossed, double* loss) {
    const double* other_right = right + width;
    for (std::size_t t = 0; t < crossed; ++t) {
        const double first_left =
            totals[1] - other_right[t] + right[t] + first_across[t] + second_across[crossed + t];
        const double second_left =
            totals[0] - right[t] + other_right[t] + second_across[t] + first_across[crossed + t];
        loss[t] = first_left < second_left ? first_left : second_left;
    }
    for (std::size_t t = crossed; t < width; ++t) {
        const double first_left = totals[1] - other_right[t] + right[t];
        const double second_left = totals[0] - right[t] + other_right[t];
        loss[t] = first_left < second_left ? first_left : second_left;
    }
}

HARDWOOD_CLONES
void gather(std::span<const std::int32_t> column, const double* total_part, const double* sign, const double* from,
            double total, double* to) {
    for (std::size_t k = 0; k < column.size(); ++k) to[k] = total_part[k] * total + sign[k] * from[column[k]];
}

}  // namespace hardwood::search
