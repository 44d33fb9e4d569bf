#include "neighbours.h"

#include <algorithm>

namespace hardwood::search {

namespace {

// The cost below which there are at most so many; all of them, and more, if they are not so many.
double cost_of_so_many(std::vector<double>& costs, std::size_t so_many) {
    if (costs.size() <= so_many) return infinity;
    const auto at = costs.begin() + static_cast<std::ptrdiff_t>(so_many);
    std::ranges::nth_element(costs, at);
    return *at;
}

}  // namespace

Neighbours::Neighbours(const Instance& instance, std::span<const std::uint32_t> rows, const Effort& effort) : instance_(instance) {
    find_farthest(rows, effort);
    list_moves();
}

// Judged by a sample of the rows.
void Neighbours::find_farthest(std::span<const std::uint32_t> rows, const Effort& effort) {
    const std::size_t length = std::clamp<std::size_t>(effort.most_ways_nearby / std::max<std::size_t>(1, rows.size()), 4,
                                                       effort.points_nearby);
    const std::size_t stride = std::max<std::size_t>(1, rows.size() / effort.sampled_rows);
    struct Single {
        double cost;
        int column;
    };
    std::vector<double> by_one, by_two;
    std::size_t n = 0;
    std::vector<Single> singles;
    for (std::size_t k = 0; k < rows.size(); k += stride, ++n) {
        singles.clear();
        for (int c = 0; c < instance_.n_columns(); ++c) {
            const double* const cost = instance_.column(c).cost_of(instance_.kind(rows[k], c));
            for (int b = 0; b < instance_.column(c).n_bins; ++b) {
                if (b != instance_.point(rows[k])[c] && cost[b] < infinity) singles.push_back({cost[b], c});
            }
        }
        std::ranges::sort(singles, {}, &Single::cost);
        // Two moves cost as much as the dearer one at least, and of single ones there are enough before.
        singles.resize(std::min(singles.size(), 2 * length));
        for (std::size_t a = 0; a < singles.size(); ++a) {
            by_one.push_back(singles[a].cost);
            by_two.push_back(singles[a].cost);
            for (std::size_t b = 0; b < a; ++b) {
                if (singles[a].column != singles[b].column) by_two.push_back(singles[a].cost + singles[b].cost);
            }
        }
    }
    farthest_[1] = cost_of_so_many(by_one, n * length);
    farthest_[2] = cost_of_so_many(by_two, n * length);
}

void Neighbours::list_moves() {
    for (int c = 0; c < instance_.n_columns(); ++c) {
        const Column& column = instance_.column(c);
        std::vector<std::size_t> begin{0};
        std::vector<Move> moves;
        for (std::uint32_t kind = 0; kind < static_cast<std::uint32_t>(column.n_kinds()); ++kind) {
            const double* const cost = column.cost_of(kind);
            for (int b = 0; b < column.n_bins; ++b) {
                if (cost[b] < std::min(farthest(1), infinity)) moves.push_back({cost[b], static_cast<Bin>(b)});
            }
            std::stable_sort(moves.begin() + static_cast<std::ptrdiff_t>(begin.back()), moves.end(),
                             [](const Move& a, const Move& b) { return a.cost < b.cost; });
            begin.push_back(moves.size());
        }
        begin_.push_back(std::move(begin));
        moves_.push_back(std::move(moves));
    }
}

void Neighbours::visit(std::size_t row, double limit, const std::function<void(const Bin* point, double cost)>& tell) const {
    const Bin* const home = instance_.point(row);
    std::vector<Bin> point(home, home + instance_.n_columns());
    tell(point.data(), 0.0);
    const double one = std::min(limit, farthest(1)), two = std::min(limit, farthest(2));
    const auto moves_of = [&](std::size_t c) {
        const std::uint32_t kind = instance_.kind(row, static_cast<int>(c));
        return std::span(moves_[c].data() + begin_[c][kind], moves_[c].data() + begin_[c][kind + 1]);
    };
    for (std::size_t c = 0; c < point.size(); ++c) {
        for (const Move& first : moves_of(c)) {
            if (first.cost >= one) break;
            if (first.bin == home[c]) continue;
            point[c] = first.bin;
            tell(point.data(), first.cost);
            for (std::size_t d = c + 1; d < point.size() && first.cost < two; ++d) {
                for (const Move& second : moves_of(d)) {
                    if (first.cost + second.cost >= two) break;
                    if (second.bin == home[d]) continue;
                    point[d] = second.bin;
                    if (first.cost + second.cost <= instance_.limit()) tell(point.data(), first.cost + second.cost);
                }
                point[d] = home[d];
            }
        }
        point[c] = home[c];
    }
}

}  // namespace hardwood::search
