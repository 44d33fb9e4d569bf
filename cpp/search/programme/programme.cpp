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

void Programme::load(Weights weights) {
    weights_ = std::move(weights);
    entries_.clear();
    loaded_levels_ = -1;
}

Region Programme::part(const Region& region, int test, int side) const {
    const Instance& instance = points_.instance();
    Region part{part_of(instance, region.box, test, side), region.levels - 1, {}};
    const int c = instance.column_of(test);
    const Column& column = instance.column(c);
    part.members.resize(region.members.size());
    std::size_t n = 0;
    for (const std::uint32_t z : region.members) {
        part.members[n] = z;
        n += column.is_true(test, points_[z][c]) == (side == 0);
    }
    part.members.resize(n);
    return part;
}

double Programme::error_of_label(const Region& region, int label) const {
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

int Programme::best_label(const Region& region) const {
    const int n_classes = points_.instance().n_classes();
    int best = 0;
    for (int label = 1; label < n_classes; ++label) {
        if (error_of_label(region, label) < error_of_label(region, best)) best = label;
    }
    return best;
}

double Programme::error_of_best_label(const Region& region) const {
    std::vector<double> sums(static_cast<std::size_t>(points_.instance().n_classes()), 0.0);
    double all = 0.0;
    for (const std::uint32_t z : region.members) {
        const double* const weight = weights_.at(z);
        if (weights_.channels == 1) {
            sums[weight[0] > 0 ? 1 : 0] += std::abs(weight[0]);
            all += std::abs(weight[0]);
            continue;
        }
        for (std::size_t c = 0; c < sums.size(); ++c) {
            sums[c] += weight[c];
            all += weight[c];
        }
    }
    return std::max(0.0, all - std::ranges::max(sums));
}

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
    if (entries_.size() >= most_entries) entries_.clear();  // whoever is under way holds copies
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
    if (by_kernel_alone(region)) {
        load_kernel(region, sizes);
        const auto at = std::ranges::lower_bound(region.box.tests, test);
        return kernel_errors(static_cast<std::size_t>(at - region.box.tests.begin()), sizes);
    }
    const Stairs first = side(region, test, 0, sizes, cutoff);
    const Stairs second = side(region, test, 1, sizes, cutoff - first.back());
    return joined(first, second, 1, sizes);
}

bool Programme::by_kernel_alone(const Region& region) const {
    return TupleKernel::serves(region.levels, region.box.tests.size(), weights_.channels);
}

void Programme::load_kernel(const Region& region, const Sizes& sizes) {
    if (loaded_levels_ == region.levels && loaded_counted_ == sizes.counted && loaded_ == region.box.key) return;
    loaded_ = region.box.key;
    loaded_levels_ = region.levels;
    loaded_counted_ = sizes.counted;
    kernel_.load(region.box, region.members, weights_, region.levels, sizes.counted);
}

Stairs Programme::kernel_errors(std::size_t k, const Sizes& sizes) const {
    if (!sizes.counted) return {kernel_.error_with(k)};
    Stairs errors(sizes.width(), infinity);
    for (std::size_t n = 1; n < errors.size(); ++n) errors[n] = kernel_.error_with(k, n);
    return errors;
}

// With few levels, a kernel knows all. With more, trees with two levels are a start, and tests on top of good ones come first.
Programme::Entry Programme::solve(const Region& region, const Sizes& sizes, double cutoff) {
    Entry entry{Stairs(sizes.width(), error_of_best_label(region)), infinity, sizes.least, std::vector<int>(sizes.width(), leaf)};
    if (region.levels == 0 || region.box.tests.empty() || (sizes.counted && sizes.most == 0)) return entry;
    const auto offer = [&](const Stairs& errors, int test) {
        for (std::size_t n = 0; n < entry.value.size(); ++n) {
            if (errors[n] < entry.value[n]) {
                entry.value[n] = errors[n];
                entry.best[n] = test;
            }
        }
    };
    if (by_kernel_alone(region)) {
        load_kernel(region, sizes);
        for (std::size_t k = 0; k < region.box.tests.size(); ++k) {
            offer(kernel_errors(k, sizes), region.box.tests[k]);
        }
        return entry;
    }
    std::vector<std::pair<double, int>> order;
    {
        Region shallow{region.box, 2, region.members};
        const Sizes few = sizes.within(2);
        load_kernel(shallow, few);
        for (std::size_t k = 0; k < region.box.tests.size(); ++k) {
            Stairs errors = kernel_errors(k, few);
            order.emplace_back(errors.back(), region.box.tests[k]);
            errors.resize(sizes.width(), errors.back());
            offer(errors, region.box.tests[k]);
        }
    }
    std::ranges::stable_sort(order, {}, &std::pair<double, int>::first);
    for (const auto& [promise, test] : order) {
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
