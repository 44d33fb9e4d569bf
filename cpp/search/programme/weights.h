// Weights of points.
#pragma once

#include <cstddef>
#include <vector>

namespace hardwood::search {

// With two classes, one number says all: what the second class weighs more than the first; the error that no label avoids is
// kept apart. With more classes, one number for each.
struct Weights {
    int channels = 1;
    std::vector<double> of;    // channels side by side
    double unavoidable = 0.0;  // sum over points of the smaller weight, two classes only

    const double* at(std::size_t z) const { return of.data() + z * static_cast<std::size_t>(channels); }
};

}  // namespace hardwood::search
