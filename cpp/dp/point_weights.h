/// Weights of points, as the tree DP takes them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hardwood::search {

/// Two classes need one number per point (one channel): by how much the second class outweighs the
/// first; the error that no label avoids is kept apart. More classes: one number (channel) for each
/// class.
struct PointWeights {
    int n_channels = 1;
    std::vector<double> values = {};  // point after point, channels side by side
    double unavoidable_error = 0.0;   // sum over points of the smaller weight; two classes only
    /// Where leaves have a smallest size: observations at each point (docs/theory.md#leaf-sizes).
    std::span<const double> sizes = {};
    double min_leaf_size = 0.0;

    const double* at(std::size_t point) const {
        return values.data() + point * static_cast<std::size_t>(n_channels);
    }
};

}  // namespace hardwood::search
