#include "costs/margins.h"

#include <algorithm>
#include <array>
#include <variant>

namespace hardwood {

namespace {

/// Adds the cost of a limit to the running total of each sample from `begin` on.
template <typename Cost>
void add(Cost cost, std::size_t begin, std::span<double> total) {
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += cost(begin + i);
}

}  // namespace

void compute_margins(const Table& table, const std::vector<FeatureCosts>& costs,
                     std::span<const std::int32_t> labels, const std::vector<Region>& regions,
                     std::span<double> margins, std::span<std::int32_t> region_of) {
    std::vector<std::vector<LimitCost>> region_costs;
    for (const Region& region : regions) {
        auto& limits = region_costs.emplace_back();
        for (const Limit& limit : region.limits) {
            limits.push_back(limit_cost(costs[limit.feature], table.column(limit.feature), limit));
        }
    }
    // Blocks of samples stay in the fastest cache while all regions pass over them.
    constexpr std::size_t block = 1024;
    std::array<double, block> buffer;
    for (std::size_t begin = 0; begin < table.n_samples; begin += block) {
        const std::size_t size = std::min(block, table.n_samples - begin);
        const std::span<double> total(buffer.data(), size);
        const auto own_label = labels.subspan(begin, size);
        const auto best = margins.subspan(begin, size);
        const auto best_region = region_of.subspan(begin, size);
        std::fill(best.begin(), best.end(), infinity);
        std::fill(best_region.begin(), best_region.end(), -1);
        for (std::size_t r = 0; r < regions.size(); ++r) {
            std::fill(total.begin(), total.end(), 0.0);
            for (const LimitCost& limit : region_costs[r]) {
                std::visit([&](const auto& cost) { add(cost, begin, total); }, limit);
            }
            for (std::size_t i = 0; i < size; ++i) {
                const bool cheaper = own_label[i] != regions[r].label && total[i] < best[i];
                best[i] = cheaper ? total[i] : best[i];
                best_region[i] = cheaper ? static_cast<std::int32_t>(r) : best_region[i];
            }
        }
    }
}

}  // namespace hardwood
