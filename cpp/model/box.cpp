#include "model/box.h"

#include <algorithm>

namespace hardwood::search {

void BoxKey::insert(const Instance& instance, int split, int side) {
    const int c = instance.column_of(split);
    const Column& column = instance.column(c);
    if (column.missing) return insert_with_missing(instance, split, side);
    std::uint16_t kept = 0;
    for (const std::uint16_t outcome : outcomes()) {
        const bool same_column = instance.column_of(split_of(outcome)) == c;
        // A threshold replaces the wider one on its side; an equality replaces all exclusions.
        const bool implied = same_column && (column.ordered ? side_of(outcome) == side : side == 0);
        if (!implied) outcomes_[kept++] = outcome;
    }
    outcomes_[kept++] = static_cast<std::uint16_t>(2 * split + side);
    std::fill(outcomes_.begin() + kept, outcomes_.end(), std::uint16_t{0});
    size_ = kept;
    std::sort(outcomes_.begin(), outcomes_.begin() + size_);
}

/// A range of values, with or without missing ones: one outcome for each end.
void BoxKey::insert_with_missing(const Instance& instance, int split, int side) {
    const int c = instance.column_of(split);
    const Column& column = instance.column(c);
    std::vector<bool> allowed = allowed_bins(instance, *this, c);
    for (std::size_t b = 0; b < allowed.size(); ++b) {
        if (column.is_true(split, static_cast<Bin>(b)) != (side == 0)) allowed[b] = false;
    }
    std::uint16_t kept = 0;
    for (const std::uint16_t outcome : outcomes()) {
        if (instance.column_of(split_of(outcome)) != c) outcomes_[kept++] = outcome;
    }
    const auto add = [&](int which, int on_side) {
        outcomes_[kept++] = static_cast<std::uint16_t>(2 * which + on_side);
    };
    const bool missing = allowed.back();
    allowed.pop_back();
    const auto first = std::ranges::find(allowed, true);
    if (first == allowed.end()) {
        add(column.missing_split(), 0);
    } else {
        const int low = to_int(first - allowed.begin()), n_values = to_int(allowed.size());
        int high = low;
        while (high + 1 < n_values && allowed[idx(high) + 1]) ++high;
        if (low > 0) add(column.split_at(low - 1, !missing), 1);
        if (high + 1 < n_values) add(column.split_at(high, missing), 0);
        if (low == 0 && high + 1 == n_values && !missing) add(column.missing_split(), 1);
    }
    std::fill(outcomes_.begin() + kept, outcomes_.end(), std::uint16_t{0});
    size_ = kept;
    std::sort(outcomes_.begin(), outcomes_.begin() + size_);
}

std::uint64_t BoxKey::hash() const {
    std::uint64_t hash = size_;
    for (const std::uint16_t outcome : outcomes()) {
        hash = (hash ^ outcome) * 0x9E3779B97F4A7C15ULL;
        hash ^= hash >> 29;
    }
    return hash;
}

Box whole_domain(const Instance& instance) {
    Box box;
    for (int c = 0; c < instance.n_columns(); ++c) {
        const Column& column = instance.column(c);
        // Two categories need one split.
        const int n = !column.ordered && column.n_bins == 2 ? 1 : column.n_splits;
        for (int k = 0; k < n; ++k) box.splits.push_back(column.first_split + k);
    }
    return box;
}

namespace {

/// Whether a split divides what is allowed of a column with missing values. Without missing values
/// left, the two variants of a threshold coincide and one is kept; where a threshold divides no
/// values, only "is missing" divides the box.
bool divides(const Column& column, int split, const std::vector<bool>& allowed) {
    const bool missing = allowed.back();
    bool left = false, right = false;
    for (std::size_t b = 0; b + 1 < allowed.size(); ++b) {
        if (allowed[b]) (column.is_true(split, static_cast<Bin>(b)) ? left : right) = true;
    }
    if (split == column.missing_split()) return missing && right;
    return left && right && (missing || !column.takes_missing(split));
}

}  // namespace

Box part_of(const Instance& instance, const Box& box, int split, int side) {
    const int c = instance.column_of(split);
    const Column& column = instance.column(c);
    Box part;
    part.key = box.key;
    part.key.insert(instance, split, side);
    std::vector<bool> allowed;
    if (!column.ordered || column.missing) allowed = allowed_bins(instance, part.key, c);
    int n_left = to_int(std::ranges::count(allowed, true));  // bins of an unordered column
    for (const int other : box.splits) {
        if (instance.column_of(other) != c) {
            part.splits.push_back(other);
        } else if (column.missing) {
            if (divides(column, other, allowed)) part.splits.push_back(other);
        } else if (column.ordered ? (side == 0 ? other < split : other > split)
                                  : side == 1 && other != split && n_left > 1) {
            part.splits.push_back(other);
            if (n_left == 2) n_left = 1;  // of two categories, one split is enough
        }
    }
    return part;
}

std::vector<bool> allowed_bins(const Instance& instance, const BoxKey& key, int c) {
    const Column& column = instance.column(c);
    std::vector<bool> allowed(idx(column.n_bins), true);
    for (const std::uint16_t outcome : key.outcomes()) {
        const int split = BoxKey::split_of(outcome);
        if (instance.column_of(split) != c) continue;
        for (std::size_t b = 0; b < allowed.size(); ++b) {
            if (column.is_true(split, static_cast<Bin>(b)) != (BoxKey::side_of(outcome) == 0))
                allowed[b] = false;
        }
    }
    return allowed;
}

bool contains(const Instance& instance, const BoxKey& key, const Bin* point) {
    return std::ranges::all_of(key.outcomes(), [&](std::uint16_t outcome) {
        return instance.is_true(BoxKey::split_of(outcome), point) ==
               (BoxKey::side_of(outcome) == 0);
    });
}

namespace {

std::vector<int> columns_of(const Instance& instance, const BoxKey& key) {
    std::vector<int> columns;
    for (const std::uint16_t outcome : key.outcomes())
        columns.push_back(instance.column_of(BoxKey::split_of(outcome)));
    columns.erase(std::ranges::unique(columns).begin(),
                  columns.end());  // outcomes are sorted, so columns are
    return columns;
}

}  // namespace

BoxCost::BoxCost(const Instance& instance, const BoxKey& key) : instance_(instance) {
    for (const int c : columns_of(instance, key)) {
        const Column& column = instance.column(c);
        const std::vector<bool> allowed = allowed_bins(instance, key, c);
        std::vector<int> bins;
        for (int b = 0; b < column.n_bins; ++b) {
            if (allowed[idx(b)]) bins.push_back(b);
        }
        ColumnCost own{.column = c, .cost = {}, .bin = {}};
        for (std::uint32_t k = 0; k < to_id(column.n_cost_classes()); ++k) {
            const double* const cost = column.costs_of(k);
            int best = column.own_bin[k];
            if (column.nearest_is_cheapest) {  // the allowed bins are adjacent
                best = std::clamp(best, bins.front(), bins.back());
            } else if (!allowed[idx(best)]) {
                best = *std::ranges::min_element(bins, {}, [&](int b) { return cost[b]; });
            }
            own.cost.push_back(cost[best]);
            own.bin.push_back(static_cast<Bin>(best));
        }
        columns_.push_back(std::move(own));
    }
}

void BoxCost::nearest_point(std::size_t row, Bin* point) const {
    std::copy_n(instance_.point(row), instance_.n_columns(), point);
    for (const ColumnCost& own : columns_)
        point[own.column] = own.bin[instance_.cost_class(row, own.column)];
}

int BoxCost::n_moves(std::size_t row) const {
    return to_int(std::ranges::count_if(columns_, [&](const ColumnCost& own) {
        return own.bin[instance_.cost_class(row, own.column)] != instance_.point(row)[own.column];
    }));
}

namespace {

void collect(const Instance& instance, const HeapTree& tree, std::size_t at, const BoxKey& box,
             std::vector<LeafBox>& leaves) {
    const HeapNode& node = tree[at];
    if (node.is_leaf()) {
        leaves.push_back({.box = box, .label = node.label, .position = at});
        return;
    }
    const Column& column = instance.column(instance.column_of(node.split));
    const std::vector<bool> allowed = allowed_bins(instance, box, instance.column_of(node.split));
    std::array<bool, 2> reached{};
    for (std::size_t b = 0; b < allowed.size(); ++b) {
        if (allowed[b]) reached[column.is_true(node.split, static_cast<Bin>(b)) ? 0 : 1] = true;
    }
    for (int side = 0; side < 2; ++side) {
        if (!reached[idx(side)]) continue;  // the split sends all of the box to the other side
        BoxKey part = box;
        if (reached[0] && reached[1]) part.insert(instance, node.split, side);
        collect(instance, tree, 2 * at + idx(side), part, leaves);
    }
}

}  // namespace

std::vector<LeafBox> leaves_of(const Instance& instance, const HeapTree& tree) {
    std::vector<LeafBox> leaves;
    collect(instance, tree, 1, BoxKey{}, leaves);
    return leaves;
}

}  // namespace hardwood::search
