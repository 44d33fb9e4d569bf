/// Conversions between signed counts and indices.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace hardwood::search {

/// A non-negative integer as an index into a container.
constexpr std::size_t idx(std::integral auto value) {
    return static_cast<std::size_t>(value);
}

/// A size or index as int; the caller knows that it fits.
constexpr int to_int(std::integral auto value) {
    return static_cast<int>(value);
}

/// A size or index as a 32-bit identifier; the caller knows that it fits.
constexpr std::uint32_t to_id(std::integral auto value) {
    return static_cast<std::uint32_t>(value);
}

}  // namespace hardwood::search
