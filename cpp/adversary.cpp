#include "adversary.h"

#include <algorithm>
#include <array>

namespace hardwood {

void margins(const Table& table, const std::vector<FeaturePrices>& prices, std::span<const std::int32_t> labels,
             const std::vector<Region>& regions, std::span<double> margin, std::span<std::int32_t> region_of) {
    // Samples are taken in blocks that stay in the fastest cache while all regions pass over them.
    constexpr std::size_t block = 1024;
    std::array<double, block> buffer;
    for (std::size_t begin = 0; begin < table.n_samples; begin += block) {
        const std::size_t size = std::min(block, table.n_samples - begin);
        const std::span<double> total(buffer.data(), size);
        const auto own_label = labels.subspan(begin, size);
        const auto best = margin.subspan(begin, size);
        const auto best_region = region_of.subspan(begin, size);
        std::fill(best.begin(), best.end(), infinity);
        std::fill(best_region.begin(), best_region.end(), -1);
        for (std::size_t r = 0; r < regions.size(); ++r) {
            std::fill(total.begin(), total.end(), 0.0);
            for (const Limit& limit : regions[r].limits) prices[limit.feature].add(table, limit, begin, total);
            for (std::size_t i = 0; i < size; ++i) {
                const bool cheaper = own_label[i] != regions[r].label && total[i] < best[i];
                best[i] = cheaper ? total[i] : best[i];
                best_region[i] = cheaper ? static_cast<std::int32_t>(r) : best_region[i];
            }
        }
    }
}

}  // namespace hardwood
