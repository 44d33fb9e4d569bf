#include "relaxation.h"

#include <algorithm>

#include "kernels.h"

namespace hardwood::search {

namespace {

double presence(double cost, double price) { return cost < infinity ? std::max(0.0, 1.0 - price * cost) : 0.0; }

// The points of a view that carry weight and are wanted.
template <typename Wanted>
View subset(const View& view, const Wanted& wanted) {
    View part;
    part.n_classes = view.n_classes;
    part.tests = view.tests;
    std::vector<std::size_t> chosen;
    for (std::size_t c = 0; c < view.n_classes; ++c) {
        part.class_begin.push_back(chosen.size());
        for (std::size_t j = view.class_begin[c]; j < view.class_begin[c + 1]; ++j) {
            if (view.weight[j] > 0 && view.own[j] > 0 && wanted(j)) chosen.push_back(j);
        }
        while (chosen.size() % lanes != 0) chosen.push_back(no_point);
    }
    part.class_begin.push_back(chosen.size());
    part.n = chosen.size();
    part.weight.assign(part.n, 0.0);
    part.own.assign(part.n, 0.0);
    part.own_side.assign(part.n * view.n_tests(), 0.0);
    part.side = part.own_side.data();
    part.cross.assign(part.n * view.n_tests(), 0.0);
    part.crossed = view.crossed;
    for (std::size_t j = 0; j < part.n; ++j) {
        if (chosen[j] == no_point) continue;
        part.weight[j] = view.weight[chosen[j]];
        part.own[j] = view.own[chosen[j]];
    }
    for (std::size_t t = 0; t < view.n_tests(); ++t) {
        for (std::size_t j = 0; j < part.n; ++j) {
            if (chosen[j] != no_point) part.own_side[t * part.n + j] = view.side[t * view.n + chosen[j]];
        }
        if (!view.crossed[t]) continue;
        for (std::size_t j = 0; j < part.n; ++j) {
            if (chosen[j] != no_point) part.cross[t * part.n + j] = view.cross[t * view.n + chosen[j]];
        }
    }
    return part;
}

// The points of a view that stay on one side of a test.
View side_of(const View& view, std::size_t k, double side) {
    const double* sides = view.side + k * view.n;
    return subset(view, [&](std::size_t j) { return sides[j] == side; });
}

}  // namespace

View view_of(const Instance& instance, const Region& region, double price) {
    View view;
    view.n_classes = instance.n_classes();
    view.n = region.size();
    view.tests = &region.tests;
    view.class_begin = region.class_begin;
    view.weight.assign(view.n, 0.0);
    view.own.resize(view.n);
    std::transform(region.cost.begin(), region.cost.end(), view.own.begin(),
                   [price](double cost) { return presence(cost, price); });
    view.side = region.side.data();
    view.cross.assign(region.cross.size(), 0.0);
    view.crossed.assign(region.tests.size(), 0);
    for (std::size_t t = 0; t < region.tests.size(); ++t) {
        const auto row = static_cast<std::ptrdiff_t>(t * view.n);
        const auto begin = region.cross.begin() + row, end = begin + static_cast<std::ptrdiff_t>(view.n);
        if (view.n == 0 || price * *std::min_element(begin, end) >= 1.0) continue;
        view.crossed[t] = 1;
        std::transform(begin, end, view.cross.begin() + row, [price](double cost) { return presence(cost, price); });
    }
    return view;
}

Relaxed Relaxation::solve(const View& view, int levels, double node_price, double cutoff) {
    Relaxed result;
    result.best.resize(std::size_t{2} << levels);
    result.leaf = leaf(view, result.best[1]);
    result.value = result.leaf;
    result.by_test.assign(view.n_tests(), infinity);
    if (levels == 0 || view.n_tests() == 0) return result;
    if (levels == 1) {
        last_level(view, node_price, result);
    } else if (levels == 2) {
        const auto idle = std::ranges::count(view.weight, 0.0);
        if (4 * static_cast<std::size_t>(idle) > view.n) {
            two_levels(subset(view, [](std::size_t) { return true; }), node_price, result);
        } else {
            two_levels(view, node_price, result);
        }
    } else {
        more_levels(view, levels, node_price, cutoff, result);
    }
    return result;
}

double Relaxation::leaf(const View& view, Choice& choice) const {
    double total = 0.0, best = -1.0;
    for (std::size_t c = 0; c < n_classes_; ++c) {
        double sum = 0.0;
        for (std::size_t j = view.class_begin[c]; j < view.class_begin[c + 1]; ++j) sum += view.weight[j] * view.own[j];
        total += sum;
        if (sum > best) {
            best = sum;
            choice = {-1, static_cast<int>(c)};
        }
    }
    return std::max(0.0, total - best);
}

// A sample on the left is lost if its class is not p, and by crossing if it is p; so the pair saves
// own_left[p] - cross_left[p] + own_right[q] - cross_right[q] of the total.
LeafPair best_pair(std::size_t n_classes, const double* own_left, const double* cross_left, const double* own_right,
                   const double* cross_right, double total) {
    double first = -infinity, second = -infinity;
    int first_class = 0, second_class = 0;
    for (std::size_t c = 0; c < n_classes; ++c) {
        const double saved = own_right[c] - cross_right[c];
        if (saved > first) {
            second = first;
            second_class = first_class;
            first = saved;
            first_class = static_cast<int>(c);
        } else if (saved > second) {
            second = saved;
            second_class = static_cast<int>(c);
        }
    }
    LeafPair best{infinity, 0, 0};
    for (std::size_t c = 0; c < n_classes; ++c) {
        const bool taken = first_class == static_cast<int>(c);
        const double saved = own_left[c] - cross_left[c] + (taken ? second : first);
        if (total - saved < best.loss) best = {total - saved, static_cast<int>(c), taken ? second_class : first_class};
    }
    return best;
}

void Relaxation::last_level(const View& view, double node_price, Relaxed& result) const {
    std::vector<double> own(2 * n_classes_), cross(2 * n_classes_), here(view.n), here_of(n_classes_, 0.0);
    for (std::size_t j = 0; j < view.n; ++j) here[j] = view.weight[j] * view.own[j];
    double total = 0.0;
    for (std::size_t c = 0; c < n_classes_; ++c) {
        for (std::size_t j = view.class_begin[c]; j < view.class_begin[c + 1]; ++j) here_of[c] += here[j];
        total += here_of[c];
    }
    for (std::size_t t = 0; t < view.n_tests(); ++t) {
        for (std::size_t c = 0; c < n_classes_; ++c) {
            const double* crossing = view.crossed[t] ? view.cross.data() + t * view.n : nullptr;
            const SideSums sums = side_sums(here.data(), view.weight.data(), crossing, view.side + t * view.n,
                                            view.class_begin[c], view.class_begin[c + 1]);
            own[c] = here_of[c] - sums.here_right;
            own[n_classes_ + c] = sums.here_right;
            cross[c] = sums.there - sums.there_right;
            cross[n_classes_ + c] = sums.there_right;
        }
        const LeafPair pair = best_pair(n_classes_, own.data(), cross.data(), own.data() + n_classes_, cross.data() + n_classes_, total);
        result.by_test[t] = pair.loss + node_price;
        if (result.by_test[t] < result.value) {
            result.value = result.by_test[t];
            result.best[1] = {(*view.tests)[t], 0};
            result.best[2] = {-1, pair.left};
            result.best[3] = {-1, pair.right};
        }
    }
}

// All pairs of a test at the top and a test below it at once, as products of matrices: the weight on the right of the top
// test, times presence here on the right of the second test and, for tests that anybody can cross, presence across it, on
// its right and altogether. What stays left of the top test follows by subtraction.
void Relaxation::two_levels(const View& view, double node_price, Relaxed& result) {
    const std::size_t n_tests = view.n_tests(), n = view.n;
    crossed_column_.assign(n_tests, 0);
    std::size_t width = n_tests;
    for (std::size_t t = 0; t < n_tests; ++t) {
        if (!view.crossed[t]) continue;
        crossed_column_[t] = width;
        width += 2;
    }
    top_.resize((n_tests + 1) * n);
    second_.resize(width * n);
    for (std::size_t t = 0; t < n_tests; ++t) {
        const double* sides = view.side + t * n;
        double* here = second_.data() + t * n;
        for (std::size_t j = 0; j < n; ++j) {
            top_[t * n + j] = view.weight[j] * sides[j];
            here[j] = view.own[j] * sides[j];
        }
        if (!view.crossed[t]) continue;
        const double* crossing = view.cross.data() + t * n;
        double* there_right = second_.data() + crossed_column_[t] * n;
        for (std::size_t j = 0; j < n; ++j) there_right[j] = crossing[j] * sides[j];
        std::copy(crossing, crossing + n, there_right + n);
    }
    std::copy(view.weight.begin(), view.weight.end(), top_.begin() + static_cast<std::ptrdiff_t>(n_tests * n));
    const std::size_t block = (n_tests + 1) * width;
    sums_.resize(n_classes_ * block);
    std::vector<double> here(n_classes_, 0.0);
    for (std::size_t c = 0; c < n_classes_; ++c) {
        const std::size_t begin = view.class_begin[c], end = view.class_begin[c + 1];
        products(top_.data(), n_tests + 1, second_.data(), width, n, begin, end, sums_.data() + c * block);
        for (std::size_t j = begin; j < end; ++j) here[c] += view.weight[j] * view.own[j];
    }
    std::vector<double> parts(8 * n_classes_);  // own, then across: left-left, left-right, right-left, right-right
    double* own[2][2];
    double* across[2][2];
    for (std::size_t a = 0; a < 2; ++a) {
        for (std::size_t b = 0; b < 2; ++b) {
            own[a][b] = parts.data() + (2 * a + b) * n_classes_;
            across[a][b] = parts.data() + (4 + 2 * a + b) * n_classes_;
        }
    }
    for (std::size_t s = 0; s < n_tests; ++s) {
        double total[2] = {0.0, 0.0}, best[2];
        Choice choice[2][3];
        for (int side = 0; side < 2; ++side) {
            double most = -1.0;
            for (std::size_t c = 0; c < n_classes_; ++c) {
                const double right = sums_[c * block + n_tests * width + s];
                const double part = side == 1 ? right : here[c] - right;
                total[side] += part;
                if (part > most) {
                    most = part;
                    choice[side][0] = {-1, static_cast<int>(c)};
                }
            }
            best[side] = std::max(0.0, total[side] - most);
        }
        for (std::size_t t = 0; t < n_tests; ++t) {
            for (std::size_t c = 0; c < n_classes_; ++c) {
                const double* with = sums_.data() + c * block + s * width;       // right of the top test
                const double* all = sums_.data() + c * block + n_tests * width;  // both sides of it
                const double right = all[s];
                own[1][1][c] = with[t];
                own[1][0][c] = right - with[t];
                own[0][1][c] = all[t] - with[t];
                own[0][0][c] = here[c] - right - (all[t] - with[t]);
                if (const std::size_t x = crossed_column_[t]; x > 0) {
                    across[1][1][c] = with[x];
                    across[1][0][c] = with[x + 1] - with[x];
                    across[0][1][c] = all[x] - with[x];
                    across[0][0][c] = all[x + 1] - with[x + 1] - (all[x] - with[x]);
                } else {
                    across[0][0][c] = across[0][1][c] = across[1][0][c] = across[1][1][c] = 0.0;
                }
            }
            for (int side = 0; side < 2; ++side) {
                const LeafPair pair = best_pair(n_classes_, own[side][0], across[side][0], own[side][1], across[side][1], total[side]);
                if (pair.loss + node_price < best[side]) {
                    best[side] = pair.loss + node_price;
                    choice[side][0] = {(*view.tests)[t], 0};
                    choice[side][1] = {-1, pair.left};
                    choice[side][2] = {-1, pair.right};
                }
            }
        }
        result.by_test[s] = best[0] + best[1] + node_price;
        if (result.by_test[s] < result.value) {
            result.value = result.by_test[s];
            result.best[1] = {(*view.tests)[s], 0};
            for (std::size_t side = 0; side < 2; ++side) {
                result.best[2 + side] = choice[side][0];
                result.best[2 * (2 + side)] = choice[side][1];
                result.best[2 * (2 + side) + 1] = choice[side][2];
            }
        }
    }
}

void Relaxation::more_levels(const View& view, int levels, double node_price, double cutoff, Relaxed& result) {
    for (std::size_t s = 0; s < view.n_tests(); ++s) {
        if (watch_.stopped()) {
            result.value = 0.0;
            result.by_test.assign(view.n_tests(), 0.0);
            return;
        }
        const double limit = std::max(cutoff, result.value);
        const Relaxed left = solve(side_of(view, s, 0.0), levels - 1, node_price, limit);
        double value = left.value + node_price;
        if (value < limit) {
            const Relaxed right = solve(side_of(view, s, 1.0), levels - 1, node_price, limit - value);
            value += right.value;
            if (value < result.value) {
                result.value = value;
                result.best[1] = {(*view.tests)[s], 0};
                graft(left.best, 1, result.best, 2);
                graft(right.best, 1, result.best, 3);
            }
        }
        result.by_test[s] = value;
    }
}

}  // namespace hardwood::search
