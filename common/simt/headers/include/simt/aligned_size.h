/// simt/aligned_size.h: cuda::aligned_size_t, a number of bytes with a promise about it
/// and about the addresses it goes with.
#pragma once
#include <cstddef>

namespace cuda {

/// @tparam kAlignment  divides the number and both addresses
template <size_t kAlignment>
struct aligned_size_t {
    static constexpr size_t align = kAlignment;
    size_t value;
    explicit constexpr aligned_size_t(size_t size) : value(size) {}
    constexpr operator size_t() const { return value; }
};

}  // namespace cuda
