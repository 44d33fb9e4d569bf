/// NumPy arrays as the bindings take and return them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <stdexcept>

#include "costs/move_costs.h"

namespace hardwood::bindings {

namespace nb = nanobind;

using Codes = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using Ints = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using CostArray = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline Table table_of(const Codes& values) {
    return {.values = values.data(), .n_samples = values.shape(0), .n_features = values.shape(1)};
}

/// Hands an array over to NumPy, which frees it.
template <typename T>
nb::ndarray<nb::numpy, T> to_numpy(std::unique_ptr<T[]> data, std::size_t size) {
    T* raw = data.release();
    nb::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::ndarray<nb::numpy, T>(raw, {size}, owner);
}

inline void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

}  // namespace hardwood::bindings
