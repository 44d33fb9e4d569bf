// The points that one move or two lead to, for tables with too many rows to compare each with every point.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "../model/instance.h"
#include "../support/effort.h"

namespace hardwood::search {

class Neighbours {
public:
    Neighbours(const Instance& instance, std::span<const std::uint32_t> rows, const Effort& effort);

    // How far points are listed that so many moves lead to. Beyond, lists would grow too long on the average.
    double farthest(int moves) const { return farthest_[static_cast<std::size_t>(moves)]; }
    // Whether a point at such a cost is among the neighbours within a limit.
    bool includes(int moves, double cost, double limit) const {
        return moves == 0 || (moves <= 2 && cost < std::min(limit, farthest(moves)));
    }

    // Tells every neighbour of a row that costs less than the limit, itself first, and what it costs.
    void visit(std::size_t row, double limit, const std::function<void(const Bin* point, double cost)>& tell) const;

private:
    struct Move {
        double cost;
        Bin bin;
    };
    void find_farthest(std::span<const std::uint32_t> rows, const Effort& effort);
    void list_moves();

    const Instance& instance_;
    std::array<double, 3> farthest_{};                   // by the number of moves
    std::vector<std::vector<std::size_t>> begin_;        // by column and kind: ...
    std::vector<std::vector<Move>> moves_;               // ... by column: moves of one kind after the other, the cheapest first
};

}  // namespace hardwood::search
