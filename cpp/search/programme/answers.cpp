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
        if (column.ordered) {
            map_ordered(column, box, points_.usual(c), run);
        } else {
            map_categories(column, c, box, run);
        }
        if (end - begin > 1 && (column.ordered || run.rest < end)) runs_.push_back(run);
        begin = end;
    }
}

void Answers::map_ordered(const Column& column, const Box& box, int usual, Run& run) {
    std::int32_t* const place = place_.data() + column.first_bin;
    const auto begin = static_cast<std::int32_t>(run.begin);
    const int low = box.tests[run.begin] - column.first_test, high = box.tests[run.end - 1] - column.first_test + 1;
    usual = std::clamp(usual, low, high);
    run.turn = run.begin + static_cast<std::size_t>(usual - low);
    for (int b = low; b < usual; ++b) place[b] = begin + b - low;
    for (int b = usual + 1; b <= high; ++b) place[b] = begin + b - 1 - low;
    for (std::size_t k = run.turn; k < run.end; ++k) flipped_[k] = 1;
}

void Answers::map_categories(const Column& column, int c, const Box& box, Run& run) {
    std::int32_t* const place = place_.data() + column.first_bin;
    for (std::size_t k = run.begin; k < run.end; ++k) place[box.tests[k] - column.first_test] = static_cast<std::int32_t>(k);
    const std::vector<bool> allowed = allowed_bins(instance_, box.key, c);
    int untested = -1;
    for (int b = 0; b < column.n_bins; ++b) {
        if (allowed[static_cast<std::size_t>(b)] && place[b] < 0) untested = b;
    }
    // The test of the usual answer stands for all others. Where that has none, one of the tests does if there is no answer that would
    // be left out of all sums.
    std::int32_t derived = place[points_.usual(c)];
    if (derived < 0 && untested < 0) derived = static_cast<std::int32_t>(run.begin);
    if (derived < 0) return;
    run.rest = static_cast<std::size_t>(derived);
    flipped_[run.rest] = 1;
    place[box.tests[run.rest] - column.first_test] = -1;
    if (untested >= 0) place[untested] = derived;
}

}  // namespace hardwood::search
