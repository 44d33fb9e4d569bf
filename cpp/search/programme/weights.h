// Weights of points.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hardwood::search {

// With two classes, one number says all: what the second class weighs more than the first; the error that no label avoids is
// kept apart. With more classes, one number for each.
struct Weights {
    int channels = 1;
    std::vector<double> of;    // channels side by side
    double unavoidable = 0.0;  // sum over points of the smaller weight, two classes only
    // Where leaves must hold so many samples: how many stand at each point (docs/theory.md#leaf-sizes).
    std::span<const double> sizes = {};
    double least_leaf = 0.0;

    const double* at(std::size_t z) const { return of.data() + z * static_cast<std::size_t>(channels); }
};

}  // namespace hardwood::search
