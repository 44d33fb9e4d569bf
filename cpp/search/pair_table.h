// All pairs of a test on top and a test below it at once, from counts of pairs of values.
//
// For each side of each test on top (a "slot") and each class it sums up: what is there in total, what of it is in each
// column of every other feature, and what of it could cross every other test.
#pragma once

#include "kernels.h"
#include "programme.h"

namespace hardwood::search {

// Sums of columns, most of them of a single one.
class Gather {
public:
    void clear(std::size_t size);
    void set(std::size_t k, const Terms& terms, std::size_t first_column);
    void apply(const double* from, double total, double* to) const;

private:
    struct More {
        std::size_t at, column;
        double sign;
    };
    std::vector<std::int32_t> column_;
    std::vector<double> total_part_, sign_;
    std::vector<More> more_;
};

class Programme::PairTable {
public:
    explicit PairTable(Programme& programme) : programme_(programme) {}

    void begin(const Part& part);
    void add(const Part& part, const Group& group);
    void finish(Look& result);

private:
    // A set of values that some test treats alike, as a sum of columns.
    struct Row {
        const Terms* terms;
        std::size_t first_column;
    };
    // Two tests on one feature: the second acts on what the first leaves of it. For most values that makes no difference; for
    // the others, sums are corrected.
    struct Same {
        std::size_t slot, second;
        const State::Second* how;
    };

    void lay_out_columns(const Part& part);
    void lay_out_crossings();
    void find_same_feature_pairs(const Part& part);
    void count_columns(const Part& part, const Group& group);
    void count_rows(double n);
    void contribute(const Group& group);
    void correct(const Part& part, const Group& group);
    double best_below(std::size_t slot, std::array<Choice, 8>& best);
    void collect(std::size_t slot, std::size_t test);
    const double* crossing(std::size_t c, std::size_t slot) const {
        return across_.data() + (c * n_slots_ + slot) * across_width_;
    }

    Programme& programme_;
    std::size_t n_slots_ = 0, n_crossed_ = 0;
    std::size_t live_width_ = 0, own_width_ = 0, crossed_width_ = 0, across_width_ = 0;  // padded
    std::vector<std::size_t> column_bit_, first_column_, first_row_;
    std::vector<Row> rows_;
    std::vector<double> extra_;          // by crossing: price times what it costs
    std::vector<std::size_t> added_to_;  // for crossings of further sets of values: the crossing they are added to
    Gather crossing_columns_, right_columns_;
    std::vector<Same> same_;
    std::vector<std::size_t> corrected_features_, live_place_;

    // Of one group.
    std::vector<std::uint64_t> column_bits_;
    std::vector<double> pair_count_, count_, row_count_, own_count_, across_count_, value_count_;
    std::vector<Contribution> contributions_;

    // Of all groups.
    std::vector<double> own_, across_, total_, correction_;

    // Of one slot.
    std::size_t next_same_ = 0;
    std::vector<double> right_, loss_, totals_, pair_own_, pair_across_;
};

}  // namespace hardwood::search
