#include "bound.h"

#include <algorithm>

namespace hardwood::search {

PricedBound OptionBounds::least() const { return {price, loss.empty() ? infinity : std::ranges::min(loss)}; }

OptionBounds OptionBounds::with_tests(int most) const {
    OptionBounds few{price, loss};
    for (std::size_t o = 0; o < by_tests.size(); ++o) {
        if (by_tests[o].empty()) continue;
        const std::size_t n = std::min(static_cast<std::size_t>(most), by_tests[o].size() - 1);
        few.loss[o] = std::max(few.loss[o], by_tests[o][n]);
    }
    return few;
}

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
        if (!own.by_tests.empty()) known.by_tests = own.by_tests;
        BoundStatistics& statistics = bound->statistics;
        ++statistics.calls;
        statistics.seconds += std::chrono::duration<double>(Watch::Clock::now() - began).count();
        statistics.options += before;
        statistics.closed += before - count_open();
    }
    return known;
}

}  // namespace hardwood::search
