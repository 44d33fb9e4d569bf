// The innermost loops, compiled for several instruction sets and chosen when the program runs.
#pragma once

#include <cstddef>

namespace hardwood::search {

constexpr std::size_t lanes = 8;  // rows of tables are padded to a multiple of this, with zeros

// For every test s, the largest gain of one more test t where s is true (inside), and where it is not (outside): the gain of a
// leaf is the size of its sum.
// table[s * stride + t]: sum of the points where s and t are true. single[t]: where t is. total: of all points.
void best_gains(const double* table, const double* single, double total, std::size_t size, std::size_t stride,
                double* inside, double* outside);

// The same where the gain of a leaf is its largest sum over the classes; a table for each, singles and totals class after class.
void best_gains_of_classes(const double* const* tables, const double* singles, const double* totals, std::size_t classes,
                           std::size_t size, std::size_t stride, double* inside, double* outside);

}  // namespace hardwood::search
