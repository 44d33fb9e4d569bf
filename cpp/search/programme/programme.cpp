#include "programme.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hardwood::search {

namespace {

int full(int levels) { return (1 << std::min(levels, 20)) - 1; }

BoxKey key_of_part(const Instance& instance, const BoxKey& box, int test, int side) {
    BoxKey key = box;
    key.insert(instance, test, side);
    return key;
}

// The number of a test among those of a box.
std::size_t place_of(const Box& box, int test) {
    return static_cast<std::size_t>(std::ranges::lower_bound(box.tests, test) - box.tests.begin());
}

}  // namespace

Sizes Sizes::within(int levels) const {
    if (!counted) return *this;
    return {true, std::min(least, full(levels)), std::min(most, full(levels))};
}

Sizes Sizes::below(int levels) const {
    if (!counted) return *this;
    return {true, std::max(0, least - 1 - full(levels)), std::clamp(most - 1, 0, full(levels))};
}

Stairs joined(const Stairs& first, const Stairs& second, int tests, const Sizes& sizes) {
    if (!sizes.counted) return {first[0] + second[0]};
    Stairs sum(sizes.width(), infinity);
    for (std::size_t a = 0; a < first.size(); ++a) {
        for (std::size_t b = 0; b < second.size(); ++b) {
            const std::size_t n = a + b + static_cast<std::size_t>(tests);
            if (n < sum.size()) sum[n] = std::min(sum[n], first[a] + second[b]);
        }
    }
    for (std::size_t n = 1; n < sum.size(); ++n) sum[n] = std::min(sum[n], sum[n - 1]);
    return sum;
}

void Programme::Entry::offer(const Stairs& errors, int test) {
    for (std::size_t n = 0; n < value.size(); ++n) {
        if (errors[n] < value[n]) {
            value[n] = errors[n];
            best[n] = test;
        }
    }
}

void Programme::load(Weights weights) {
    weights_ = std::move(weights);
    entries_.clear();
    loaded_levels_ = -1;
}

// Sums over sets of as many tests as there are levels tell all about a region, and about its parts: each point enters one table instead
// of one for each part.
bool Programme::may_sum(const Region& region) {
    const int order = region.levels;
    if (order > (effort_.long_sums ? TupleSums::longest : ShortTrees::deepest)) return false;
    if (order > 2 && TupleSums::n_sets(order, region.box.tests.size()) * weights_.channels > effort_.most_sums) return false;
    answers_.map(region.box);
    if (order <= 2) return true;
    std::vector<std::uint32_t> places(answers_.most_places());
    std::vector<double> points(places.size() + 1, 0.0);  // by the number of sums that they enter
    for (const std::uint32_t z : region.members) points[answers_.places_of(z, places.data())] += 1.0;
    double steps = 0.0;
    for (std::size_t n = 0; n < points.size(); ++n) steps += points[n] * TupleSums::n_sets(order, n);
    return steps * weights_.channels <= effort_.most_sum_steps;
}

std::shared_ptr<TupleSums> Programme::blank_sums() {
    if (spare_sums_.empty()) spare_sums_.push_back(std::make_unique<TupleSums>());
    std::unique_ptr<TupleSums> sums = std::move(spare_sums_.back());
    spare_sums_.pop_back();
    return {sums.release(), [this](TupleSums* used) { spare_sums_.emplace_back(used); }};
}

Region Programme::region(Box box, int levels, std::vector<std::uint32_t> members) {
    Region region{std::move(box), levels, std::move(members), nullptr};
    if (levels > 0 && may_sum(region)) {
        const std::shared_ptr<TupleSums> sums = blank_sums();
        sums->assign(answers_, region.members, weights_, levels);
        region.sums = sums;
        region.members.clear();
    }
    return region;
}

Region Programme::part(const Region& region, int test, int side) {
    const Instance& instance = points_.instance();
    Box box = part_of(instance, region.box, test, side);
    if (region.sums != nullptr) {
        std::vector<std::uint32_t> kept;
        std::size_t k = 0, at = 0;
        for (std::size_t i = 0; i < region.box.tests.size(); ++i) {
            if (region.box.tests[i] == test) k = i;
            if (at == box.tests.size() || region.box.tests[i] != box.tests[at]) continue;
            kept.push_back(static_cast<std::uint32_t>(i));
            ++at;
        }
        const std::shared_ptr<TupleSums> sums = blank_sums();
        sums->assign_part(*region.sums, k, side, kept);
        return {std::move(box), region.levels - 1, {}, sums};
    }
    const int c = instance.column_of(test);
    const Column& column = instance.column(c);
    std::vector<std::uint32_t> members(region.members.size());
    std::size_t n = 0;
    for (const std::uint32_t z : region.members) {
        members[n] = z;
        n += column.is_true(test, points_[z][c]) == (side == 0);
    }
    members.resize(n);
    return this->region(std::move(box), region.levels - 1, std::move(members));
}

double Programme::error_of_label(const Region& region, int label) const {
    if (region.sums != nullptr) return ShortTrees::error_of_label(*region.sums, label);
    double error = 0.0;
    for (const std::uint32_t z : region.members) {
        const double* const weight = weights_.at(z);
        if (weights_.channels == 1) {
            error += std::max(0.0, label == 1 ? -weight[0] : weight[0]);
            continue;
        }
        for (int c = 0; c < weights_.channels; ++c) error += c == label ? 0.0 : weight[c];
    }
    return error;
}

bool Programme::holds_enough(const Region& region) const {
    if (weights_.least_leaf <= 0.0) return true;
    if (region.sums != nullptr) return region.sums->sizes()->total() >= weights_.least_leaf;
    double size = 0.0;
    for (const std::uint32_t z : region.members) size += weights_.sizes[z];
    return size >= weights_.least_leaf;
}

int Programme::best_label(const Region& region) const {
    const int n_classes = points_.instance().n_classes();
    int best = 0;
    for (int label = 1; label < n_classes; ++label) {
        if (error_of_label(region, label) < error_of_label(region, best)) best = label;
    }
    return best;
}

double Programme::error_of_best_label(const Region& region) const { return error_of_label(region, best_label(region)); }

const Programme::Entry* Programme::known(const BoxKey& box, int levels, const Sizes& sizes, double cutoff) const {
    const auto found = entries_.find({box, levels});
    if (found == entries_.end()) return nullptr;
    const Entry& entry = found->second;
    const bool enough = entry.cutoff >= cutoff && entry.least <= sizes.least && entry.value.size() >= sizes.width();
    return enough ? &entry : nullptr;
}

const Stairs& Programme::least(const Region& region, const Sizes& wanted, double cutoff) {
    const Sizes sizes = wanted.within(region.levels);
    if (const Entry* entry = known(region.box.key, region.levels, sizes, cutoff)) return entry->value;
    Entry entry = solve(region, sizes, cutoff);
    if (entries_.size() >= effort_.most_values) entries_.clear();  // whoever is under way holds copies
    return (entries_[{region.box.key, region.levels}] = std::move(entry)).value;
}

Stairs Programme::side(const Region& region, int test, int s, const Sizes& sizes, double cutoff) {
    const int levels = region.levels - 1;
    const BoxKey key = key_of_part(points_.instance(), region.box.key, test, s);
    if (const Entry* entry = known(key, levels, sizes.below(levels).within(levels), cutoff)) return entry->value;
    return least(part(region, test, s), sizes.below(levels), cutoff);
}

Stairs Programme::least_with(const Region& region, int test, const Sizes& wanted, double cutoff) {
    const Sizes sizes = wanted.within(region.levels);
    if (is_short(region)) {
        load_short_trees(region, sizes);
        return errors_of_short_trees(*region.sums, place_of(region.box, test), sizes);
    }
    const Stairs first = side(region, test, 0, sizes, cutoff);
    if (first.back() == infinity) return Stairs(sizes.width(), infinity);
    const Stairs second = side(region, test, 1, sizes, cutoff - first.back());
    return joined(first, second, 1, sizes);
}

// Errors only grow with the points: what lies on the left of the first test lies on the left of all, and so on the other side.
double Programme::least_between(const Region& region, int first, int last, const Sizes& wanted, double cutoff) {
    const Sizes sizes = wanted.within(region.levels);
    const double left = side(region, first, 0, sizes, cutoff).back();
    return left >= cutoff ? left : left + side(region, last, 1, sizes, cutoff - left).back();
}

void Programme::load_short_trees(const Region& region, const Sizes& sizes) {
    if (loaded_levels_ == region.levels && loaded_counted_ == sizes.counted && loaded_ == region.box.key) return;
    loaded_ = region.box.key;
    loaded_levels_ = region.levels;
    loaded_counted_ = sizes.counted;
    short_trees_.solve(*region.sums, region.levels, sizes.counted);
}

Stairs Programme::errors_of_short_trees(const TupleSums& sums, std::size_t k, const Sizes& sizes) const {
    if (!sizes.counted) return {ShortTrees::error(sums, short_trees_.gain_with(k))};
    Stairs errors(sizes.width(), infinity);
    for (std::size_t n = 1; n < errors.size(); ++n) errors[n] = ShortTrees::error(sums, short_trees_.gain_with(k, n));
    return errors;
}

// Trees with two levels are a start where more are allowed, and tests on top of good ones come first.
std::vector<std::pair<double, int>> Programme::tests_by_promise(const Region& region, const Sizes& sizes, Entry& entry) {
    std::shared_ptr<const TupleSums> sums = region.sums;
    if (sums == nullptr) {
        const std::shared_ptr<TupleSums> pairs = blank_sums();
        answers_.map(region.box);
        pairs->assign(answers_, region.members, weights_, 2);
        sums = pairs;
    }
    const Sizes few = sizes.within(2);
    loaded_levels_ = -1;
    short_trees_.solve(*sums, 2, sizes.counted);
    std::vector<std::pair<double, int>> order;
    for (std::size_t k = 0; k < region.box.tests.size(); ++k) {
        Stairs errors = errors_of_short_trees(*sums, k, few);
        order.emplace_back(errors.back(), region.box.tests[k]);
        errors.resize(sizes.width(), errors.back());
        entry.offer(errors, region.box.tests[k]);
    }
    std::ranges::stable_sort(order, {}, &std::pair<double, int>::first);
    return order;
}

Programme::Entry Programme::solve(const Region& region, const Sizes& sizes, double cutoff) {
    const double error = holds_enough(region) ? error_of_best_label(region) : infinity;
    Entry entry{Stairs(sizes.width(), error), infinity, sizes.least, std::vector<int>(sizes.width(), leaf)};
    if (error == infinity) return entry;
    if (region.levels == 0 || region.box.tests.empty() || (sizes.counted && sizes.most == 0)) return entry;
    if (is_short(region)) {
        load_short_trees(region, sizes);
        for (std::size_t k = 0; k < region.box.tests.size(); ++k) {
            entry.offer(errors_of_short_trees(*region.sums, k, sizes), region.box.tests[k]);
        }
        return entry;
    }
    for (const auto& [promise, test] : tests_by_promise(region, sizes, entry)) {
        if (watch_.stopped()) break;
        try_test(region, test, sizes, cutoff, entry);
        if (entry.value.back() == 0.0 && !sizes.counted) break;
    }
    bool exact = !watch_.has_stopped();
    if (!exact) std::ranges::fill(entry.value, 0.0);  // errors are not negative: all that is known
    for (double& value : entry.value) {
        exact = exact && value < cutoff;
        value = std::min(value, cutoff);
    }
    entry.cutoff = exact ? infinity : cutoff;
    return entry;
}

void Programme::try_test(const Region& region, int test, const Sizes& sizes, double cutoff, Entry& entry) {
    const Instance& instance = points_.instance();
    const int levels = region.levels - 1;
    const Sizes own = sizes.below(levels).within(levels);
    const auto start = [&](int s) {
        const auto found = entries_.find({key_of_part(instance, region.box.key, test, s), levels});
        const bool fits = found != entries_.end() && found->second.least <= own.least &&
                          found->second.value.size() >= own.width();
        return fits ? found->second.value : Stairs(own.width(), 0.0);
    };
    Stairs parts[2] = {start(0), start(1)};
    const std::size_t from = sizes.counted ? static_cast<std::size_t>(std::max(1, sizes.least)) : 0;
    const double most = std::min(entry.value[std::min(from, entry.value.size() - 1)], cutoff);
    const auto may_help = [&](const Stairs& sum) {
        for (std::size_t n = from; n < entry.value.size(); ++n) {
            if (sum[n] < std::min(entry.value[n], cutoff)) return true;
        }
        return false;
    };
    for (int s = 0; s < 2; ++s) {
        if (!may_help(joined(parts[0], parts[1], 1, sizes))) return;
        parts[s] = side(region, test, s, sizes, most - parts[1 - s].back());
    }
    const Stairs sum = joined(parts[0], parts[1], 1, sizes);
    for (std::size_t n = from; n < entry.value.size(); ++n) {
        if (sum[n] < std::min(entry.value[n], cutoff)) {
            entry.value[n] = sum[n];
            entry.best[n] = test;
        }
    }
}

void Programme::put_tree_with(const Region& region, int test, const Sizes& wanted, int tests, std::size_t at, Skeleton& tree) {
    const Sizes sizes = wanted.within(region.levels);
    if (is_short(region)) {
        short_trees_.put_tree_with(*region.sums, region.box.tests, place_of(region.box, test), region.levels, sizes.counted, tests,
                                   at, tree);
        loaded_levels_ = -1;
        return;
    }
    tree[at] = {test, 0};
    const Region parts[2] = {part(region, test, 0), part(region, test, 1)};
    const Sizes own = sizes.below(region.levels - 1);
    const Stairs first = least(parts[0], own, infinity), second = least(parts[1], own, infinity);
    int left = 0, right = 0;
    if (sizes.counted) {
        double best = infinity;
        for (int a = 0; a < static_cast<int>(first.size()) && a < tests; ++a) {
            const int b = std::min(tests - 1 - a, static_cast<int>(second.size()) - 1);
            const double error = first[static_cast<std::size_t>(a)] + second[static_cast<std::size_t>(b)];
            if (error < best) {
                best = error;
                left = a;
                right = b;
            }
        }
    }
    put_tree(parts[0], own, left, 2 * at, tree);
    put_tree(parts[1], own, right, 2 * at + 1, tree);
}

void Programme::put_tree(const Region& region, const Sizes& wanted, int tests, std::size_t at, Skeleton& tree) {
    const Sizes sizes = wanted.within(region.levels);
    if (is_short(region)) {
        short_trees_.put_tree(*region.sums, region.box.tests, region.levels, sizes.counted, tests, at, tree);
        loaded_levels_ = -1;
        return;
    }
    least(region, sizes, infinity);
    const std::size_t n = std::min(static_cast<std::size_t>(std::max(0, tests)), sizes.width() - 1);
    const int top = entries_.at({region.box.key, region.levels}).best[n];
    if (top >= 0) {
        put_tree_with(region, top, sizes, static_cast<int>(n), at, tree);
    } else {
        tree[at] = {-1, best_label(region)};
    }
}

}  // namespace hardwood::search
