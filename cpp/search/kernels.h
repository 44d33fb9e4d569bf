// The innermost loops, compiled for several instruction sets and chosen when the program runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

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

// Turns 64 rows of 64 bits into columns: bit c of row r becomes bit r of row c.
void transpose(std::uint64_t rows[64]);

// out[c * stride + d] = how many bits columns c and d have in common. Bits of a column stand in blocks of 64, block after
// block, each with `stride` columns, a multiple of `lanes`.
void pair_counts(const std::uint64_t* columns, std::size_t n_blocks, std::size_t n_columns, std::size_t stride,
                 double* out);

// What some of the rows of a group add to a side of a test: `from` is a row of counts, `to` a row of sums.
struct Contribution {
    std::size_t from;
    std::size_t to;
    double weight;
    double presence;
};

// own[to] += weight * presence * own_count[from], across[to] += weight * (presence - extra)_+ * across_count[from],
// for rows of two widths.
void add_contributions(std::span<const Contribution> contributions, const double* own_count, std::size_t own_width,
                       const double* across_count, const double* extra, std::size_t across_width, double* own,
                       double* across);

// The smaller loss of the two ways to label a last test, for two classes and `width` tests: from the totals of the classes,
// what is right of each test, class after class, and, for the first `crossed` tests, what of each class can cross it, from the
// left, then from the right.
void two_class_losses(const double* totals, const double* right, std::size_t width, const double* first_across,
                      const double* second_across, std::size_t crossed, double* loss);

// to[k] = total_part[k] * total + sign[k] * from[column[k]].
void gather(std::span<const std::int32_t> column, const double* total_part, const double* sign, const double* from,
            double total, double* to);

}  // namespace hardwood::search
