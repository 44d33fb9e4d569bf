#include "support.h"

#include <algorithm>

namespace hardwood::search {

namespace {

double n_all_points(const Instance& instance) {
    double n = 1.0;
    for (int c = 0; c < instance.n_columns(); ++c) n *= instance.column(c).n_bins;
    return n;
}

// Rows meet at points in between, which single moves along long scales lead to; where answers are few, at points that take many moves.
double most_pairs(const Instance& instance, const Effort& effort) {
    const bool long_scales = instance.n_tests() >= effort.tests_of_long_scales * instance.n_columns();
    return long_scales ? effort.most_pairs_of_long_scales : effort.most_pairs;
}

std::vector<std::uint32_t> rows_of(const Reach& reach) {
    std::vector<std::uint32_t> rows;
    for (std::size_t l = 0; l < reach.n_lists(); ++l) rows.push_back(static_cast<std::uint32_t>(reach.first_row(l)));
    return rows;
}

}  // namespace

Support::Support(const Instance& instance, const Effort& effort)
    : instance_(instance),
      effort_(effort),
      points_(instance),
      reach_(points_, std::max(2 * effort.points_nearby, effort.most_ways / std::max<std::size_t>(1, instance.n_rows()))) {
    for (std::size_t i = 0; i < instance.n_rows(); ++i) points_.add(instance.point(i));
    const double all = n_all_points(instance);
    const auto rows = static_cast<double>(instance.n_rows());
    complete_ = effort.whole_domains && all <= effort.all_points && all * rows <= effort.all_ways;
    if (complete_ && instance.anybody_moves()) add_all_points();
    if (!instance.anybody_moves() || complete_ || (effort.all_pairs && rows * rows <= most_pairs(instance, effort))) {
        reach_.update();
    } else {
        neighbours_.emplace(instance, rows_of(reach_), effort);
        prepare(infinity);
    }
    count_samples();
}

void Support::count_samples() {
    for (std::size_t i = 0; i < instance_.n_rows() && instance_.has_least_leaf(); ++i) {
        const auto home = static_cast<std::size_t>(points_.find(instance_.point(i)));
        if (home >= sizes_.size()) sizes_.resize(home + 1, 0.0);
        sizes_[home] += instance_.size(i);
    }
}

// Lower prices reach further, and come next as a rule: a little further will do for some of them.
void Support::prepare(double price) {
    if (!neighbours_ || (listed_ >= 0.0 && !instance_.anybody_moves_at(price))) return;
    const double reach = instance_.most_worth() / price;
    if (listed_ >= std::min(reach, neighbours_->farthest(1))) return;
    const double limit = 1.25 * reach;
    reach_.extend([&](std::size_t l, std::vector<Way>& found) {
        neighbours_->visit(reach_.first_row(l), limit, [&](const Bin* point, double cost) { found.push_back({cost, points_.add(point)}); });
    });
    listed_ = limit;
}

void Support::add_all_points() {
    std::vector<Bin> point(static_cast<std::size_t>(instance_.n_columns()), 0);
    while (true) {
        points_.add(point.data());
        std::size_t c = 0;
        while (c < point.size() && ++point[c] == instance_.column(static_cast<int>(c)).n_bins) point[c++] = 0;
        if (c == point.size()) return;
    }
}

void Support::add_wrong_points(const Evaluator& evaluator, double price) {
    if (complete_ || !effort_.wrong_points || points_.size() >= (neighbours_ ? effort_.most_ways_nearby : effort_.most_points)) return;
    std::vector<Bin> point(static_cast<std::size_t>(instance_.n_columns()));
    const std::vector<double>& margins = evaluator.margins();
    // Finds what is not known: a row's point, or nothing.
    const auto find = [&](std::size_t i) -> std::optional<Way> {
        if (!(margins[i] * price < instance_.worth(instance_.label(i)))) return {};
        const BoxCost& leaf = evaluator.wrong_leaf(i);
        if (neighbours_ && neighbours_->includes(leaf.moves(i), margins[i], listed_)) return {};
        leaf.nearest_point(i, point.data());
        return Way{margins[i], points_.add(point.data())};
    };
    if (neighbours_) {
        reach_.extend([&](std::size_t l, std::vector<Way>& found) {
            for (std::size_t i = reach_.first_row(l); i < reach_.end_row(l); ++i) {
                if (const std::optional<Way> way = find(i)) found.push_back(*way);
            }
        });
    } else {
        for (std::size_t i = 0; i < instance_.n_rows(); ++i) find(i);
        reach_.update();
    }
}

}  // namespace hardwood::search
