#include "reach.h"

#include <algorithm>
#include <cmath>

namespace hardwood::search {

namespace {

bool before(const Way& a, const Way& b) { return a.cost < b.cost || (a.cost == b.cost && a.point < b.point); }

}  // namespace

bool Reach::has_room(std::size_t row, double cost) const {
    return ways_[row].size() < most_ways_ || cost < ways_[row].back().cost;
}

void Reach::add(std::size_t row, Way way) {
    std::vector<Way>& own = ways_[row];
    const auto at = std::ranges::lower_bound(own, way, before);
    if (at != own.end() && at->point == way.point) return;
    own.insert(at, way);
    if (own.size() > most_ways_) own.pop_back();
    longest_ = std::max(longest_, own.size());
}

// Points differ from the usual one in few columns, so a row's price of that one is corrected for these. In whole numbers, since
// prices that cannot be paid take part, too.
void Reach::update() {
    if (known_ == points_.size()) return;
    const Instance& instance = points_.instance();
    if (!instance.anybody_moves()) {  // rows are where they are
        for (std::size_t i = 0; i < ways_.size(); ++i) {
            if (!ways_[i].empty()) continue;
            const std::int64_t own = points_.find(instance.point(i));
            if (own >= 0) ways_[i].push_back({0.0, static_cast<std::uint32_t>(own)});
        }
        longest_ = 1;
        known_ = points_.size();
        return;
    }
    const double grain = instance.grain() > 0 ? instance.grain() : 1.0;
    // One column that cannot be paid for is enough; there are fewer than 2^15 of them, and the budget is below 2^48 grains.
    const auto out_of_reach = static_cast<std::int64_t>(instance.budget() / grain) + 1;
    const auto in_grains = [&](double cost) {
        return cost < infinity ? static_cast<std::int64_t>(cost / grain) : out_of_reach;
    };
    std::vector<std::int64_t> correction(static_cast<std::size_t>(instance.n_bins()));
    for (std::size_t i = 0; i < ways_.size(); ++i) {
        std::vector<Way>& own = ways_[i];
        const auto old = static_cast<std::ptrdiff_t>(own.size());
        std::int64_t usual = 0;
        for (int c = 0; c < instance.n_columns(); ++c) {
            const Column& column = instance.column(c);
            const double* const cost = column.cost_of(instance.kind(i, c));
            const std::int64_t stay = in_grains(cost[points_.usual(c)]);
            usual += stay;
            for (int b = 0; b < column.n_bins; ++b) {
                correction[static_cast<std::size_t>(column.first_bin + b)] = in_grains(cost[b]) - stay;
            }
        }
        const bool full = own.size() >= most_ways_;
        const std::int64_t most = in_grains(full ? std::min(instance.budget(), own.back().cost) : instance.budget());
        for (std::size_t z = known_; z < points_.size(); ++z) {
            std::int64_t total = usual;
            for (const std::uint16_t bin : points_.unusual(z)) total += correction[bin];
            if (total <= most) own.push_back({static_cast<double>(total) * grain, static_cast<std::uint32_t>(z)});
        }
        std::sort(own.begin() + old, own.end(), before);
        std::inplace_merge(own.begin(), own.begin() + old, own.end(), before);
        if (own.size() > most_ways_) own.resize(most_ways_);
        longest_ = std::max(longest_, own.size());
    }
    known_ = points_.size();
}

}  // namespace hardwood::search
