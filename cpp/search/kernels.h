// The innermost loops, compiled for several instruction sets and chosen when the program runs.
#pragma once

#include <cstddef>

namespace hardwood::search {

// out[s * n_right + t] = sum over j of left[s * stride + j] * right[t * stride + j], for j from begin to end.
// begin and end are multiples of `lanes`.
void products(const double* left, std::size_t n_left, const double* right, std::size_t n_right, std::size_t stride,
              std::size_t begin, std::size_t end, double* out);

}  // namespace hardwood::search
