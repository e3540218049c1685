/// rows.h: given with this exercise: what the contract refuses, and the scale of a row.
/// There is nothing to write here.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <wb/arguments.h>
#include <wb/device.h>
#include <wb/launch.h>

#include <cfloat>
#include <cstdint>

#include "arguments.h"
#include "int8.h"

// #region step
/// How the numbers of a row become whole ones.
struct Step {
    float scale;  ///< from a whole number to the next
    float r;      ///< its reciprocal
    int zero;     ///< the whole number that stands for 0

    /// @param largest  |x| of the row: finite
    static __device__ __forceinline__ Step symmetric(float largest) {
        const float scale = fabsf(largest) / 127.0f;  // of -0, 1 / scale is -infinity
        return {scale, fminf(1.0f / scale, FLT_MAX), 0};
    }
    /// @param lo, hi  the least and the largest x of the row, finite; lo <= 0 <= hi
    static __device__ __forceinline__ Step asymmetric(float lo, float hi) {
        const float scale = hi / 255.0f - lo / 255.0f;
        const float r = fminf(1.0f / scale, FLT_MAX);
        return {scale, r, static_cast<int>(rintf(fmaf(-lo, r, -128.0f)))};
    }
    /// Of a row that is no row of numbers: r is 0, and all x become 0, which is more
    /// than a NaN times 0 would.
    static __device__ __forceinline__ Step of_nothing() {
        return {__int_as_float(0x7FC00000), 0.0f, 0};
    }
};
// #endregion step

/// Where a row's results go.
struct RowResults {
    int8_t* q;       ///< [rows, columns]
    float* scales;   ///< [rows]
    int32_t* zeros;  ///< [rows], or null: symmetric
    int32_t* sums;   ///< [rows], or null
};

/// Refuses wrong arguments of int8_quantize(). False if there is nothing to do.
inline bool quantize_has_work(const __nv_bfloat16* x,
                              int64_t rows,
                              int64_t columns,
                              const RowResults& to) {
    const wb::Arguments arguments("int8_quantize");
    require_size(arguments, "rows", rows, kMostRows, 1);
    require_size(arguments, "columns", columns, kMostColumns, 16);
    if (rows == 0 || columns == 0) return false;
    const int64_t elements = rows * columns;
    const int64_t with_zeros = to.zeros == nullptr ? 0 : rows;
    const int64_t with_sums = to.sums == nullptr ? 0 : rows;
    arguments.device("x", x, elements)
        .device("q", to.q, elements)
        .device("scales", to.scales, rows)
        .device("zeros", to.zeros, with_zeros)
        .device("sums", to.sums, with_sums);
    require_16_bytes(arguments, "x", x);
    require_16_bytes(arguments, "q", to.q);
    arguments.apart({{"x", x, 2 * elements, false},
                     {"q", to.q, elements, true},
                     {"scales", to.scales, 4 * rows, true},
                     {"zeros", to.zeros, 4 * with_zeros, true},
                     {"sums", to.sums, 4 * with_sums, true}});
    return true;
}

/// Refuses wrong arguments of int8_matmul(). False if there is nothing to do.
inline bool product_has_work(const Int8Shape& s,
                             const Int8Inputs& in,
                             const __nv_bfloat16* y) {
    const wb::Arguments arguments("int8_matmul");
    require_size(arguments, "shape.M", s.M, kMostRows, 1);
    require_size(arguments, "shape.N", s.N, kMostRows, 8);
    require_size(arguments, "shape.K", s.K, kMostColumns, 16);
    if (s.M == 0 || s.N == 0) return false;
    const int64_t of_x = s.M * s.K;
    const int64_t of_w = s.N * s.K;
    // Without K there is nothing to scale.
    const int64_t rows = s.K == 0 ? 0 : s.M;
    const int64_t columns = s.K == 0 ? 0 : s.N;
    const int64_t with_zeros = in.x_zeros == nullptr ? 0 : rows;
    const int64_t with_sums = in.x_zeros == nullptr ? 0 : columns;
    const int64_t with_bias = in.bias == nullptr ? 0 : s.N;
    arguments.device("in.x", in.x, of_x)
        .device("in.x_scales", in.x_scales, rows)
        .device("in.x_zeros", in.x_zeros, with_zeros)
        .device("in.w", in.w, of_w)
        .device("in.w_scales", in.w_scales, columns)
        .device("in.w_sums", in.w_sums, with_sums)
        .device("in.bias", in.bias, with_bias)
        .device("y", y, s.M * s.N);
    if (s.K > 0) {
        require_16_bytes(arguments, "in.x", in.x);
        require_16_bytes(arguments, "in.w", in.w);
        require_16_bytes(arguments, "in.w_scales", in.w_scales);
        if (in.x_zeros != nullptr) require_16_bytes(arguments, "in.w_sums", in.w_sums);
    }
    require_16_bytes(arguments, "in.bias", in.bias);
    require_16_bytes(arguments, "y", y);
    arguments.apart({{"in.x", in.x, of_x, false},
                     {"in.x_scales", in.x_scales, 4 * rows, false},
                     {"in.x_zeros", in.x_zeros, 4 * with_zeros, false},
                     {"in.w", in.w, of_w, false},
                     {"in.w_scales", in.w_scales, 4 * columns, false},
                     {"in.w_sums", in.w_sums, 4 * with_sums, false},
                     {"in.bias", in.bias, 4 * with_bias, false},
                     {"y", y, 2 * s.M * s.N, true}});
    arguments.require(wb::compute_capability() >= 80,
                      "the GPU's compute capability, times 10",
                      wb::compute_capability(),
                      "must be 80 or more: mma.m16n8k32 of bytes came with sm_80");
    return true;
}

// #region over-block
/// Combines what all threads of a block have, and gives it to all of them. All threads
/// of the block come here.
///
/// @tparam T        float or int
/// @param  combine  of two values, in any order
template <int kThreads, class T, class Combine>
__device__ __forceinline__ T over_block(T value, Combine combine) {
    __shared__ T s_warps[kThreads / wb::kWarpSize];
    for (int offset = wb::kWarpSize / 2; offset > 0; offset /= 2)
        value = combine(value, __shfl_xor_sync(wb::kAllLanes, value, offset));
    const int warp = threadIdx.x / wb::kWarpSize;
    if (threadIdx.x % wb::kWarpSize == 0) s_warps[warp] = value;
    __syncthreads();
    value = s_warps[0];
    for (int w = 1; w < kThreads / wb::kWarpSize; ++w)
        value = combine(value, s_warps[w]);
    __syncthreads();  // the next call may write
    return value;
}
// #endregion over-block
