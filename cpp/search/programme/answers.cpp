#include "answers.h"

#include <algorithm>

namespace hardwood::search {

Answers::Answers(const Points& points)
    : points_(points), instance_(points.instance()), place_(static_cast<std::size_t>(instance_.n_bins()), -1) {}

void Answers::map(const Box& box) {
    std::ranges::fill(place_, -1);
    flipped_.assign(box.tests.size(), 0);
    runs_.clear();
    for (std::size_t begin = 0; begin < box.tests.size();) {
        const int c = instance_.column_of(box.tests[begin]);
        const Column& column = instance_.column(c);
        std::size_t end = begin;
        while (end < box.tests.size() && instance_.column_of(box.tests[end]) == c) ++end;
        Run run{begin, end, end, end, column.ordered};
        // Below a box where nobody is without an answer, there is nothing special about its tests.
        run.missing = column.missing && box.tests[end - 1] == column.missing_test();
        if (run.missing) {
            map_with_missing(column, box, points_.usual(c), run);
        } else if (column.ordered) {
            map_ordered(column, box, points_.usual(c), run);
        } else {
            map_categories(column, c, box, run);
        }
        if (end - begin > 1 && (column.ordered || run.rest < end)) runs_.push_back(run);
        begin = end;
    }
}

// The thresholds of the box cut the column into stretches, and the bins of a stretch are treated alike; not every threshold of the column
// need be there.
void Answers::map_ordered(const Column& column, const Box& box, int usual, Run& run) {
    std::int32_t* const place = place_.data() + column.first_bin;
    const auto begin = static_cast<std::int32_t>(run.begin), n_tests = static_cast<std::int32_t>(run.end - run.begin);
    const auto threshold = [&](std::int32_t stretch) {
        const int test = box.tests[run.begin + static_cast<std::size_t>(stretch)];
        return column.missing ? column.threshold(test) : test - column.first_test;
    };
    const auto stretch_after = [&](std::int32_t stretch, int bin) {  // the one of a bin, from that of the bin before on
        while (stretch < n_tests && threshold(stretch) < bin) ++stretch;
        return stretch;
    };
    const std::int32_t usual_stretch = stretch_after(0, usual);
    run.turn = run.begin + static_cast<std::size_t>(usual_stretch);
    std::int32_t stretch = 0;
    for (int b = 0; b < column.n_bins; ++b) {
        stretch = stretch_after(stretch, b);
        if (stretch != usual_stretch) place[b] = begin + stretch - (stretch > usual_stretch ? 1 : 0);
    }
    for (std::size_t k = run.turn; k < run.end; ++k) flipped_[k] = 1;
}

// The same in pairs of tests: a bin enters the sums of what is on its side of the usual one without "or none", and no answer those of
// its own test; `SetSums` adds them up.
void Answers::map_with_missing(const Column& column, const Box& box, int usual, Run& run) {
    std::int32_t* const place = place_.data() + column.first_bin;
    const std::size_t n_pairs = (run.end - run.begin) / 2;
    const auto stretch_of = [&](int bin) {
        std::size_t stretch = 0;
        while (stretch < n_pairs && column.threshold(box.tests[run.begin + 2 * stretch]) < bin) ++stretch;
        return stretch;
    };
    const std::size_t usual_stretch = stretch_of(usual);
    run.turn = run.begin + 2 * usual_stretch;
    for (int b = 0; b + 1 < column.n_bins; ++b) {
        const std::size_t stretch = stretch_of(b);
        if (stretch < usual_stretch) place[b] = static_cast<std::int32_t>(run.begin + 2 * stretch + 1);
        if (stretch > usual_stretch) place[b] = static_cast<std::int32_t>(run.begin + 2 * (stretch - 1));
    }
    place[column.n_bins - 1] = static_cast<std::int32_t>(run.end - 1);
    for (std::size_t k = run.turn; k + 1 < run.end; ++k) flipped_[k] = 1;
}

// Two on one side of the usual bin: the narrower one, without "or none" if one of them is without it. Of two on different sides, no
// answer is left if both have it.
std::size_t Answers::Run::meet(std::size_t low, std::size_t high) const {
    if (!missing) {
        const bool low_implies_high = ordered ? high < turn : high == rest;
        const bool high_implies_low = ordered ? low >= turn : low == rest;
        return low_implies_high ? low : high_implies_low ? high : none;
    }
    const bool both = with_none(low) && with_none(high);
    if (high + 1 == end || (low < turn) != (high < turn)) return both ? end - 1 : none;
    const std::size_t pair = begin + ((low < turn ? low : high) - begin) / 2 * 2;
    return low < turn ? pair + (both ? 0 : 1) : pair + (both ? 1 : 0);
}

void Answers::map_categories(const Column& column, int c, const Box& box, Run& run) {
    std::int32_t* const place = place_.data() + column.first_bin;
    for (std::size_t k = run.begin; k < run.end; ++k) place[box.tests[k] - column.first_test] = static_cast<std::int32_t>(k);
    const std::vector<bool> allowed = allowed_bins(instance_, box.key, c);
    std::vector<int> untested;
    for (int b = 0; b < column.n_bins; ++b) {
        if (allowed[static_cast<std::size_t>(b)] && place[b] < 0) untested.push_back(b);
    }
    // The test of the usual answer stands for all others. Where that has none, one of the tests does if there is no answer that would
    // be left out of all sums.
    std::int32_t derived = place[points_.usual(c)];
    if (derived < 0 && untested.empty()) derived = static_cast<std::int32_t>(run.begin);
    if (derived < 0) return;
    run.rest = static_cast<std::size_t>(derived);
    flipped_[run.rest] = 1;
    place[box.tests[run.rest] - column.first_test] = -1;
    for (const int b : untested) place[b] = derived;
}

}  // namespace hardwood::search
