// The questions that prove a tree optimal: is there a better one with at most so many tests?
#include <algorithm>
#include <cmath>

#include "search.h"

namespace hardwood::search {

namespace {

constexpr double affordable = 3e9;  // products for one bound at the root

}  // namespace

// A tree with n tests is better iff it keeps more than to_beat(n) samples correct, a staircase that rises with n. Each
// step of it, with the largest n on the step, is one question; a better tree starts them anew.
void Search::prove() {
    const int full = all_tests();
    int tests = full;
    double asked = best_.correct - penalty_ * best_.tests;
    while (tests >= 0 && !watch_.stopped()) {
        const double rival = to_beat(tests);
        if (rival < upper_bound_) {
            const bool settled = settle(rival, tests);
            if (tests == full) {  // what was asked about all trees also bounds the number of correct samples
                const double most = settled ? rival_ : std::max(rival_, std::ceil(open_bound_));
                upper_bound_ = std::min(upper_bound_, std::max(best_.correct, most));
            }
            if (!settled) return;
        }
        shrink();
        const double objective = best_.correct - penalty_ * best_.tests;
        if (objective > asked) {
            asked = objective;
            tests = full;
            continue;
        }
        const double step = to_beat(tests);
        while (tests >= 0 && to_beat(tests) >= step) --tests;
    }
    proved_ = !watch_.stopped();
}

bool Search::settle(double rival, int tests) {
    // Where many tests are allowed but not all, small trees come first: they are few, and one of them may be enough.
    std::vector<int> limits{tests};
    if (tests > 7 && tests < all_tests()) limits = {3, 7, tests};
    for (const int limit : limits) {
        if (rival >= settled_rival_ && limit <= settled_tests_) continue;
        if (!close(rival, limit)) return false;
        if (to_beat(tests) != rival) return true;
        settled_rival_ = rival;
        settled_tests_ = limit;
    }
    return true;
}

bool Search::close(double rival, int most_tests) {
    rival_ = rival;
    most_tests_ = most_tests;
    test_price = 0.0;
    open_bound_ = -infinity;
    Node root;
    root.fixed.resize(std::size_t{2} << depth_);
    root.open.push_back(root_region(instance_, std::min(depth_, most_tests)));
    // The best price of a tree is 1 / margin for a margin that the budget covers, or 0 if all margins together cost no
    // more than the budget. In that case correct = dual(0) <= dual(1 / budget) + 1, so a tree that beats the rival has
    // dual(1 / budget) >= rival; the goal lies above by the rounding, so that no bound closes this price for it.
    const double highest = integral_ ? 0.0 : 1.0 / instance_.smallest_price();
    const double lowest = integral_ ? 0.0 : 1.0 / instance_.budget();
    root.alive = {{lowest, std::max(lowest, highest)}};
    if (most_tests < all_tests()) test_price = price_of_tests(root);
    if (shares() || cost_of(root) < affordable) evaluate(root, false);
    if (shares() && depth_ > 3 && !root.alive.empty() && !watch_.stopped()) evaluate(root, true);
    if (watch_.stopped()) {
        leave_open(dual_bound(root));
    } else if (!root.alive.empty()) {
        expand_root(root);
    }
    pending_.clear();
    return open_bound_ == -infinity;
}

// A limit on the number of tests is priced: with p for each test, a tree within the limit has a loss below the goal only
// if loss + p * tests < goal + p * limit. Any p is valid; taken is the one whose bounds at the root miss their goals by the
// least, over a range of prices.
double Search::price_of_tests(const Node& root) {
    if (cost_of(root) > affordable / (shares() && root.levels() == 3 ? 1 : 100)) return 0.5;
    const auto bound = [&](double price) {
        return shares() ? sharing_.quick_bound(root, price, *this)
                        : decomposition_.bound(root, price, *this, infinity, 1).value;
    };
    std::vector<double> prices;
    for (const double part : {0.0, 0.5, 1.0}) {
        const Interval& range = root.alive.front();
        prices.push_back(integral_ ? 0.0 : range.low * std::pow(range.high / range.low, part));
        if (integral_) break;
    }
    double best = 0.5, least_missing = infinity;
    for (double candidate = 0.25; candidate <= 4.0 && !watch_.stopped(); candidate *= 2.0) {
        test_price = candidate;
        double missing = 0.0;
        for (const double price : prices) {
            missing = std::max(missing, goal(price) - bound(price));
        }
        if (missing < least_missing) {
            least_missing = missing;
            best = candidate;
        }
    }
    return best;
}

}  // namespace hardwood::search
