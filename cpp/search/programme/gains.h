// The innermost loops, compiled for several instruction sets and chosen when the program runs.
#pragma once

#include <cstddef>

namespace hardwood::search {

constexpr std::size_t lanes = 8;  // numbers that are read and written at a time, even where fewer are left

// For every test s, the largest gain of one more test t where s is true (inside), and where it is not (outside): the gain of a
// leaf is the size of its sum.
// pairs: for t = 1, 2, ... and s < t, the sum of the points where both are true. single[t]: where t is. total: of all points.
// `single`, `inside` and `outside` have room for a multiple of `lanes`, and so many numbers may be read beyond the pairs.
void best_gains(const double* pairs, const double* single, double total, std::size_t size, double* inside, double* outside);

// The same where the gain of a leaf is its largest sum over the classes; pairs for each, singles (`stride` numbers) and totals class
// after class.
void best_gains_of_classes(const double* const* pairs, const double* singles, const double* totals, std::size_t classes,
                           std::size_t size, std::size_t stride, double* inside, double* outside);

// The same where leaves must hold so many samples, for two classes (one channel, whose sizes are gains) and for more. Samples are counted
// by one channel more, the last one. Where no test fits, nothing is gained: -inf.
void best_gains_of_leaves(const double* const* pairs, const double* singles, const double* totals, std::size_t channels,
                          std::size_t size, std::size_t stride, double least_leaf, double* inside, double* outside);

}  // namespace hardwood::search
