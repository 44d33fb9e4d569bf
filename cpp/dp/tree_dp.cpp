#include "dp/tree_dp.h"

#include <algorithm>
#include <utility>

namespace hardwood::search {

namespace {

BoxKey key_of_part(const Instance& instance, const BoxKey& box, int split, int side) {
    BoxKey key = box;
    key.insert(instance, split, side);
    return key;
}

/// The position of a split among those of a box.
std::size_t position_of(const Box& box, int split) {
    return idx(std::ranges::lower_bound(box.splits, split) - box.splits.begin());
}

}  // namespace

void TreeDp::Entry::offer(const ErrorBySize& errors, int split) {
    for (std::size_t n = 0; n < error.size(); ++n) {
        if (errors[n] < error[n]) {
            error[n] = errors[n];
            top[n] = split;
        }
    }
}

void TreeDp::load(PointWeights weights) {
    weights_ = std::move(weights);
    entries_.clear();
    cached_.key = {};
    columnwise_key_ = {};
    columnwise_.clear();
}

/// Sums over subsets of as many splits as there are levels solve a subproblem and all of its parts:
/// each point enters one table instead of one for each part.
bool TreeDp::should_sum(const Subproblem& subproblem) {
    const int order = subproblem.levels;
    if (order > (params_.large_subsets ? SubsetSums::max_order : ShallowSolver::max_levels))
        return false;
    const double n_sums =
        SubsetSums::n_subsets(order, subproblem.box.splits.size()) * weights_.n_channels;
    if (order > 2 && (!params_.subset_sums || n_sums > params_.max_subset_sums)) return false;
    layout_.map(subproblem.box);
    if (order <= 2) return true;
    return n_additions(subproblem.points, order) * weights_.n_channels <=
           params_.max_subset_sum_steps;
}

/// Of points to the sums over subsets of the splits that `layout_` maps.
double TreeDp::n_additions(std::span<const std::uint32_t> points, int order) {
    constexpr std::size_t points_per_task = 8192;
    const std::size_t n_tasks = n_ranges(points.size(), points_per_task);
    // By task, and by the number of sums of single splits that points enter.
    std::vector<std::vector<double>> n_points(n_tasks);
    team_.run(n_tasks, [&](std::size_t task, std::size_t) {
        std::vector<std::uint32_t> slots(layout_.max_slots());
        n_points[task].assign(slots.size() + 1, 0.0);
        const std::size_t begin = task * points_per_task;
        const std::size_t end = std::min(begin + points_per_task, points.size());
        for (std::size_t i = begin; i < end; ++i)
            n_points[task][layout_.slots_of(points[i], slots.data())] += 1.0;
    });
    double n_additions = 0.0;
    for (const std::vector<double>& own : n_points) {
        for (std::size_t n = 0; n < own.size(); ++n)
            n_additions += own[n] * SubsetSums::n_subsets(order, n);
    }
    return n_additions;
}

std::shared_ptr<SubsetSums> TreeDp::allocate_sums() {
    if (spare_sums_.empty()) spare_sums_.push_back(std::make_unique<SubsetSums>());
    std::unique_ptr<SubsetSums> sums = std::move(spare_sums_.back());
    spare_sums_.pop_back();
    return {sums.release(), [this](SubsetSums* used) { spare_sums_.emplace_back(used); }};
}

Subproblem TreeDp::subproblem(Box box, int levels, std::vector<std::uint32_t> points) {
    Subproblem made{.box = std::move(box), .levels = levels, .points = std::move(points)};
    if (levels > 0 && should_sum(made)) {
        const std::shared_ptr<SubsetSums> sums = allocate_sums();
        sums->assign(layout_, made.points, weights_, levels, team_);
        made.sums = sums;
        made.points.clear();
    } else if (params_.columnwise && levels == ShallowSolver::max_levels) {
        made.sums = sum_pairs(made);
        made.columnwise = true;
    }
    return made;
}

std::shared_ptr<const SubsetSums> TreeDp::sum_pairs(const Subproblem& subproblem) {
    const std::shared_ptr<SubsetSums> pairs = allocate_sums();
    layout_.map(subproblem.box);
    pairs->assign(layout_, subproblem.points, weights_, 2, team_);
    return pairs;
}

Subproblem TreeDp::part(const Subproblem& whole, int split, int side) {
    const Instance& instance = points_.instance();
    Box box = part_of(instance, whole.box, split, side);
    if (whole.sums != nullptr && !whole.columnwise) {
        std::vector<std::uint32_t> kept;
        std::size_t k = 0, at = 0;
        for (std::size_t i = 0; i < whole.box.splits.size(); ++i) {
            if (whole.box.splits[i] == split) k = i;
            if (at == box.splits.size() || whole.box.splits[i] != box.splits[at]) continue;
            kept.push_back(to_id(i));
            ++at;
        }
        const std::shared_ptr<SubsetSums> sums = allocate_sums();
        sums->assign_part(*whole.sums, k, side, kept);
        return {.box = std::move(box), .levels = whole.levels - 1, .points = {}, .sums = sums};
    }
    const int c = instance.column_of(split);
    const Column& column = instance.column(c);
    std::vector<std::uint32_t> points(whole.points.size());
    std::size_t n = 0;
    for (const std::uint32_t z : whole.points) {
        points[n] = z;
        n += column.is_true(split, points_[z][c]) == (side == 0);
    }
    points.resize(n);
    return subproblem(std::move(box), whole.levels - 1, std::move(points));
}

double TreeDp::error_of_label(const Subproblem& subproblem, int label) const {
    if (subproblem.sums != nullptr) return ShallowSolver::error_of_label(*subproblem.sums, label);
    double error = 0.0;
    for (const std::uint32_t z : subproblem.points) {
        const double* const weight = weights_.at(z);
        if (weights_.n_channels == 1) {
            error += std::max(0.0, label == 1 ? -weight[0] : weight[0]);
            continue;
        }
        for (int c = 0; c < weights_.n_channels; ++c) error += c == label ? 0.0 : weight[c];
    }
    return error;
}

bool TreeDp::is_large_enough(const Subproblem& subproblem) const {
    if (weights_.min_leaf_size <= 0.0) return true;
    if (subproblem.sums != nullptr)
        return subproblem.sums->sizes()->total() >= weights_.min_leaf_size;
    double size = 0.0;
    for (const std::uint32_t z : subproblem.points) size += weights_.sizes[z];
    return size >= weights_.min_leaf_size;
}

int TreeDp::best_label(const Subproblem& subproblem) const {
    const int n_classes = points_.instance().n_classes();
    int best = 0;
    for (int label = 1; label < n_classes; ++label) {
        if (error_of_label(subproblem, label) < error_of_label(subproblem, best)) best = label;
    }
    return best;
}

double TreeDp::error_of_best_label(const Subproblem& subproblem) const {
    return error_of_label(subproblem, best_label(subproblem));
}

const TreeDp::Entry* TreeDp::find(const BoxKey& box, int levels, const SizeRange& sizes,
                                  double cutoff) const {
    const auto found = entries_.find({.box = box, .levels = levels});
    if (found == entries_.end()) return nullptr;
    const Entry& entry = found->second;
    const bool sufficient = entry.cutoff >= cutoff && entry.min_size <= sizes.min &&
                            entry.error.size() >= sizes.width();
    return sufficient ? &entry : nullptr;
}

ErrorBySize TreeDp::least_error(const Subproblem& subproblem, const SizeRange& wanted,
                                double cutoff) {
    const SizeRange sizes = wanted.within(subproblem.levels);
    if (const Entry* entry = find(subproblem.box.key, subproblem.levels, sizes, cutoff))
        return entry->error;
    Entry entry = solve(subproblem, sizes, cutoff);
    if (entries_.size() >= params_.max_dp_entries) entries_.clear();  // callers hold copies
    ErrorBySize error = entry.error;
    entries_[{.box = subproblem.box.key, .levels = subproblem.levels}] = std::move(entry);
    return error;
}

ErrorBySize TreeDp::child_error(const Subproblem& subproblem, int split, int side,
                                const SizeRange& sizes, double cutoff) {
    const int levels = subproblem.levels - 1;
    const BoxKey key = key_of_part(points_.instance(), subproblem.box.key, split, side);
    if (const Entry* entry = find(key, levels, sizes.below(levels).within(levels), cutoff))
        return entry->error;
    return least_error(part(subproblem, split, side), sizes.below(levels), cutoff);
}

ErrorBySize TreeDp::least_error_with(const Subproblem& subproblem, int split,
                                     const SizeRange& wanted, double cutoff) {
    const SizeRange sizes = wanted.within(subproblem.levels);
    if (subproblem.is_shallow())
        return shallow_errors(subproblem, position_of(subproblem.box, split), sizes);
    const ErrorBySize left = child_error(subproblem, split, 0, sizes, cutoff);
    if (left.back() == infinity) return ErrorBySize(sizes.width(), infinity);
    const ErrorBySize right = child_error(subproblem, split, 1, sizes, cutoff - left.back());
    return merge_children(left, right, 1, sizes);
}

/// Errors only grow with the points: what lies left of the first threshold lies left of all, and
/// likewise on the right of the last one.
double TreeDp::least_error_between(const Subproblem& subproblem, int first, int last,
                                   const SizeRange& wanted, double cutoff) {
    const SizeRange sizes = wanted.within(subproblem.levels);
    const double left = child_error(subproblem, first, 0, sizes, cutoff).back();
    return left >= cutoff ? left
                          : left + child_error(subproblem, last, 1, sizes, cutoff - left).back();
}

const ShallowGains& TreeDp::shallow_gains(const Subproblem& subproblem, bool by_size) {
    const Key key{.box = subproblem.box.key, .levels = subproblem.levels};
    if (!(cached_.key == key && cached_.by_size == by_size)) {
        cached_.key = key;
        cached_.by_size = by_size;
        shallow_.solve(*subproblem.sums, subproblem.levels, by_size, cached_.gains);
    }
    return cached_.gains;
}

void TreeDp::assign_columnwise(const Subproblem& subproblem, bool by_size) {
    const Key key{.box = subproblem.box.key, .levels = subproblem.levels};
    if (columnwise_key_ == key && columnwise_.by_size() == by_size) return;
    columnwise_key_ = key;
    layout_.map(subproblem.box);
    columnwise_.assign(layout_, subproblem.box, subproblem.points, weights_, subproblem.sums,
                       by_size);
}

std::span<const double> TreeDp::columnwise_gains(const Subproblem& subproblem, std::size_t k,
                                                 bool by_size) {
    assign_columnwise(subproblem, by_size);
    return columnwise_.gains_with(k);
}

void TreeDp::prepare(const Subproblem& subproblem, std::span<const int> splits, bool by_size) {
    if (!subproblem.columnwise) return;
    assign_columnwise(subproblem, by_size);
    std::vector<std::size_t> positions;
    for (const int split : splits) positions.push_back(position_of(subproblem.box, split));
    columnwise_.prepare(positions);
}

ErrorBySize TreeDp::shallow_errors(const Subproblem& subproblem, std::size_t k,
                                   const SizeRange& sizes) {
    const std::span<const double> gains =
        subproblem.columnwise ? columnwise_gains(subproblem, k, sizes.by_size)
                              : shallow_gains(subproblem, sizes.by_size).of_split(k);
    return errors_of_gains(*subproblem.sums, gains, sizes);
}

ErrorBySize TreeDp::errors_of_gains(const SubsetSums& sums, std::span<const double> gains,
                                    const SizeRange& sizes) {
    if (!sizes.by_size) return {ShallowSolver::error(sums, ShallowGains::within(gains, 0))};
    ErrorBySize errors(sizes.width(), infinity);
    for (std::size_t n = 1; n < errors.size(); ++n)
        errors[n] = ShallowSolver::error(sums, ShallowGains::within(gains, n));
    return errors;
}

/// Trees with two levels are a start where more are allowed; splits on top of good ones are tried
/// first.
std::vector<std::pair<double, int>> TreeDp::splits_by_promise(const Subproblem& subproblem,
                                                              const SizeRange& sizes,
                                                              Entry& entry) {
    const std::shared_ptr<const SubsetSums> sums =
        subproblem.sums != nullptr ? subproblem.sums : sum_pairs(subproblem);
    const SizeRange two_levels = sizes.within(2);
    ShallowGains gains;
    shallow_.solve(*sums, 2, sizes.by_size, gains);
    std::vector<std::pair<double, int>> order;
    for (std::size_t k = 0; k < subproblem.box.splits.size(); ++k) {
        ErrorBySize errors = errors_of_gains(*sums, gains.of_split(k), two_levels);
        order.emplace_back(errors.back(), subproblem.box.splits[k]);
        errors.resize(sizes.width(), errors.back());
        entry.offer(errors, subproblem.box.splits[k]);
    }
    std::ranges::stable_sort(order, {}, &std::pair<double, int>::first);
    return order;
}

TreeDp::Entry TreeDp::solve(const Subproblem& subproblem, const SizeRange& sizes, double cutoff) {
    const double error = is_large_enough(subproblem) ? error_of_best_label(subproblem) : infinity;
    Entry entry{.error = ErrorBySize(sizes.width(), error),
                .cutoff = infinity,
                .min_size = sizes.min,
                .top = std::vector<int>(sizes.width(), leaf)};
    if (error == infinity) return entry;
    const bool is_leaf = subproblem.levels == 0 || subproblem.box.splits.empty() ||
                         (sizes.by_size && sizes.max == 0);
    if (is_leaf) return entry;
    if (subproblem.is_shallow()) {
        for (std::size_t k = 0; k < subproblem.box.splits.size(); ++k)
            entry.offer(shallow_errors(subproblem, k, sizes), subproblem.box.splits[k]);
        return entry;
    }
    for (const auto& [promise, split] : splits_by_promise(subproblem, sizes, entry)) {
        if (stop_.should_stop()) break;
        try_split(subproblem, split, sizes, cutoff, entry);
        if (entry.error.back() == 0.0 && !sizes.by_size) break;
    }
    bool exact = !stop_.stopped();
    if (!exact)
        std::ranges::fill(entry.error, 0.0);  // errors are not negative: nothing more is known
    for (double& value : entry.error) {
        exact = exact && value < cutoff;
        value = std::min(value, cutoff);
    }
    entry.cutoff = exact ? infinity : cutoff;
    return entry;
}

void TreeDp::try_split(const Subproblem& subproblem, int split, const SizeRange& sizes,
                       double cutoff, Entry& entry) {
    const Instance& instance = points_.instance();
    const int levels = subproblem.levels - 1;
    const SizeRange own = sizes.below(levels).within(levels);
    const auto known_error = [&](int side) {  // a lower bound: 0 if nothing is known
        const BoxKey key = key_of_part(instance, subproblem.box.key, split, side);
        const auto found = entries_.find({.box = key, .levels = levels});
        const bool fits = found != entries_.end() && found->second.min_size <= own.min &&
                          found->second.error.size() >= own.width();
        return fits ? found->second.error : ErrorBySize(own.width(), 0.0);
    };
    ErrorBySize parts[2] = {known_error(0), known_error(1)};
    const std::size_t from = sizes.by_size ? idx(std::max(1, sizes.min)) : 0;
    const double worst = std::min(entry.error[std::min(from, entry.error.size() - 1)], cutoff);
    const auto may_improve = [&](const ErrorBySize& sum) {
        for (std::size_t n = from; n < entry.error.size(); ++n) {
            if (sum[n] < std::min(entry.error[n], cutoff)) return true;
        }
        return false;
    };
    for (int side = 0; side < 2; ++side) {
        if (!may_improve(merge_children(parts[0], parts[1], 1, sizes))) return;
        parts[side] = child_error(subproblem, split, side, sizes, worst - parts[1 - side].back());
    }
    const ErrorBySize sum = merge_children(parts[0], parts[1], 1, sizes);
    for (std::size_t n = from; n < entry.error.size(); ++n) {
        if (sum[n] < std::min(entry.error[n], cutoff)) {
            entry.error[n] = sum[n];
            entry.top[n] = split;
        }
    }
}

void TreeDp::extract_tree_with(const Subproblem& subproblem, int split, const SizeRange& wanted,
                               int max_splits, std::size_t at, HeapTree& tree) {
    const SizeRange sizes = wanted.within(subproblem.levels);
    if (subproblem.solves_at_once()) {
        shallow_.extract_tree_with(*subproblem.sums, subproblem.box.splits,
                                   position_of(subproblem.box, split), subproblem.levels,
                                   sizes.by_size, max_splits, at, tree);
        return;
    }
    tree[at] = HeapNode::branch(split);
    const Subproblem parts[2] = {part(subproblem, split, 0), part(subproblem, split, 1)};
    const SizeRange own = sizes.below(subproblem.levels - 1);
    const ErrorBySize first = least_error(parts[0], own, infinity),
                      second = least_error(parts[1], own, infinity);
    int left = 0, right = 0;
    if (sizes.by_size) {
        double best = infinity;
        for (int a = 0; a < to_int(first.size()) && a < max_splits; ++a) {
            const int b = std::min(max_splits - 1 - a, to_int(second.size()) - 1);
            const double error = first[idx(a)] + second[idx(b)];
            if (error < best) {
                best = error;
                left = a;
                right = b;
            }
        }
    }
    extract_tree(parts[0], own, left, 2 * at, tree);
    extract_tree(parts[1], own, right, 2 * at + 1, tree);
}

void TreeDp::extract_tree(const Subproblem& subproblem, const SizeRange& wanted, int max_splits,
                          std::size_t at, HeapTree& tree) {
    const SizeRange sizes = wanted.within(subproblem.levels);
    if (subproblem.solves_at_once()) {
        shallow_.extract_tree(*subproblem.sums, subproblem.box.splits, subproblem.levels,
                              sizes.by_size, max_splits, at, tree);
        return;
    }
    least_error(subproblem, sizes, infinity);
    const std::size_t n = std::min(idx(std::max(0, max_splits)), sizes.width() - 1);
    const int top = entries_.at({.box = subproblem.box.key, .levels = subproblem.levels}).top[n];
    if (top >= 0) {
        extract_tree_with(subproblem, top, sizes, to_int(n), at, tree);
    } else {
        tree[at] = HeapNode::leaf(best_label(subproblem));
    }
}

}  // namespace hardwood::search
