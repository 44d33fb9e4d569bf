#include "dual/neighbours.h"

namespace hardwood::search {

namespace {

/// The cost below which there are at most n of these costs; +inf if there are no more than n.
double nth_cost(std::vector<double>& costs, std::size_t n) {
    if (costs.size() <= n) return infinity;
    const auto nth = costs.begin() + static_cast<std::ptrdiff_t>(n);
    std::ranges::nth_element(costs, nth);
    return *nth;
}

}  // namespace

Neighbours::Neighbours(const Instance& instance, std::span<const std::uint32_t> rows,
                       std::size_t length, std::size_t sampled_rows)
    : instance_(instance) {
    estimate_max_costs(rows, length, sampled_rows);
    list_moves();
}

void Neighbours::estimate_max_costs(std::span<const std::uint32_t> rows, std::size_t length,
                                    std::size_t sampled_rows) {
    const std::size_t stride = std::max<std::size_t>(1, rows.size() / sampled_rows);
    struct SingleMove {
        double cost;
        int column;
    };
    std::vector<double> by_one, by_two;
    std::size_t n = 0;
    std::vector<SingleMove> singles;
    for (std::size_t k = 0; k < rows.size(); k += stride, ++n) {
        singles.clear();
        for (int c = 0; c < instance_.n_columns(); ++c) {
            const double* const cost =
                instance_.column(c).costs_of(instance_.cost_class(rows[k], c));
            for (int b = 0; b < instance_.column(c).n_bins; ++b) {
                if (b != instance_.point(rows[k])[c] && cost[b] < infinity)
                    singles.push_back({cost[b], c});
            }
        }
        std::ranges::sort(singles, {}, &SingleMove::cost);
        // Two moves cost at least as much as the more expensive one, and there are enough single
        // ones before.
        singles.resize(std::min(singles.size(), 2 * length));
        for (std::size_t a = 0; a < singles.size(); ++a) {
            by_one.push_back(singles[a].cost);
            by_two.push_back(singles[a].cost);
            for (std::size_t b = 0; b < a; ++b) {
                if (singles[a].column != singles[b].column)
                    by_two.push_back(singles[a].cost + singles[b].cost);
            }
        }
    }
    max_cost_[1] = nth_cost(by_one, n * length);
    max_cost_[2] = nth_cost(by_two, n * length);
}

void Neighbours::list_moves() {
    for (int c = 0; c < instance_.n_columns(); ++c) {
        const Column& column = instance_.column(c);
        std::vector<std::size_t> begin{0};
        std::vector<Move> moves;
        for (std::uint32_t k = 0; k < to_id(column.n_cost_classes()); ++k) {
            const double* const cost = column.costs_of(k);
            for (int b = 0; b < column.n_bins; ++b) {
                if (cost[b] < std::min(max_cost(1), infinity)) {
                    moves.push_back({.cost = cost[b], .bin = static_cast<Bin>(b)});
                }
            }
            std::stable_sort(moves.begin() + static_cast<std::ptrdiff_t>(begin.back()), moves.end(),
                             [](const Move& a, const Move& b) { return a.cost < b.cost; });
            begin.push_back(moves.size());
        }
        begin_.push_back(std::move(begin));
        moves_.push_back(std::move(moves));
    }
}

void Neighbours::visit(std::size_t row, double limit,
                       const std::function<void(const Bin* point, double cost)>& visitor) const {
    const Bin* const own = instance_.point(row);
    std::vector<Bin> point(own, own + instance_.n_columns());
    visitor(point.data(), 0.0);
    const double one = std::min(limit, max_cost(1)), two = std::min(limit, max_cost(2));
    const auto moves_of = [&](std::size_t c) {
        const std::uint32_t k = instance_.cost_class(row, to_int(c));
        return std::span(moves_[c].data() + begin_[c][k], moves_[c].data() + begin_[c][k + 1]);
    };
    for (std::size_t c = 0; c < point.size(); ++c) {
        for (const Move& first : moves_of(c)) {
            if (first.cost >= one) break;
            if (first.bin == own[c]) continue;
            point[c] = first.bin;
            visitor(point.data(), first.cost);
            for (std::size_t d = c + 1; d < point.size() && first.cost < two; ++d) {
                for (const Move& second : moves_of(d)) {
                    if (first.cost + second.cost >= two) break;
                    if (second.bin == own[d]) continue;
                    point[d] = second.bin;
                    if (first.cost + second.cost <= instance_.max_cost()) {
                        visitor(point.data(), first.cost + second.cost);
                    }
                }
                point[d] = own[d];
            }
        }
        point[c] = own[c];
    }
}

}  // namespace hardwood::search
