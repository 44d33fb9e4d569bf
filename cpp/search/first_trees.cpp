// Good trees before the search begins: the sum surrogate (theory, section 3) over a range of prices.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "search.h"

namespace hardwood::search {

namespace {

constexpr std::size_t beam = 6;
// How many prices are tried, and tried again: the deeper the trees, the dearer each.
int prices_for(int depth) { return depth <= 3 ? 8 : depth == 4 ? 6 : 4; }
int reruns_for(int depth) { return depth <= 4 ? 4 : 2; }

}  // namespace

// Every sample enters both sides of a test with its presence there, and losses add up instead of counting once. The
// largest loss is at most the sum, so the tree is at least as good as its surrogate says.
double Search::surrogate(const Region& region, double price, Skeleton& tree) {
    View view = view_of(instance_, region, price);
    for (std::size_t j = 0; j < region.size(); ++j) {
        view.weight[j] = region.points[j] == no_point ? 0.0 : instance_.count()[region.points[j]];
    }
    Relaxation relaxation(instance_.n_classes(), watch_);
    const int look_ahead = std::min(region.levels, 2);
    const Relaxed relaxed = relaxation.solve(view, look_ahead, 0.0);
    if (region.levels <= 1 || region.tests.empty()) {
        put_subtree(relaxed.best, region, tree);
        return relaxed.value;
    }
    std::vector<std::size_t> order(region.tests.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t t) { return relaxed.by_test[t]; });
    order.resize(std::min(order.size(), beam));
    double best = infinity;
    Skeleton best_tree = tree;
    for (const std::size_t t : order) {
        Skeleton candidate = tree;
        candidate[region.position] = {region.tests[t], 0};
        double value = 0.0;
        for (int side = 0; side < 2 && value < best; ++side) {
            const RegionPtr part = part_of(instance_, region, t, side, region.levels, price > 0 ? 1.0 / price : infinity);
            value += surrogate(*part, price, candidate);
        }
        if (value < best) {
            best = value;
            best_tree = candidate;
        }
        if (watch_.stopped()) break;
    }
    tree = best_tree;
    return best;
}

void Search::find_first_trees() {
    if (!options_.surrogate) return;
    const RegionPtr root = root_region(instance_, depth_);
    const auto try_price = [&](double price) {
        if (sharing_.fits()) {
            offer(sharing_.best_by_sum(*root, price));
            return;
        }
        Skeleton tree(std::size_t{2} << depth_);
        surrogate(*root, price, tree);
        offer(tree);
    };
    if (integral_) {
        try_price(0.0);
        return;
    }
    const double lowest = 1.0 / instance_.budget();
    double highest = 1.0 / instance_.smallest_price();
    if (shares()) highest = std::min(highest, std::max(lowest, highest_price(*root)));
    const int n_prices = prices_for(depth_);
    for (int k = 0; k < n_prices && !watch_.stopped(); ++k) {
        try_price(std::max(lowest, highest * std::pow(0.05, static_cast<double>(k) / (n_prices - 1))));
    }
    // At the price that suits the best tree, a still better one may be found; and so on.
    std::vector<double> tried;
    for (int k = 0; k < reruns_for(depth_) && best_.dual_price > 0 && !watch_.stopped(); ++k) {
        if (std::ranges::find(tried, best_.dual_price) != tried.end()) break;
        tried.push_back(best_.dual_price);
        try_price(best_.dual_price);
    }
}

// The dual value of a tree is at most what it gets right if nothing changes, less price times budget. So no tree beats the
// best so far at a price above (ordinary optimum - best) / budget.
double Search::highest_price(const Region& root) {
    Skeleton tree;
    const double most = instance_.n_samples() - sharing_.least_own_loss(root, 1.0 / instance_.smallest_price(), 0.0, tree);
    offer(tree);
    if (!watch_.has_stopped()) {
        upper_bound_ = std::min(upper_bound_, std::max(best_.correct, std::floor(most + instance_.rounding())));
    }
    return (most - best_.correct) / instance_.budget();
}

// Takes tests out of the best tree as long as it stays as robust.
void Search::shrink() {
    bool smaller = true;
    while (smaller && best_.tests > 0) {
        smaller = false;
        const Skeleton tree = best_.tree;
        const int tests = best_.tests;
        for (std::size_t at = 1; at < tree.size() / 2 && !smaller; ++at) {
            if (tree[at].test < 0) continue;
            bool reached = true;
            for (std::size_t above = at / 2; above >= 1; above /= 2) reached = reached && tree[above].test >= 0;
            if (!reached) continue;
            for (std::size_t c = 0; c < instance_.n_classes(); ++c) {
                Skeleton pruned = tree;
                pruned[at] = {-1, static_cast<int>(c)};
                offer(pruned);
            }
            for (std::size_t side = 0; side < 2; ++side) {
                Skeleton lifted = tree;
                graft(tree, 2 * at + side, lifted, at);
                offer(lifted);
            }
            smaller = best_.tests < tests;
        }
    }
}

}  // namespace hardwood::search
