#include "support.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace hardwood::search {

namespace {

double n_all_points(const Instance& instance) {
    double n = 1.0;
    for (int c = 0; c < instance.n_columns(); ++c) n *= instance.column(c).n_bins;
    return n;
}

struct Move {
    double cost;
    int column;
    Bin bin;
};

// What a kind of a column pays for its other bins, the cheapest first, so many at most.
std::vector<Move> cheapest_moves(const Instance& instance, int c, std::uint32_t kind, std::size_t most) {
    std::vector<Move> moves;
    const double* const cost = instance.column(c).cost_of(kind);
    for (int b = 0; b < instance.column(c).n_bins; ++b) {
        if (cost[b] < infinity) moves.push_back({cost[b], c, static_cast<Bin>(b)});
    }
    std::ranges::stable_sort(moves, {}, &Move::cost);
    moves.resize(std::min(moves.size(), most + 1));  // its own bin is among them
    return moves;
}

using MovesByKind = std::vector<std::vector<std::vector<Move>>>;  // by column and kind

// Two moves, or one of them twice, and what they cost together.
struct Detour {
    double cost;
    std::array<Move, 2> moves;
};

// The cheapest ways out of a row by at most two moves, staying included. Only the cheapest moves are tried as second ones.
std::vector<Detour> cheapest_detours(const Instance& instance, std::size_t row, const MovesByKind& moves, std::size_t second,
                                     std::size_t most) {
    const Bin* const home = instance.point(row);
    const Move stay{0.0, 0, home[0]};
    std::vector<Move> own;
    for (int c = 0; c < instance.n_columns(); ++c) {
        const std::vector<Move>& of_column = moves[static_cast<std::size_t>(c)][instance.kind(row, c)];
        std::ranges::copy_if(of_column, std::back_inserter(own), [&](const Move& move) { return move.bin != home[c]; });
    }
    std::ranges::stable_sort(own, {}, &Move::cost);
    std::vector<Detour> detours{{0.0, {stay, stay}}};
    for (std::size_t a = 0; a < own.size(); ++a) {
        detours.push_back({own[a].cost, {own[a], own[a]}});
        for (std::size_t b = 0; b < std::min(a, second); ++b) {
            const double cost = own[a].cost + own[b].cost;
            if (own[a].column != own[b].column && cost <= instance.budget()) detours.push_back({cost, {own[a], own[b]}});
        }
    }
    std::ranges::stable_sort(detours, {}, &Detour::cost);
    detours.resize(std::min(detours.size(), most));
    return detours;
}

}  // namespace

Support::Support(const Instance& instance, const Effort& effort)
    : instance_(instance),
      effort_(effort),
      points_(instance),
      reach_(points_, std::max(2 * effort.points_nearby, effort.most_ways / std::max<std::size_t>(1, instance.n_rows()))) {
    for (std::size_t i = 0; i < instance.n_rows(); ++i) points_.add(instance.point(i));
    const double all = n_all_points(instance);
    complete_ = effort.whole_domains && all <= effort.all_points && all * static_cast<double>(instance.n_rows()) <= effort.all_ways;
    if (complete_ && instance.anybody_moves()) add_all_points();
    const auto rows = static_cast<double>(instance.n_rows());
    all_pairs_ = !instance.anybody_moves() || complete_ || (effort.all_pairs && rows * rows <= effort.most_pairs);
    if (all_pairs_) {
        reach_.update();
    } else {
        add_points_nearby();
    }
}

// One or two of the cheapest moves of each row. What is further away, or takes more moves, comes up where trees are wrong.
void Support::add_points_nearby() {
    MovesByKind moves(static_cast<std::size_t>(instance_.n_columns()));
    for (int c = 0; c < instance_.n_columns(); ++c) {
        const auto n_kinds = static_cast<std::uint32_t>(instance_.column(c).n_kinds());
        for (std::uint32_t kind = 0; kind < n_kinds; ++kind) {
            moves[static_cast<std::size_t>(c)].push_back(cheapest_moves(instance_, c, kind, effort_.moves_nearby));
        }
    }
    // Half of the points are kept for those where trees are wrong.
    const std::size_t most = std::clamp<std::size_t>(effort_.most_points_nearby / 2 / instance_.n_rows(), 4, effort_.points_nearby);
    std::vector<Bin> point(static_cast<std::size_t>(instance_.n_columns()));
    for (std::size_t i = 0; i < instance_.n_rows(); ++i) {
        for (const Detour& detour : cheapest_detours(instance_, i, moves, effort_.moves_nearby, most)) {
            std::copy_n(instance_.point(i), point.size(), point.begin());
            for (const Move& move : detour.moves) point[static_cast<std::size_t>(move.column)] = move.bin;
            reach_.add(i, {detour.cost, points_.add(point.data())});
        }
    }
}

void Support::add_all_points() {
    std::vector<Bin> point(static_cast<std::size_t>(instance_.n_columns()), 0);
    while (true) {
        points_.add(point.data());
        std::size_t c = 0;
        while (c < point.size() && ++point[c] == instance_.column(static_cast<int>(c)).n_bins) point[c++] = 0;
        if (c == point.size()) return;
    }
}

void Support::add_wrong_points(const Evaluator& evaluator, double price) {
    if (complete_ || !effort_.wrong_points || points_.size() >= (all_pairs_ ? effort_.most_points : effort_.most_points_nearby)) return;
    std::vector<Bin> point(static_cast<std::size_t>(instance_.n_columns()));
    const std::vector<double>& margins = evaluator.margins();
    for (std::size_t i = 0; i < instance_.n_rows(); ++i) {
        if (!(margins[i] * price < 1.0) || (!all_pairs_ && !reach_.has_room(i, margins[i]))) continue;
        nearest_point(instance_, evaluator.wrong_leaf(i), i, point.data());
        const std::uint32_t number = points_.add(point.data());
        if (!all_pairs_) reach_.add(i, {margins[i], number});
    }
    if (all_pairs_) reach_.update();
}

}  // namespace hardwood::search
