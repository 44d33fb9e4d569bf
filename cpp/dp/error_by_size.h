/// Least errors for each number of splits.
#pragma once

#include <vector>

#include "util/index.h"

namespace hardwood::search {

/// Least errors of trees with at most 0, 1, 2, ... splits; or one number for all trees, if the size
/// does not matter.
using ErrorBySize = std::vector<double>;

/// For which numbers of splits errors are wanted.
struct SizeRange {
    bool by_size = false;  // false: any number of splits, one error
    int min = 0;
    int max = 0;

    static SizeRange any() { return {}; }
    /// What the subtrees of a split have to provide, with this many levels left below it.
    SizeRange below(int levels) const;
    /// Clipped to the sizes of trees with this many levels.
    SizeRange within(int levels) const;
    std::size_t width() const { return by_size ? idx(max) + 1 : 1; }
};

/// Raises lower bounds for trees with at most 0, 1, ... splits to errors + offset.
void raise_bounds(ErrorBySize& known, const ErrorBySize& errors, double offset = 0.0);

/// Least errors of two subtrees together: below a split if `n_splits` is 1, or side by side if it
/// is 0.
ErrorBySize merge_children(const ErrorBySize& first, const ErrorBySize& second, int n_splits,
                           const SizeRange& sizes);

}  // namespace hardwood::search
