#include "region.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace hardwood::search {

namespace {

struct Present {
    std::size_t point;
    double cost;
};

void place_points(const Instance& instance, const std::vector<Present>& present, Region& region) {
    region.class_begin.assign(instance.n_classes() + 1, 0);
    for (std::size_t c = 0; c < instance.n_classes(); ++c) {
        region.class_begin[c] = region.points.size();
        for (const Present& p : present) {
            if (instance.label(p.point) != c) continue;
            region.points.push_back(p.point);
            region.cost.push_back(p.cost);
        }
        while (region.points.size() % lanes != 0) {
            region.points.push_back(no_point);
            region.cost.push_back(infinity);
        }
    }
    region.class_begin[instance.n_classes()] = region.points.size();
}

// A price by category of crossing a test depends on which categories the tests in between leave. Bounds look at tests
// inside the region without making the parts, so they need a price that is at least the true one whatever is left.
void make_safe(const Instance& instance, const Region& region, const Test& test, const Limit& other, double* cross) {
    const FeaturePrices& prices = instance.prices(test.feature);
    if (prices.columns == 1 || region.levels < 2) return;
    const LimitPrice old_price = instance.price_of(region.limits[test.feature]);
    for (std::size_t j = 0; j < region.size(); ++j) {
        if (region.points[j] == no_point) continue;
        double dearest = 0.0;
        for (std::size_t k = 0; k < other.allowed.size(); ++k) {
            if (!other.allowed[k]) continue;
            Limit single = other;
            std::ranges::fill(single.allowed, std::uint8_t{0});
            single.allowed[k] = 1;
            dearest = std::max(dearest, evaluate(instance.price_of(single), region.points[j]));
        }
        const double price = region.cost[j] - evaluate(old_price, region.points[j]) + dearest;
        cross[j] = std::max(cross[j], price <= instance.budget() ? price : infinity);
    }
}

// The prices of a test on another feature than the one that a region was split on: as in the whole, plus what it costs more
// to be in this part. Prices are whole multiples of a power of two, so nothing is rounded.
void copy_test(const Instance& instance, const Region& whole, const std::vector<std::size_t>& place, std::size_t k,
               Region& region) {
    region.tests.push_back(whole.tests[k]);
    const std::size_t begin = region.side.size();
    region.side.resize(begin + region.size(), 0.0);
    region.cross.resize(begin + region.size(), infinity);
    for (std::size_t j = 0; j < region.size(); ++j) {
        if (region.points[j] == no_point) continue;
        const std::size_t from = place[j];
        region.side[begin + j] = whole.side[k * whole.size() + from];
        const double price = whole.cross[k * whole.size() + from] + (region.cost[j] - whole.cost[from]);
        region.cross[begin + j] = price <= instance.budget() ? price : infinity;
    }
}

void add_test(const Instance& instance, std::size_t t, Region& region) {
    const Test& test = instance.tests()[t];
    const Limit left = instance.restricted(region.limits[test.feature], test, 0);
    const Limit right = instance.restricted(region.limits[test.feature], test, 1);
    if (instance.empty(left) || instance.empty(right)) return;
    region.tests.push_back(static_cast<int>(t));
    const std::size_t begin = region.side.size();
    region.side.resize(begin + region.size(), 0.0);
    region.cross.resize(begin + region.size(), infinity);
    double* side = region.side.data() + begin;
    double* cross = region.cross.data() + begin;
    std::visit(
        [&](const auto& to_left, const auto& to_right) {
            for (std::size_t j = 0; j < region.size(); ++j) {
                const std::size_t point = region.points[j];
                if (point == no_point) continue;
                // The cheaper side costs what the region costs: the region is the union of the two.
                const double l = to_left(point), r = to_right(point);
                const double price = region.cost[j] + (std::max(l, r) - std::min(l, r));
                side[j] = l <= r ? 0.0 : 1.0;
                cross[j] = price <= instance.budget() ? price : infinity;
            }
        },
        instance.price_of(left), instance.price_of(right));
    make_safe(instance, region, test, left, cross);
    make_safe(instance, region, test, right, cross);
}

void add_tests(const Instance& instance, Region& region) {
    if (region.levels == 0) return;
    for (std::size_t t = 0; t < instance.tests().size(); ++t) add_test(instance, t, region);
}

}  // namespace

void graft(const Skeleton& from, std::size_t source, Skeleton& to, std::size_t target) {
    to[target] = from[source];
    if (from[source].test < 0) return;
    graft(from, 2 * source, to, 2 * target);
    graft(from, 2 * source + 1, to, 2 * target + 1);
}

RegionPtr root_region(const Instance& instance, int levels) {
    auto region = std::make_shared<Region>();
    region->levels = levels;
    for (std::size_t f = 0; f < instance.n_features(); ++f) region->limits.push_back(instance.open_limit(f));
    std::vector<Present> present;
    for (std::size_t p = 0; p < instance.n_points(); ++p) present.push_back({p, 0.0});
    place_points(instance, present, *region);
    add_tests(instance, *region);
    return region;
}

RegionPtr only(const Instance& instance, const Region& region, const std::vector<bool>& wanted) {
    auto part = std::make_shared<Region>();
    part->position = region.position;
    part->levels = region.levels;
    part->limits = region.limits;
    part->tests = region.tests;
    std::vector<Present> present;
    std::vector<std::size_t> place(instance.n_points(), no_point);
    for (std::size_t j = 0; j < region.size(); ++j) {
        if (!wanted[j]) continue;
        present.push_back({region.points[j], region.cost[j]});
        place[region.points[j]] = j;
    }
    place_points(instance, present, *part);
    part->side.resize(region.tests.size() * part->size(), 0.0);
    part->cross.resize(region.tests.size() * part->size(), infinity);
    for (std::size_t t = 0; t < region.tests.size(); ++t) {
        for (std::size_t j = 0; j < part->size(); ++j) {
            if (part->points[j] == no_point) continue;
            const std::size_t from = t * region.size() + place[part->points[j]];
            part->side[t * part->size() + j] = region.side[from];
            part->cross[t * part->size() + j] = region.cross[from];
        }
    }
    return part;
}

RegionPtr part_of(const Instance& instance, const Region& region, std::size_t k, int side, int most_levels,
                  double ceiling) {
    const Test& test = instance.tests()[static_cast<std::size_t>(region.tests[k])];
    auto part = std::make_shared<Region>();
    part->position = 2 * region.position + static_cast<std::size_t>(side);
    part->levels = std::max(0, std::min(region.levels - 1, most_levels));
    part->limits = region.limits;
    part->limits[test.feature] = instance.restricted(region.limits[test.feature], test, side);
    const LimitPrice old_price = instance.price_of(region.limits[test.feature]);
    const LimitPrice new_price = instance.price_of(part->limits[test.feature]);
    std::vector<Present> present;
    for (std::size_t j = 0; j < region.size(); ++j) {
        if (region.points[j] == no_point) continue;
        const double cost =
            region.cost[j] + (evaluate(new_price, region.points[j]) - evaluate(old_price, region.points[j]));
        if (cost <= instance.budget() && cost < ceiling) present.push_back({region.points[j], cost});
    }
    place_points(instance, present, *part);
    if (part->levels == 0) return part;
    std::vector<std::size_t> place_of(instance.n_points(), no_point), place(part->size(), no_point);
    for (std::size_t j = 0; j < region.size(); ++j) {
        if (region.points[j] != no_point) place_of[region.points[j]] = j;
    }
    for (std::size_t j = 0; j < part->size(); ++j) {
        if (part->points[j] != no_point) place[j] = place_of[part->points[j]];
    }
    part->side.reserve(region.tests.size() * part->size());
    part->cross.reserve(region.tests.size() * part->size());
    for (std::size_t t = 0; t < region.tests.size(); ++t) {
        const std::size_t feature = instance.tests()[static_cast<std::size_t>(region.tests[t])].feature;
        // Prices by category may be larger in the whole than they have to be, see `make_safe`.
        if (feature != test.feature && instance.prices(feature).columns == 1) {
            copy_test(instance, region, place, t, *part);
        } else {
            add_test(instance, static_cast<std::size_t>(region.tests[t]), *part);
        }
    }
    return part;
}

}  // namespace hardwood::search
