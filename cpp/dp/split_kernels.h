/// The innermost loops of the tree DP, compiled for several instruction sets and selected at run
/// time.
#pragma once

#include <cstddef>

namespace hardwood::search {

constexpr std::size_t lanes = 8;  // numbers read and written at a time, even where fewer are left

/// For every split s, the largest gain of one more split t where s is true (inside), and where it
/// is false (outside). The gain of a leaf is the absolute value of its sum (two classes).
///
/// Pairs of splits s < t are considered for t from `begin` to `end`, excluded; calls with adjacent
/// ranges, the first from 0, add up to all pairs. `pairs`: for these t and s < t, the sum over
/// points where both are true; single[t]: where t is true; total: over all points. `single`,
/// `inside` and `outside` have room for a multiple of `lanes`, and that many numbers may be read
/// beyond the pairs.
void best_gains(const double* pairs, const double* single, double total, std::size_t begin,
                std::size_t end, double* inside, double* outside);

/// The same where the gain of a leaf is its largest sum over the classes; pairs for each class,
/// singles (`stride` numbers) and totals class after class.
void best_gains_by_class(const double* const* pairs, const double* singles, const double* totals,
                         std::size_t n_classes, std::size_t begin, std::size_t end,
                         std::size_t stride, double* inside, double* outside);

/// The same with a smallest leaf size, for two classes (one channel) and for more. One further
/// channel, the last, counts observations. Where no split is admissible, the gain is -inf.
void best_gains_with_min_leaf(const double* const* pairs, const double* singles,
                              const double* totals, std::size_t n_channels, std::size_t begin,
                              std::size_t end, std::size_t stride, double min_leaf_size,
                              double* inside, double* outside);

/// to[k] += from[k], and to[k] = a[k] - b[k], for n numbers.
void add_numbers(double* to, const double* from, std::size_t n);
void subtract_numbers(double* to, const double* a, const double* b, std::size_t n);

}  // namespace hardwood::search
