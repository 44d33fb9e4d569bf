#include "dp/split_layout.h"

#include <algorithm>

namespace hardwood::search {

SplitLayout::SplitLayout(const PointSet& points)
    : points_(points), instance_(points.instance()), slot_(idx(instance_.n_bins()), -1) {}

void SplitLayout::map(const Box& box) {
    std::ranges::fill(slot_, -1);
    flipped_.assign(box.splits.size(), 0);
    runs_.clear();
    for (std::size_t begin = 0; begin < box.splits.size();) {
        const int c = instance_.column_of(box.splits[begin]);
        const Column& column = instance_.column(c);
        std::size_t end = begin;
        while (end < box.splits.size() && instance_.column_of(box.splits[end]) == c) ++end;
        // In a box without missing values, the column's splits are those of a complete column.
        const bool missing = column.missing && box.splits[end - 1] == column.missing_split();
        Run run{.begin = begin,
                .end = end,
                .turn = end,
                .rest = end,
                .ordered = column.ordered,
                .missing = missing};
        if (run.missing) {
            map_with_missing(column, box, points_.common_bin(c), run);
        } else if (column.ordered) {
            map_ordered(column, box, points_.common_bin(c), run);
        } else {
            map_categories(column, c, box, run);
        }
        if (end - begin > 1 && (column.ordered || run.rest < end)) runs_.push_back(run);
        begin = end;
    }
}

/// The thresholds of the box divide the column into segments; not every threshold of the column
/// need be present.
void SplitLayout::map_ordered(const Column& column, const Box& box, int common_bin, Run& run) {
    std::int32_t* const slot = slot_.data() + column.first_bin;
    const auto begin = static_cast<std::int32_t>(run.begin),
               n_splits = static_cast<std::int32_t>(run.end - run.begin);
    const auto threshold = [&](std::int32_t segment) {
        const int split = box.splits[run.begin + idx(segment)];
        return column.missing ? column.threshold(split) : split - column.first_split;
    };
    const auto segment_of = [&](int bin,
                                std::int32_t segment) {  // searched from a lower segment on
        while (segment < n_splits && threshold(segment) < bin) ++segment;
        return segment;
    };
    const std::int32_t common = segment_of(common_bin, 0);
    run.turn = run.begin + idx(common);
    std::int32_t segment = 0;
    for (int b = 0; b < column.n_bins; ++b) {
        segment = segment_of(b, segment);
        if (segment != common) slot[b] = begin + segment - (segment > common ? 1 : 0);
    }
    for (std::size_t k = run.turn; k < run.end; ++k) flipped_[k] = 1;
}

/// The same with pairs of splits: a bin enters the sums of the variant without "or missing" on its
/// side of the common bin, a missing value those of "is missing"; `SubsetTable` accumulates them.
void SplitLayout::map_with_missing(const Column& column, const Box& box, int common_bin, Run& run) {
    std::int32_t* const slot = slot_.data() + column.first_bin;
    const std::size_t n_pairs = (run.end - run.begin) / 2;
    const auto segment_of = [&](int bin) {
        std::size_t segment = 0;
        while (segment < n_pairs && column.threshold(box.splits[run.begin + 2 * segment]) < bin)
            ++segment;
        return segment;
    };
    const std::size_t common = segment_of(common_bin);
    run.turn = run.begin + 2 * common;
    for (int b = 0; b + 1 < column.n_bins; ++b) {
        const std::size_t segment = segment_of(b);
        if (segment < common) slot[b] = static_cast<std::int32_t>(run.begin + 2 * segment + 1);
        if (segment > common) slot[b] = static_cast<std::int32_t>(run.begin + 2 * (segment - 1));
    }
    slot[column.n_bins - 1] = static_cast<std::int32_t>(run.end - 1);
    for (std::size_t k = run.turn; k + 1 < run.end; ++k) flipped_[k] = 1;
}

/// Two splits on one side of the common bin: the narrower one, without "or missing" unless both
/// have it. Two splits on different sides share at most the missing values.
std::size_t SplitLayout::Run::intersection(std::size_t low, std::size_t high) const {
    if (!missing) {
        const bool low_implies_high = ordered ? high < turn : high == rest;
        const bool high_implies_low = ordered ? low >= turn : low == rest;
        return low_implies_high ? low : high_implies_low ? high : none;
    }
    const bool both = with_missing(low) && with_missing(high);
    if (high + 1 == end || (low < turn) != (high < turn)) return both ? end - 1 : none;
    const std::size_t pair = begin + ((low < turn ? low : high) - begin) / 2 * 2;
    return low < turn ? pair + (both ? 0 : 1) : pair + (both ? 1 : 0);
}

void SplitLayout::map_categories(const Column& column, int c, const Box& box, Run& run) {
    std::int32_t* const slot = slot_.data() + column.first_bin;
    for (std::size_t k = run.begin; k < run.end; ++k) {
        slot[box.splits[k] - column.first_split] = static_cast<std::int32_t>(k);
    }
    const std::vector<bool> allowed = allowed_bins(instance_, box.key, c);
    std::vector<int> without_split;
    for (int b = 0; b < column.n_bins; ++b) {
        if (allowed[idx(b)] && slot[b] < 0) without_split.push_back(b);
    }
    // The split of the common category sums all others. If it has no split, another one takes this
    // role, provided that no category would then be left out of all sums.
    std::int32_t derived = slot[points_.common_bin(c)];
    if (derived < 0 && without_split.empty()) derived = static_cast<std::int32_t>(run.begin);
    if (derived < 0) return;
    run.rest = idx(derived);
    flipped_[run.rest] = 1;
    slot[box.splits[run.rest] - column.first_split] = -1;
    for (const int b : without_split) slot[b] = derived;
}

}  // namespace hardwood::search
