#include "support.h"

#include <algorithm>

namespace hardwood::search {

namespace {

double n_all_points(const Instance& instance) {
    double n = 1.0;
    for (int c = 0; c < instance.n_columns(); ++c) n *= instance.column(c).n_bins;
    return n;
}

}  // namespace

Support::Support(const Instance& instance, const Effort& effort)
    : instance_(instance),
      effort_(effort),
      points_(instance),
      reach_(points_, std::max<std::size_t>(64, effort.most_ways / std::max<std::size_t>(1, instance.n_rows()))) {
    for (std::size_t i = 0; i < instance.n_rows(); ++i) points_.add(instance.point(i));
    const double all = n_all_points(instance);
    complete_ = effort.whole_domains && all <= effort.all_points && all * static_cast<double>(instance.n_rows()) <= effort.all_ways;
    if (complete_ && instance.anybody_moves()) add_all_points();
    reach_.update();
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
    if (complete_ || !effort_.wrong_points || points_.size() >= effort_.most_points) return;
    std::vector<Bin> point(static_cast<std::size_t>(instance_.n_columns()));
    const std::vector<double>& margins = evaluator.margins();
    for (std::size_t i = 0; i < instance_.n_rows(); ++i) {
        if (!(margins[i] * price < 1.0)) continue;
        nearest_point(instance_, evaluator.wrong_leaf(i), i, point.data());
        points_.add(point.data());
    }
    reach_.update();
}

}  // namespace hardwood::search
