#include "completion.h"

#include <algorithm>
#include <numeric>

namespace hardwood::search {

Completion::Completion(const Instance& instance, const Node& node, const PriceBound& bound, Task& task,
                       double goal_price, Watch& watch)
    : instance_(instance), node_(node), task_(task), goal_price_(goal_price), watch_(watch), tree_(node.fixed) {
    const std::size_t n_regions = node.open.size();
    used_.assign(n_regions + 1, std::vector<double>(instance.n_points(), 0.0));
    largest_ = used_;
    for (std::size_t k = 0; k < n_regions; ++k) {
        const Region& region = *node.open[k];
        views_.push_back(view_of(instance, region, bound.price));
        for (std::size_t j = 0; j < region.size(); ++j) {
            if (region.points[j] == no_point) continue;
            views_[k].weight[j] = bound.shares[k][j] * task.weight[region.points[j]];
        }
        list_options(k);
    }
    order_.resize(n_regions);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const double slack = task.goal(goal_price) -
                         std::accumulate(least_.begin(), least_.end(), task.test_price * node.n_tests);
    for (std::size_t k = 0; k < n_regions; ++k) {
        std::erase_if(options_[k], [&](const Option& option) { return option.value >= least_[k] + slack; });
    }
    std::ranges::stable_sort(order_, {}, [&](std::size_t k) { return options_[k].size(); });
    rest_.assign(n_regions + 1, 0.0);
    for (std::size_t z = n_regions; z-- > 0;) rest_[z] = rest_[z + 1] + least_[order_[z]];
    for (std::size_t z = 0; z < n_regions; ++z) {
        const std::size_t k = order_[z];
        used_[z + 1] = used_[z];
        for (std::size_t j = 0; j < node.open[k]->size(); ++j) {
            if (node.open[k]->points[j] != no_point) used_[z + 1][node.open[k]->points[j]] += bound.shares[k][j];
        }
    }
}

void Completion::list_options(std::size_t k) {
    const View& view = views_[k];
    const std::size_t n_classes = instance_.n_classes();
    std::vector<double> here(n_classes, 0.0);
    double total = 0.0;
    for (std::size_t c = 0; c < n_classes; ++c) {
        for (std::size_t j = view.class_begin[c]; j < view.class_begin[c + 1]; ++j) here[c] += view.weight[j] * view.own[j];
        total += here[c];
    }
    std::vector<Option> options;
    for (std::size_t c = 0; c < n_classes; ++c) {
        options.push_back({total - here[c], -1, static_cast<int>(c), static_cast<int>(c)});
    }
    std::vector<double> saved[2] = {std::vector<double>(n_classes), std::vector<double>(n_classes)};
    for (std::size_t t = 0; t < view.n_tests() && node_.open[k]->levels > 0; ++t) {
        for (std::size_t c = 0; c < n_classes; ++c) {
            saved[0][c] = saved[1][c] = 0.0;
            for (std::size_t j = view.class_begin[c]; j < view.class_begin[c + 1]; ++j) {
                const std::size_t place = t * view.n + j;
                saved[view.side[place] > 0][c] += view.weight[j] * (view.own[j] - view.cross[place]);
            }
        }
        for (std::size_t p = 0; p < n_classes; ++p) {
            for (std::size_t q = 0; q < n_classes; ++q) {
                if (p == q) continue;
                options.push_back({total - saved[0][p] - saved[1][q] + task_.test_price, static_cast<int>(t),
                                   static_cast<int>(p), static_cast<int>(q)});
            }
        }
    }
    std::ranges::stable_sort(options, {}, &Option::value);
    least_.push_back(options.front().value);
    options_.push_back(std::move(options));
}

void Completion::run() { descend(0, task_.test_price * node_.n_tests); }

void Completion::add_losses(std::size_t k, const Option& option, std::vector<double>& largest) const {
    const View& view = views_[k];
    const Region& region = *node_.open[k];
    for (std::size_t j = 0; j < region.size(); ++j) {
        if (region.points[j] == no_point) continue;
        const int label = static_cast<int>(instance_.label(region.points[j]));
        double loss = 0.0;
        if (option.row < 0) {
            loss = label != option.left ? view.own[j] : 0.0;
        } else {
            const std::size_t place = static_cast<std::size_t>(option.row) * view.n + j;
            const bool right = view.side[place] > 0;
            if (label != (right ? option.right : option.left)) {
                loss = view.own[j];
            } else if (label != (right ? option.left : option.right)) {
                loss = view.cross[place];
            }
        }
        double& most = largest[region.points[j]];
        most = std::max(most, loss);
    }
}

void Completion::put(std::size_t k, const Option& option) {
    const std::size_t at = node_.open[k]->position;
    if (option.row < 0) {
        tree_[at] = {-1, option.left};
        return;
    }
    tree_[at] = {node_.open[k]->tests[static_cast<std::size_t>(option.row)], 0};
    tree_[2 * at] = {-1, option.left};
    tree_[2 * at + 1] = {-1, option.right};
}

void Completion::descend(std::size_t depth, double tests) {
    if (depth == order_.size()) {
        task_.offer(tree_);
        return;
    }
    const std::size_t k = order_[depth];
    double so_far = tests;  // least loss of the choices made, given the shares they have used
    for (std::size_t i = 0; i < used_[depth].size(); ++i) so_far += task_.weight[i] * used_[depth][i] * largest_[depth][i];
    for (const Option& option : options_[k]) {
        if (watch_.stopped()) return;
        if (so_far + option.value + rest_[depth + 1] >= task_.goal(goal_price_)) break;
        largest_[depth + 1] = largest_[depth];
        add_losses(k, option, largest_[depth + 1]);
        const double with_test = tests + (option.row < 0 ? 0.0 : task_.test_price);
        double value = with_test + rest_[depth + 1];
        const bool last = depth + 1 == order_.size();
        for (std::size_t i = 0; i < used_[depth + 1].size(); ++i) {
            value += task_.weight[i] * (last ? 1.0 : used_[depth + 1][i]) * largest_[depth + 1][i];
        }
        if (value >= task_.goal(goal_price_)) continue;
        put(k, option);
        descend(depth + 1, with_test);
    }
}

}  // namespace hardwood::search
