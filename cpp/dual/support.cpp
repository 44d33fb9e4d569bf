#include "dual/support.h"

#include <algorithm>

#include "model/constraint.h"

namespace hardwood::search {

namespace {

double domain_size(const Instance& instance) {
    double n = 1.0;
    for (int c = 0; c < instance.n_columns(); ++c) n *= instance.column(c).n_bins;
    return n;
}

/// On long scales, rows meet at points between them, which single moves reach; with few values,
/// they meet at points that take many moves.
double max_pairs(const Instance& instance, const SearchParams& params) {
    const bool long_scales =
        instance.n_splits() >= params.splits_per_long_scale * instance.n_columns();
    return long_scales ? params.max_pairs_long_scales : params.max_pairs;
}

/// The number of points that a row may keep.
std::size_t max_set_size(const Instance& instance, const SearchParams& params) {
    const std::size_t n_rows = std::max<std::size_t>(1, instance.n_rows());
    return std::max(2 * params.n_neighbours, params.max_reachable / n_rows);
}

std::vector<std::uint32_t> first_rows(const ReachableSets& reachable) {
    std::vector<std::uint32_t> rows;
    for (std::size_t s = 0; s < reachable.n_sets(); ++s)
        rows.push_back(to_id(reachable.first_row(s)));
    return rows;
}

}  // namespace

Support::Support(const Instance& instance, const SearchParams& params)
    : instance_(instance),
      params_(params),
      points_(instance),
      reachable_(points_, max_set_size(instance, params)) {
    for (std::size_t i = 0; i < instance.n_rows(); ++i) points_.add(instance.point(i));
    const double size = domain_size(instance);
    const auto n_rows = static_cast<double>(instance.n_rows());
    complete_ = params.full_domain && size <= params.max_full_domain &&
                size * n_rows <= params.max_full_pairs;
    if (complete_ && instance.any_move()) add_all_points();
    const bool compare_all = params.all_pairs && n_rows * n_rows <= params.max_first_pairs;
    if (!instance.any_move() || complete_ || compare_all) {
        reachable_.update();
    } else {
        list_neighbours(std::min(params.first_neighbours, max_list_length()));
        prepare(infinity);
    }
    count_observations();
}

void Support::count_observations() {
    if (min_leaf_size(instance_) <= 0.0) return;
    for (std::size_t i = 0; i < instance_.n_rows(); ++i) {
        const std::size_t own = idx(points_.find(instance_.point(i)));
        if (own >= sizes_.size()) sizes_.resize(own + 1, 0.0);
        sizes_[own] += instance_.size(i);
    }
}

std::size_t Support::max_list_length() const {
    const std::size_t n_rows = std::max<std::size_t>(1, reachable_.n_sets());
    return std::min(params_.n_neighbours,
                    std::max<std::size_t>(4, params_.max_neighbours / n_rows));
}

void Support::list_neighbours(std::size_t length) {
    list_length_ = length;
    listed_ = -1.0;
    neighbours_.emplace(instance_, first_rows(reachable_), length, params_.sampled_rows);
}

/// Where every row is compared with every point.
std::size_t Support::max_points() const {
    const double pairs = max_pairs(instance_, params_) * params_.max_points_per_row;
    return std::max(params_.max_points,
                    static_cast<std::size_t>(pairs / static_cast<double>(reachable_.n_sets())));
}

bool Support::can_compare_all() const {
    const auto n_rows = static_cast<double>(instance_.n_rows());
    return params_.all_pairs && n_rows * n_rows <= max_pairs(instance_, params_) &&
           points_.size() <= max_points();
}

void Support::enlarge(double multiplier) {
    if (!can_enlarge()) return;
    if (list_length_ < max_list_length()) {
        list_neighbours(std::min(3 * list_length_, max_list_length()));
        prepare(multiplier);
    } else {
        neighbours_.reset();
        reachable_.update();
    }
}

/// Lower multipliers reach further and usually follow: a quarter more serves some of them, too.
void Support::prepare(double multiplier) {
    if (!neighbours_ || (listed_ >= 0.0 && !instance_.any_move_at(multiplier))) return;
    const double reach = instance_.max_class_weight() / multiplier;
    if (listed_ >= std::min(reach, neighbours_->max_cost(1))) return;
    const double limit = 1.25 * reach;
    reachable_.extend([&](std::size_t s, std::vector<ReachablePoint>& found) {
        neighbours_->visit(reachable_.first_row(s), limit, [&](const Bin* point, double cost) {
            found.push_back({.cost = cost, .point = points_.add(point)});
        });
    });
    listed_ = limit;
}

void Support::add_all_points() {
    std::vector<Bin> point(idx(instance_.n_columns()), 0);
    while (true) {
        points_.add(point.data());
        std::size_t c = 0;
        while (c < point.size() && ++point[c] == instance_.column(to_int(c)).n_bins) point[c++] = 0;
        if (c == point.size()) return;
    }
}

void Support::add_misclassified_points(const Evaluator& evaluator, double multiplier) {
    const std::size_t limit = neighbours_ ? params_.max_neighbours : max_points();
    if (complete_ || !params_.misclassified_points || points_.size() >= limit) return;
    std::vector<Bin> point(idx(instance_.n_columns()));
    const std::vector<double>& margins = evaluator.margins();
    // The row's point, unless it is known already.
    const auto find = [&](std::size_t i) -> std::optional<ReachablePoint> {
        if (!(margins[i] * multiplier < instance_.class_weight(instance_.label(i)))) return {};
        const BoxCost& leaf = evaluator.wrong_leaf(i);
        if (neighbours_ && neighbours_->includes(leaf.n_moves(i), margins[i], listed_)) return {};
        leaf.nearest_point(i, point.data());
        return ReachablePoint{.cost = margins[i], .point = points_.add(point.data())};
    };
    if (neighbours_) {
        reachable_.extend([&](std::size_t s, std::vector<ReachablePoint>& found) {
            for (std::size_t i = reachable_.first_row(s); i < reachable_.end_row(s); ++i) {
                if (const std::optional<ReachablePoint> own = find(i)) found.push_back(*own);
            }
        });
    } else {
        for (std::size_t i = 0; i < instance_.n_rows(); ++i) find(i);
        reachable_.update();
    }
}

}  // namespace hardwood::search
