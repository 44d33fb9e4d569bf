// The innermost loops, compiled for several instruction sets and chosen when the program runs.
#pragma once

#include <cstddef>

namespace hardwood::search {

// out[s * n_right + t] = sum over j of left[s * stride + j] * right[t * stride + j], for j from begin to end.
// begin and end are multiples of `lanes`.
void products(const double* left, std::size_t n_left, const double* right, std::size_t n_right, std::size_t stride,
              std::size_t begin, std::size_t end, double* out);

// Sums over j from begin to end of here * side, weight * cross, and weight * cross * side; no cross: nobody crosses.
struct SideSums {
    double here_right;
    double there;
    double there_right;
};
SideSums side_sums(const double* here, const double* weight, const double* cross, const double* side,
                   std::size_t begin, std::size_t end);

}  // namespace hardwood::search
