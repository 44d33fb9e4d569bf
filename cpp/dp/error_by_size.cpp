#include "dp/error_by_size.h"

#include <algorithm>
#include <limits>

#include "model/heap_tree.h"

namespace hardwood::search {

SizeRange SizeRange::within(int levels) const {
    if (!by_size) return *this;
    const int full = max_tree_splits(levels);
    return {.by_size = true, .min = std::min(min, full), .max = std::min(max, full)};
}

SizeRange SizeRange::below(int levels) const {
    if (!by_size) return *this;
    const int full = max_tree_splits(levels);
    return {
        .by_size = true, .min = std::max(0, min - 1 - full), .max = std::clamp(max - 1, 0, full)};
}

void raise_bounds(ErrorBySize& known, const ErrorBySize& errors, double offset) {
    if (known.size() < errors.size())
        known.resize(errors.size(), known.empty() ? 0.0 : known.back());
    for (std::size_t n = 0; n < errors.size(); ++n)
        known[n] = std::max(known[n], errors[n] + offset);
}

ErrorBySize merge_children(const ErrorBySize& first, const ErrorBySize& second, int n_splits,
                           const SizeRange& sizes) {
    if (!sizes.by_size) return {first[0] + second[0]};
    ErrorBySize sum(sizes.width(), std::numeric_limits<double>::infinity());
    for (std::size_t a = 0; a < first.size(); ++a) {
        for (std::size_t b = 0; b < second.size(); ++b) {
            const std::size_t n = a + b + idx(n_splits);
            if (n < sum.size()) sum[n] = std::min(sum[n], first[a] + second[b]);
        }
    }
    for (std::size_t n = 1; n < sum.size(); ++n) sum[n] = std::min(sum[n], sum[n - 1]);
    return sum;
}

}  // namespace hardwood::search
