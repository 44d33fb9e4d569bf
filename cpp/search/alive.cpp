// The prices at which a node may have a better tree.
#include <algorithm>
#include <utility>

#include "search.h"

namespace hardwood::search {

namespace {

void subtract(std::vector<Interval>& alive, double low, double high) {
    std::vector<Interval> left;
    for (const Interval& interval : alive) {
        if (high < interval.low || low > interval.high) {
            left.push_back(interval);
            continue;
        }
        if (interval.low < low) left.push_back({interval.low, low});
        if (interval.high > high) left.push_back({high, interval.high});
    }
    alive = std::move(left);
}

}  // namespace

// With a bound at a price: every lower price down to a distance of gap / budget is closed, because losses fall with the
// price; and every higher price up to price * rival / (rival - gap), because the dual value of a tree is concave in the
// price and not negative at 0, so that its ratio to the price falls.
void Search::discard(std::vector<Interval>& alive, double price, double value) const {
    const double gap = value - goal(price);
    if (gap < 0) return;
    if (integral_) {
        alive.clear();
        return;
    }
    double high = price;
    if (options_.right_discard && test_price == 0.0 && gap > 0) {
        high = rival_ > gap ? price * (rival_ / (rival_ - gap)) * (1.0 - 1e-12) : infinity;
    }
    subtract(alive, price - gap / instance_.budget() * (1.0 - 1e-12), std::max(high, price));
}

// The largest dual value that a completion of the node may have at a price that is alive: between two known prices, the
// loss is at least what is known at the higher one or beyond. The rounding makes it exceed every dual value strictly, so
// that the next whole number also covers trees whose best price is 0 (see `close`).
double Search::dual_bound(const Node& node) const {
    std::vector<std::pair<double, double>> known = node.inherited;
    for (const PriceBound& bound : node.bounds) known.emplace_back(bound.price, bound.value);
    std::ranges::sort(known);
    for (std::size_t z = known.size(); z-- > 1;) known[z - 1].second = std::max(known[z - 1].second, known[z].second);
    const double fixed = instance_.n_samples() + instance_.rounding() + test_price * most_tests_;
    double bound = rival_;
    for (const Interval& interval : node.alive) {
        double from = interval.low;
        bool covered = false;
        for (const auto& [price, value] : known) {
            if (price < from || from > interval.high) continue;
            bound = std::max(bound, fixed - from * instance_.budget() - value);
            from = price;
            covered = true;
        }
        if (!covered || from < interval.high) bound = std::max(bound, fixed - from * instance_.budget());
    }
    return bound;
}

bool Search::is_closed(const Node& node, std::size_t region, std::size_t test, double price) const {
    return std::ranges::none_of(child_alive(node, region, test), [&](const Interval& interval) {
        return interval.low <= price && price <= interval.high;
    });
}

// Every completion has some test on top of each open region, so only prices at which one of them is alive are. (A leaf counts
// as a test with leaves of the same label, which bounds for two and more levels allow; a last test has two labels.)
void Search::narrow(Node& node) const {
    for (std::size_t k = 0; k < node.open.size(); ++k) {
        if (node.open[k]->levels < 2 || node.open[k]->tests.empty()) continue;
        std::vector<Interval> pieces;
        const auto add = [&](std::size_t test) {
            for (const Interval& interval : child_alive(node, k, test)) pieces.push_back(interval);
        };
        for (std::size_t t = 0; t < node.open[k]->tests.size(); ++t) add(t);
        if (test_price > 0) add(no_point);
        std::ranges::sort(pieces, {}, &Interval::low);
        std::vector<Interval> alive;
        for (const Interval& piece : pieces) {
            if (!alive.empty() && piece.low <= alive.back().high) {
                alive.back().high = std::max(alive.back().high, piece.high);
            } else {
                alive.push_back(piece);
            }
        }
        node.alive = std::move(alive);
    }
}

std::vector<Interval> Search::child_alive(const Node& node, std::size_t region, std::size_t test) const {
    std::vector<Interval> alive = node.alive;
    for (const PriceBound& bound : node.bounds) {
        const double child = test == no_point ? bound.by_leaf[region] : bound.by_test[region][test];
        discard(alive, bound.price, options_.child_bounds ? std::max(bound.value, child) : bound.value);
    }
    return alive;
}

// Closes the prices that a better rival closes, too.
void Search::refresh(Node& node) const {
    for (const PriceBound& bound : node.bounds) discard(node.alive, bound.price, bound.value);
}

}  // namespace hardwood::search
