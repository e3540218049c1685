/// wb/head_dim.h: a head dimension that is known at run time, as a constant.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace wb {
namespace detail {

/// Throws wb::InvalidArgument, which names the dimensions that there are.
void refuse_head_dim(int64_t head_dim, std::initializer_list<int> dims);

}  // namespace detail

/// Calls launch(std::integral_constant<int, D>()) for the D that head_dim is, so that
/// kernels have it as a template argument:
///
///     wb::with_head_dim<64, 128>(shape.head_dim, [&](auto head_dim) {
///         kernel<head_dim()><<<blocks, threads, 0, stream>>>(q, k, v, o);
///     });
///
/// @tparam kDims  the dimensions that the kernel is compiled for
/// Throws wb::InvalidArgument if head_dim is none of them.
template <int... kDims, class Launch>
void with_head_dim(int64_t head_dim, Launch&& launch) {
    const auto matches = [&](auto dim) {
        if (head_dim != dim()) return false;
        launch(dim);
        return true;
    };
    if ((matches(std::integral_constant<int, kDims>()) || ...)) return;
    detail::refuse_head_dim(head_dim, {kDims...});
}

}  // namespace wb
