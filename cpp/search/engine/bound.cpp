#include "bound.h"

#include <algorithm>

namespace hardwood::search {

PricedBound OptionBounds::least() const { return {price, loss.empty() ? infinity : std::ranges::min(loss)}; }

OptionBounds BoundLadder::at(const Inquiry& inquiry) {
    OptionBounds known{inquiry.price, std::vector<double>(inquiry.options.size(), 0.0)};
    const auto count_open = [&] {
        const double goal = contest_.question().goal(inquiry.price);
        return std::ranges::count_if(known.loss, [&](double loss) { return loss < goal; });
    };
    for (const std::unique_ptr<Bound>& bound : bounds_) {
        if (!bound->serves(inquiry.node)) continue;
        const auto before = count_open();
        if (before == 0 && bound != bounds_.front()) break;
        const auto began = Watch::Clock::now();
        const OptionBounds own = bound->at(inquiry);
        for (std::size_t o = 0; o < known.loss.size(); ++o) known.loss[o] = std::max(known.loss[o], own.loss[o]);
        BoundStatistics& statistics = bound->statistics;
        ++statistics.calls;
        statistics.seconds += std::chrono::duration<double>(Watch::Clock::now() - began).count();
        statistics.options += before;
        statistics.closed += before - count_open();
    }
    return known;
}

}  // namespace hardwood::search
