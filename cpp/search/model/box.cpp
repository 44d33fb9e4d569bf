#include "box.h"

#include <algorithm>

namespace hardwood::search {

void BoxKey::insert(const Instance& instance, int test, int side) {
    const int c = instance.column_of(test);
    const Column& column = instance.column(c);
    if (column.missing) return insert_with_missing(instance, test, side);
    std::uint16_t kept = 0;
    for (const std::uint16_t answer : answers()) {
        const bool same_column = instance.column_of(test_of(answer)) == c;
        // A threshold replaces the wider one on its side; a category that is asked for replaces all that are ruled out.
        const bool implied = same_column && (column.ordered ? side_of(answer) == side : side == 0);
        if (!implied) answers_[kept++] = answer;
    }
    answers_[kept++] = static_cast<std::uint16_t>(2 * test + side);
    std::fill(answers_.begin() + kept, answers_.end(), std::uint16_t{0});
    size_ = kept;
    std::sort(answers_.begin(), answers_.begin() + size_);
}

// A range of answers, with or without "no answer": said by one answer for each end.
void BoxKey::insert_with_missing(const Instance& instance, int test, int side) {
    const int c = instance.column_of(test);
    const Column& column = instance.column(c);
    std::vector<bool> allowed = allowed_bins(instance, *this, c);
    for (std::size_t b = 0; b < allowed.size(); ++b) {
        if (column.is_true(test, static_cast<Bin>(b)) != (side == 0)) allowed[b] = false;
    }
    std::uint16_t kept = 0;
    for (const std::uint16_t answer : answers()) {
        if (instance.column_of(test_of(answer)) != c) answers_[kept++] = answer;
    }
    const auto add = [&](int which, int answer) { answers_[kept++] = static_cast<std::uint16_t>(2 * which + answer); };
    const bool missing = allowed.back();
    allowed.pop_back();
    const auto first = std::ranges::find(allowed, true);
    if (first == allowed.end()) {
        add(column.missing_test(), 0);
    } else {
        const auto low = static_cast<int>(first - allowed.begin()), n_answers = static_cast<int>(allowed.size());
        int high = low;
        while (high + 1 < n_answers && allowed[static_cast<std::size_t>(high) + 1]) ++high;
        if (low > 0) add(column.test_of(low - 1, !missing), 1);
        if (high + 1 < n_answers) add(column.test_of(high, missing), 0);
        if (low == 0 && high + 1 == n_answers && !missing) add(column.missing_test(), 1);
    }
    std::fill(answers_.begin() + kept, answers_.end(), std::uint16_t{0});
    size_ = kept;
    std::sort(answers_.begin(), answers_.begin() + size_);
}

std::uint64_t BoxKey::hash() const {
    std::uint64_t hash = size_;
    for (const std::uint16_t answer : answers()) {
        hash = (hash ^ answer) * 0x9E3779B97F4A7C15ULL;
        hash ^= hash >> 29;
    }
    return hash;
}

Box whole_domain(const Instance& instance) {
    Box box;
    for (int c = 0; c < instance.n_columns(); ++c) {
        const Column& column = instance.column(c);
        // Of two categories, one test says all.
        const int n = !column.ordered && column.n_bins == 2 ? 1 : column.n_tests;
        for (int k = 0; k < n; ++k) box.tests.push_back(column.first_test + k);
    }
    return box;
}

namespace {

// Whether a test splits what is allowed of a column with missing answers. Where nobody is without an answer, two tests ask the same, and
// one is kept; where a threshold does not split the answers, only "no answer" does.
bool splits(const Column& column, int test, const std::vector<bool>& allowed) {
    const bool missing = allowed.back();
    bool yes = false, no = false;
    for (std::size_t b = 0; b + 1 < allowed.size(); ++b) {
        if (allowed[b]) (column.is_true(test, static_cast<Bin>(b)) ? yes : no) = true;
    }
    if (test == column.missing_test()) return missing && no;
    return yes && no && (missing || !column.takes_missing(test));
}

}  // namespace

Box part_of(const Instance& instance, const Box& box, int test, int side) {
    const int c = instance.column_of(test);
    const Column& column = instance.column(c);
    Box part;
    part.key = box.key;
    part.key.insert(instance, test, side);
    std::vector<bool> allowed;
    if (!column.ordered || column.missing) allowed = allowed_bins(instance, part.key, c);
    int left = static_cast<int>(std::ranges::count(allowed, true));  // bins of an unordered column
    for (const int other : box.tests) {
        if (instance.column_of(other) != c) {
            part.tests.push_back(other);
        } else if (column.missing) {
            if (splits(column, other, allowed)) part.tests.push_back(other);
        } else if (column.ordered ? (side == 0 ? other < test : other > test) : side == 1 && other != test && left > 1) {
            part.tests.push_back(other);
            if (left == 2) left = 1;  // the other of two categories asks the same
        }
    }
    return part;
}

std::vector<bool> allowed_bins(const Instance& instance, const BoxKey& key, int c) {
    const Column& column = instance.column(c);
    std::vector<bool> allowed(static_cast<std::size_t>(column.n_bins), true);
    for (const std::uint16_t answer : key.answers()) {
        const int test = BoxKey::test_of(answer);
        if (instance.column_of(test) != c) continue;
        for (std::size_t b = 0; b < allowed.size(); ++b) {
            if (column.is_true(test, static_cast<Bin>(b)) != (BoxKey::side_of(answer) == 0)) allowed[b] = false;
        }
    }
    return allowed;
}

bool contains(const Instance& instance, const BoxKey& key, const Bin* point) {
    return std::ranges::all_of(key.answers(), [&](std::uint16_t answer) {
        return instance.is_true(BoxKey::test_of(answer), point) == (BoxKey::side_of(answer) == 0);
    });
}

namespace {

std::vector<int> columns_of(const Instance& instance, const BoxKey& key) {
    std::vector<int> columns;
    for (const std::uint16_t answer : key.answers()) columns.push_back(instance.column_of(BoxKey::test_of(answer)));
    columns.erase(std::ranges::unique(columns).begin(), columns.end());  // answers are sorted, so are their columns
    return columns;
}

}  // namespace

BoxCost::BoxCost(const Instance& instance, const BoxKey& key) : instance_(instance) {
    for (const int c : columns_of(instance, key)) {
        const Column& column = instance.column(c);
        const std::vector<bool> allowed = allowed_bins(instance, key, c);
        std::vector<int> bins;
        for (int b = 0; b < column.n_bins; ++b) {
            if (allowed[static_cast<std::size_t>(b)]) bins.push_back(b);
        }
        Demand demand{c, {}, {}};
        for (std::uint32_t kind = 0; kind < static_cast<std::uint32_t>(column.n_kinds()); ++kind) {
            const double* const cost = column.cost_of(kind);
            int best = column.home[kind];
            if (column.nearest_is_cheapest) {  // the bins are side by side
                best = std::clamp(best, bins.front(), bins.back());
            } else if (!allowed[static_cast<std::size_t>(best)]) {
                best = *std::ranges::min_element(bins, {}, [&](int b) { return cost[b]; });
            }
            demand.cost.push_back(cost[best]);
            demand.bin.push_back(static_cast<Bin>(best));
        }
        demands_.push_back(std::move(demand));
    }
}

void BoxCost::nearest_point(std::size_t row, Bin* point) const {
    std::copy_n(instance_.point(row), instance_.n_columns(), point);
    for (const Demand& demand : demands_) point[demand.column] = demand.bin[instance_.kind(row, demand.column)];
}

int BoxCost::moves(std::size_t row) const {
    return static_cast<int>(std::ranges::count_if(demands_, [&](const Demand& demand) {
        return demand.bin[instance_.kind(row, demand.column)] != instance_.point(row)[demand.column];
    }));
}

namespace {

void collect(const Instance& instance, const Skeleton& tree, std::size_t at, const BoxKey& box, std::vector<LabelledBox>& leaves) {
    const Choice& choice = tree[at];
    if (choice.test < 0) {
        leaves.push_back({box, choice.label, at});
        return;
    }
    const Column& column = instance.column(instance.column_of(choice.test));
    const std::vector<bool> allowed = allowed_bins(instance, box, instance.column_of(choice.test));
    std::array<bool, 2> splits{};
    for (std::size_t b = 0; b < allowed.size(); ++b) {
        if (allowed[b]) splits[column.is_true(choice.test, static_cast<Bin>(b)) ? 0 : 1] = true;
    }
    for (int side = 0; side < 2; ++side) {
        if (!splits[static_cast<std::size_t>(side)]) continue;  // the test leads all to the other side
        BoxKey part = box;
        if (splits[0] && splits[1]) part.insert(instance, choice.test, side);
        collect(instance, tree, 2 * at + static_cast<std::size_t>(side), part, leaves);
    }
}

}  // namespace

std::vector<LabelledBox> leaves_of(const Instance& instance, const Skeleton& tree) {
    std::vector<LabelledBox> leaves;
    collect(instance, tree, 1, BoxKey{}, leaves);
    return leaves;
}

}  // namespace hardwood::search
