/// The points that one or two moves reach, for tables with too many rows to compare each row with
/// every point.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <vector>

#include "model/instance.h"

namespace hardwood::search {

class Neighbours {
public:
    /// Lists for these rows, of a length on average that is estimated from a sample of them.
    Neighbours(const Instance& instance, std::span<const std::uint32_t> rows, std::size_t length,
               std::size_t sampled_rows);

    /// Points reached by this many moves are listed up to this cost; beyond, lists would be too
    /// long on average.
    double max_cost(int n_moves) const { return max_cost_[idx(n_moves)]; }
    /// Whether a point at such a cost is among the neighbours within a limit.
    bool includes(int n_moves, double cost, double limit) const {
        return n_moves == 0 || (n_moves <= 2 && cost < std::min(limit, max_cost(n_moves)));
    }

    /// Calls `visitor` for every neighbour of a row that costs less than the limit, the row's own
    /// point first.
    void visit(std::size_t row, double limit,
               const std::function<void(const Bin* point, double cost)>& visitor) const;

private:
    struct Move {
        double cost;
        Bin bin;
    };
    void estimate_max_costs(std::span<const std::uint32_t> rows, std::size_t length,
                            std::size_t sampled_rows);
    void list_moves();

    const Instance& instance_;
    std::array<double, 3> max_cost_{};             // by the number of moves
    std::vector<std::vector<std::size_t>> begin_;  // by column and cost class: ...
    std::vector<std::vector<Move>>
        moves_;  // ... by column: moves of each class, the cheapest first
};

}  // namespace hardwood::search
