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

}  // namespace

// Written with vectors of eight numbers: a maximum over doubles is not split into lanes by the compiler on its own.
HARDWOOD_CLONES
void best_gains(const double* table, const double* single, double total, std::size_t size, std::size_t stride,
                double* inside, double* outside) {
    const Bits size_bits = Bits{} + 0x7fffffffffffffffLL;
    for (std::size_t s = 0; s < size; ++s) {
        const double here = single[s], there = total - single[s];
        Lane best_in = Lane{} + std::abs(here), best_out = Lane{} + std::abs(there);
        const double* row = table + s * stride;
        for (std::size_t t = 0; t < stride; t += lanes) {
            Lane both, only;
            std::memcpy(&both, row + t, sizeof both);
            std::memcpy(&only, single + t, sizeof only);
            const Lane rest = here - both, other = only - both, neither = there - other;
            const Lane in = (Lane)((Bits)both & size_bits) + (Lane)((Bits)rest & size_bits);
            const Lane out = (Lane)((Bits)other & size_bits) + (Lane)((Bits)neither & size_bits);
            best_in = in > best_in ? in : best_in;
            best_out = out > best_out ? out : best_out;
        }
        double most_in = best_in[0], most_out = best_out[0];
        for (std::size_t k = 1; k < lanes; ++k) {
            most_in = std::max(most_in, best_in[k]);
            most_out = std::max(most_out, best_out[k]);
        }
        inside[s] = most_in;
        outside[s] = most_out;
    }
}

HARDWOOD_CLONES
void best_gains_of_classes(const double* const* tables, const double* singles, const double* totals, std::size_t classes,
                           std::size_t size, std::size_t stride, double* inside, double* outside) {
    for (std::size_t s = 0; s < size; ++s) {
        Lane best_in{}, best_out{};
        for (std::size_t t = 0; t < stride; t += lanes) {
            Lane both_most{}, rest_most{}, other_most{}, neither_most{};
            for (std::size_t c = 0; c < classes; ++c) {
                const double here = singles[c * stride + s], there = totals[c] - here;
                Lane both, only;
                std::memcpy(&both, tables[c] + s * stride + t, sizeof both);
                std::memcpy(&only, singles + c * stride + t, sizeof only);
                const Lane rest = here - both, other = only - both, neither = there - other;
                both_most = both > both_most ? both : both_most;
                rest_most = rest > rest_most ? rest : rest_most;
                other_most = other > other_most ? other : other_most;
                neither_most = neither > neither_most ? neither : neither_most;
            }
            const Lane in = both_most + rest_most, out = other_most + neither_most;
            best_in = in > best_in ? in : best_in;
            best_out = out > best_out ? out : best_out;
        }
        double most_in = 0.0, most_out = 0.0;
        for (std::size_t k = 0; k < lanes; ++k) {
            most_in = std::max(most_in, best_in[k]);
            most_out = std::max(most_out, best_out[k]);
        }
        inside[s] = most_in;
        outside[s] = most_out;
    }
}

}  // namespace hardwood::search
