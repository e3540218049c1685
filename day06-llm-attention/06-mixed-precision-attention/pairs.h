// pairs.h: given with this exercise: pairs of 16-bit numbers, and what else both the
// kernels and their launches need.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <wb/launch.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

/// Warps in a block of v1 and v2, and so its rows.
inline constexpr int kWarps = 4;

/// All lanes of a warp.
inline constexpr unsigned kAll = 0xFFFFFFFFu;

// #region pairs
/// Two numbers of type T in one register: Pair<__half> is __half2.
template <class T>
struct PairOf;
template <>
struct PairOf<__half> {
    using type = __half2;
};
template <>
struct PairOf<__nv_bfloat16> {
    using type = __nv_bfloat162;
};
template <class T>
using Pair = typename PairOf<T>::type;

/// Both numbers of a pair as floats. Nothing is lost: each fp16 and each bf16 number is
/// a float, too.
__device__ __forceinline__ float2 to_floats(__half2 pair) {
    return __half22float2(pair);
}
__device__ __forceinline__ float2 to_floats(__nv_bfloat162 pair) {
    return __bfloat1622float2(pair);
}

/// Two floats, each rounded to the nearest number of the narrower type.
template <class T>
__device__ __forceinline__ Pair<T> to_pair(float2 x) {
    if constexpr (std::is_same_v<T, __half>) {
        return __float22half2_rn(x);
    } else {
        return __float22bfloat162_rn(x);
    }
}
// #endregion pairs

/// The largest, or the sum, of one value of each lane; every lane gets it.
__device__ inline float warp_max(float value) {
    for (int other = wb::kWarpSize / 2; other > 0; other /= 2)
        value = fmaxf(value, __shfl_xor_sync(kAll, value, other));
    return value;
}
__device__ inline float warp_sum(float value) {
    for (int other = wb::kWarpSize / 2; other > 0; other /= 2)
        value += __shfl_xor_sync(kAll, value, other);
    return value;
}
