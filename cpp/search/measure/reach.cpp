#include "reach.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hardwood::search {

namespace {

bool before(const Way& a, const Way& b) { return a.cost < b.cost || (a.cost == b.cost && a.point < b.point); }

}  // namespace

Reach::Reach(const Points& points, std::size_t most_ways) : points_(points), most_ways_(most_ways) {
    const Instance& instance = points.instance();
    const auto same = [&](std::size_t i, std::size_t k) {
        for (int c = 0; c < instance.n_columns(); ++c) {
            if (instance.kind(i, c) != instance.kind(k, c)) return false;
        }
        return true;
    };
    for (std::size_t i = 0; i < instance.n_rows(); ++i) {
        if (i == 0 || !same(i - 1, i)) row_begin_.push_back(static_cast<std::uint32_t>(i));
    }
    row_begin_.push_back(static_cast<std::uint32_t>(instance.n_rows()));
    level_begin_.assign(n_lists() + 1, 0);
    point_begin_.assign(n_lists() + 1, 0);
}

std::vector<Way> Reach::ways(std::size_t list) const {
    const List own = (*this)[list];
    std::vector<Way> ways;
    for (const Level& level : own.levels) {
        while (ways.size() < level.end) ways.push_back({level.cost, own.points[ways.size()]});
    }
    return ways;
}

void Reach::append(std::span<const Way> ways) {
    for (std::size_t k = 0; k < ways.size(); ++k) {
        points_of_.push_back(ways[k].point);
        if (k + 1 == ways.size() || ways[k + 1].cost != ways[k].cost) {
            levels_.push_back({ways[k].cost, static_cast<std::uint32_t>(k + 1)});
        }
    }
}

void Reach::append(const List& list) {
    levels_.insert(levels_.end(), list.levels.begin(), list.levels.end());
    points_of_.insert(points_of_.end(), list.points.begin(), list.points.end());
}

void Reach::extend(const std::function<void(std::size_t list, std::vector<Way>& found)>& find) {
    const std::vector<Level> old_levels = std::exchange(levels_, {});
    const std::vector<std::uint32_t> old_points = std::exchange(points_of_, {});
    // Mostly little is added: room for that, since vectors that grow take twice what they need.
    levels_.reserve(old_levels.size() + n_lists());
    points_of_.reserve(old_points.size() + n_lists());
    std::vector<Way> found, all;
    std::size_t level = 0, point = 0;  // where the list begins
    for (std::size_t l = 0; l < n_lists(); ++l) {
        const List old{{old_levels.data() + level, old_levels.data() + level_begin_[l + 1]},
                       {old_points.data() + point, old_points.data() + point_begin_[l + 1]}};
        level = level_begin_[l + 1];
        point = point_begin_[l + 1];
        found.clear();
        find(l, found);
        if (found.empty()) {
            append(old);
        } else {
            std::ranges::sort(found, before);
            all.clear();
            auto next = found.begin();
            std::size_t k = 0;
            for (const Level& of : old.levels) {
                for (; k < of.end; ++k) {
                    const Way way{of.cost, old.points[k]};
                    while (next != found.end() && before(*next, way)) all.push_back(*next++);
                    all.push_back(way);
                }
            }
            all.insert(all.end(), next, found.end());
            const auto repeated = std::ranges::unique(all, {}, &Way::point);  // a point costs what it costs
            all.erase(repeated.begin(), repeated.end());
            if (all.size() > most_ways_) all.resize(most_ways_);
            append(all);
        }
        level_begin_[l + 1] = levels_.size();
        point_begin_[l + 1] = points_of_.size();
        longest_ = std::max(longest_, point_begin_[l + 1] - point_begin_[l]);
    }
    levels_.shrink_to_fit();
    points_of_.shrink_to_fit();
}

// Points differ from the usual one in few columns, so a row's price of that one is corrected for these. In whole numbers, since
// prices that cannot be paid take part, too. One of them is enough to be out of reach, and all columns together must stay below 2^63:
// for whole samples, there are fewer than 2^15 columns (`most_tests_possible`) with 2^48 grains each, and a trifle. In part, grains may
// have to be larger, and prices are rounded up, which makes a row less present: that is valid (docs/theory.md#slices).
void Reach::update() {
    if (known_ == points_.size()) return;
    const Instance& instance = points_.instance();
    const double coarse = std::ldexp(instance.limit() * (instance.n_columns() + 1), -61);
    const double grain = instance.in_part() ? std::max(instance.grain(), coarse) : instance.grain() > 0 ? instance.grain() : 1.0;
    const auto out_of_reach = grain > 0 ? static_cast<std::int64_t>(instance.limit() / grain) + 2 : 1;
    const auto in_grains = [&](double cost) {
        if (cost == infinity) return out_of_reach;
        return cost == 0.0 ? std::int64_t{0} : static_cast<std::int64_t>(std::ceil(cost / grain));
    };
    std::vector<std::int64_t> correction(static_cast<std::size_t>(instance.n_bins()));
    const auto compare = [&](std::size_t l, std::vector<Way>& found) {
        const std::size_t row = first_row(l);
        std::int64_t usual = 0;
        for (int c = 0; c < instance.n_columns(); ++c) {
            const Column& column = instance.column(c);
            const double* const cost = column.cost_of(instance.kind(row, c));
            const std::int64_t stay = in_grains(cost[points_.usual(c)]);
            usual += stay;
            for (int b = 0; b < column.n_bins; ++b) {
                correction[static_cast<std::size_t>(column.first_bin + b)] = in_grains(cost[b]) - stay;
            }
        }
        const std::int64_t most = in_grains(instance.limit());
        for (std::size_t z = known_; z < points_.size(); ++z) {
            std::int64_t total = usual;
            for (const std::uint16_t bin : points_.unusual(z)) total += correction[bin];
            if (total <= most) found.push_back({static_cast<double>(total) * grain, static_cast<std::uint32_t>(z)});
        }
        if (found.size() > most_ways_) {
            std::ranges::nth_element(found, found.begin() + static_cast<std::ptrdiff_t>(most_ways_), before);
            found.resize(most_ways_);
        }
    };
    const auto stay = [&](std::size_t l, std::vector<Way>& found) {
        const std::int64_t own = points_.find(instance.point(first_row(l)));
        if (own >= 0) found.push_back({0.0, static_cast<std::uint32_t>(own)});
    };
    if (instance.anybody_moves()) {
        extend(compare);
    } else {
        extend(stay);
    }
    known_ = points_.size();
}

}  // namespace hardwood::search
