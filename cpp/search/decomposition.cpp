#include "decomposition.h"

#include <algorithm>
#include <cmath>

namespace hardwood::search {

namespace {

// The nearest point whose coordinates are at least 0 and add up to 1.
void project_to_simplex(std::vector<double>& v) {
    if (v.size() == 2) {
        const double first = std::clamp((v[0] - v[1] + 1.0) * 0.5, 0.0, 1.0);
        v[0] = first;
        v[1] = 1.0 - first;
        return;
    }
    std::vector<double> sorted = v;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    double sum = 0.0, shift = 0.0;
    for (std::size_t k = 0; k < sorted.size(); ++k) {
        sum += sorted[k];
        const double candidate = (sum - 1.0) / static_cast<double>(k + 1);
        if (sorted[k] > candidate) shift = candidate;
    }
    for (double& x : v) x = std::max(0.0, x - shift);
}

}  // namespace

void put_subtree(const Skeleton& subtree, const Region& region, Skeleton& tree) {
    graft(subtree, 1, tree, region.position);
}

Places::Places(const Instance& instance, const Node& node) : begin_(instance.n_points() + 1, 0) {
    std::size_t total = 0;
    for (const RegionPtr& region : node.open) {
        for (const std::size_t point : region->points) {
            if (point == no_point) continue;
            ++begin_[point + 1];
            ++total;
        }
    }
    for (std::size_t i = 0; i < instance.n_points(); ++i) begin_[i + 1] += begin_[i];
    places_.resize(total);
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t k = 0; k < node.open.size(); ++k) {
        const Region& region = *node.open[k];
        for (std::size_t j = 0; j < region.size(); ++j) {
            if (region.points[j] != no_point) places_[next[region.points[j]]++] = {k, j};
        }
    }
}

Meetings::Meetings(const Instance& instance, const Node& node, const Task& task, double price) {
    const Places all(instance, node);
    for (std::size_t i = 0; i < instance.n_points(); ++i) {
        if (task.weight[i] <= 0) continue;
        for (const Place& place : all.of(i)) {
            if (price * node.open[place.region]->cost[place.index] < 1.0) places_.push_back(place);
        }
        if (places_.size() < begin_.back() + 2) {
            places_.resize(begin_.back());
        } else {
            begin_.push_back(places_.size());
            weight_.push_back(task.weight[i]);
        }
    }
}

bool Meetings::step(const std::vector<const std::vector<double>*>& loss, double gain, Shares& shares) const {
    double norm = 0.0;
    for (std::size_t m = 0; m < size(); ++m) {
        double mean = 0.0;
        for (std::size_t z = begin(m); z < end(m); ++z) mean += (*loss[places_[z].region])[places_[z].index];
        mean /= static_cast<double>(end(m) - begin(m));
        for (std::size_t z = begin(m); z < end(m); ++z) {
            const Place& p = places_[z];
            const double direction = (*loss[p.region])[p.index] - mean;
            if (direction < 0 && shares[p.region][p.index] <= 0) continue;
            norm += weight_[m] * direction * direction;
        }
    }
    if (norm < 1e-12) return false;
    const double length = gain / norm;
    std::vector<double> moved;
    for (std::size_t m = 0; m < size(); ++m) {
        moved.clear();
        for (std::size_t z = begin(m); z < end(m); ++z) {
            const Place& p = places_[z];
            moved.push_back(shares[p.region][p.index] + length * (*loss[p.region])[p.index]);
        }
        project_to_simplex(moved);
        for (std::size_t z = begin(m); z < end(m); ++z) shares[places_[z].region][places_[z].index] = moved[z - begin(m)];
    }
    return true;
}

// The shares of the nearest price that was tried here or at the parent; otherwise most of a point goes to the region
// where it is cheapest, and some to the region where it is cheapest next.
Shares Decomposition::first_shares(const Node& node, double price, const Shares* start) const {
    const Shares* known = start;
    double distance = infinity;
    for (const PriceBound& bound : node.bounds) {
        if (start == nullptr && !bound.shares.empty() && std::abs(bound.price - price) < distance) {
            distance = std::abs(bound.price - price);
            known = &bound.shares;
        }
    }
    if (known == nullptr) {
        for (const auto& [known_price, shares] : node.inherited_shares) {
            if (std::abs(known_price - price) < distance) {
                distance = std::abs(known_price - price);
                known = &shares;
            }
        }
    }
    Shares shares(node.open.size());
    for (std::size_t k = 0; k < shares.size(); ++k) shares[k].assign(node.open[k]->size(), 0.0);
    const Places all(instance_, node);
    for (std::size_t i = 0; i < instance_.n_points(); ++i) {
        const std::span<const Place> places = all.of(i);
        if (places.empty()) continue;
        auto cost = [&](const Place& p) { return node.open[p.region]->cost[p.index]; };
        const auto nearest = *std::ranges::min_element(places, {}, cost);
        double given = 0.0;
        for (const auto& p : places) {
            if (price * cost(p) >= 1.0) continue;
            if (known != nullptr) {
                shares[p.region][p.index] = (*known)[p.region][p.index];
                given += shares[p.region][p.index];
            }
        }
        if (known != nullptr) {
            shares[nearest.region][nearest.index] += std::max(0.0, 1.0 - given);
            continue;
        }
        const Place* next = nullptr;
        for (const auto& p : places) {
            if (p.region == nearest.region || price * cost(p) >= 1.0) continue;
            if (next == nullptr || cost(p) < cost(*next)) next = &p;
        }
        const double other = next == nullptr ? 0.0 : 0.5 * (1.0 - price * cost(*next));
        shares[nearest.region][nearest.index] = 1.0 - other;
        if (next != nullptr) shares[next->region][next->index] = other;
    }
    return shares;
}

Relaxed Decomposition::relax(const Region& region, View& view, const std::vector<double>& shares, const Task& task) {
    for (std::size_t j = 0; j < region.size(); ++j) {
        view.weight[j] = region.points[j] == no_point ? 0.0 : shares[j] * task.weight[region.points[j]];
    }
    return relaxation_.solve(view, region.levels, task.test_price);
}

void Decomposition::relaxed_losses(const Region& region, const View& view, const Skeleton& best,
                                   std::vector<double>& loss) const {
    std::vector<std::size_t> row(instance_.tests().size(), 0);
    for (std::size_t t = 0; t < region.tests.size(); ++t) row[static_cast<std::size_t>(region.tests[t])] = t;
    loss.assign(region.size(), 0.0);
    for (std::size_t j = 0; j < region.size(); ++j) {
        if (region.points[j] == no_point || view.own[j] <= 0) continue;
        const int label = static_cast<int>(instance_.label(region.points[j]));
        std::size_t at = 1;
        int levels = region.levels;
        while (levels > 1 && best[at].test >= 0) {
            at = 2 * at + (view.side[row[static_cast<std::size_t>(best[at].test)] * view.n + j] > 0 ? 1 : 0);
            --levels;
        }
        if (best[at].test < 0) {
            loss[j] = best[at].label != label ? view.own[j] : 0.0;
            continue;
        }
        const std::size_t place = row[static_cast<std::size_t>(best[at].test)] * view.n + j;
        const std::size_t own = 2 * at + (view.side[place] > 0 ? 1 : 0);
        if (best[own].label != label) {
            loss[j] = view.own[j];
        } else if (best[own ^ 1].label != label) {
            loss[j] = view.cross[place];
        }
    }
}

PriceBound Decomposition::bound(const Node& node, double price, Task& task, double target, int iterations,
                                const Shares* start) {
    const std::size_t n_regions = node.open.size();
    PriceBound result;
    result.price = price;
    result.by_leaf.assign(n_regions, -infinity);
    std::vector<View> views;
    for (const RegionPtr& region : node.open) {
        views.push_back(view_of(instance_, *region, price));
        result.by_test.emplace_back(region->tests.size(), -infinity);
    }
    const Meetings meetings(instance_, node, task, price);
    Shares shares = first_shares(node, price, start);
    if (meetings.size() == 0) iterations = 1;
    std::vector<std::vector<double>> loss(n_regions);
    std::vector<const std::vector<double>*> loss_of(n_regions);
    double stretch = 1.0;
    int stalled = 0;
    const double fixed_price = task.test_price * node.n_tests;
    for (int iteration = 0; iteration < iterations; ++iteration) {
        double value = fixed_price;
        std::vector<Relaxed> relaxed;
        for (std::size_t k = 0; k < n_regions; ++k) {
            relaxed.push_back(relax(*node.open[k], views[k], shares[k], task));
            value += relaxed[k].value;
        }
        // Any shares are valid, so each test on top of each region keeps the best bound over the iterations: the other
        // regions keep their least losses.
        for (std::size_t k = 0; k < n_regions; ++k) {
            const double others = value - relaxed[k].value;
            for (std::size_t t = 0; t < relaxed[k].by_test.size(); ++t) {
                result.by_test[k][t] = std::max(result.by_test[k][t], others + relaxed[k].by_test[t]);
            }
            result.by_leaf[k] = std::max(result.by_leaf[k], others + relaxed[k].leaf);
        }
        stalled = value > result.value + 0.02 * std::max(1.0, target - value) ? 0 : stalled + 1;
        if (value > result.value) {
            result.value = value;
            result.shares = shares;
        }
        if (result.value >= target || watch_.stopped()) break;
        const bool last = iteration + 1 == iterations || stalled >= 3;
        if (last || task.offer_often) {
            Skeleton tree = node.fixed;
            for (std::size_t k = 0; k < n_regions; ++k) put_subtree(relaxed[k].best, *node.open[k], tree);
            task.offer(tree);
        }
        if (last) break;
        for (std::size_t k = 0; k < n_regions; ++k) {
            relaxed_losses(*node.open[k], views[k], relaxed[k].best, loss[k]);
            loss_of[k] = &loss[k];
        }
        if (stalled >= 2) stretch *= 0.6;
        if (!meetings.step(loss_of, stretch * (target - value + 0.3), shares)) break;
    }
    return result;
}

}  // namespace hardwood::search
