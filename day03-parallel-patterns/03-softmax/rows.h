/// rows.h: given with this exercise: a warp's maximum and sum, the merge of partial
/// results in a block, and what softmax() refuses.
/// There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/arguments.h>
#include <wb/elements.h>
#include <wb/launch.h>
#include <wb/online_softmax.h>

#include <cmath>
#include <cstdint>

#include "softmax.h"

using wb::to_element;
using wb::to_float;

/// Threads in a block where a row has a warp, and warps.
inline constexpr int kThreads = 256;
inline constexpr int kWarps = kThreads / wb::kWarpSize;

// #region warp
/// The largest value of a warp, in all of its lanes; a NaN is left out.
__device__ __forceinline__ float warp_max(float value) {
    for (int step = wb::kWarpSize / 2; step > 0; step /= 2)
        value = fmaxf(value, __shfl_xor_sync(wb::kAllLanes, value, step));
    return value;
}

/// The sum of a warp, in all of its lanes.
__device__ __forceinline__ float warp_sum(float value) {
    for (int step = wb::kWarpSize / 2; step > 0; step /= 2)
        value += __shfl_xor_sync(wb::kAllLanes, value, step);
    return value;
}
// #endregion warp

// #region max-sum
/// What is known of some elements of a row. Of none, the largest is -inf, the sum 0.
struct MaxSum {
    float max = -INFINITY;  ///< the largest of them
    float sum = 0.0f;       ///< of exp(element - max)
};
// #endregion max-sum

// #region merge
/// Merges what the 32 lanes of a warp know of their elements; all lanes get it. A sum
/// below a smaller maximum counts less below the largest one: wb::softmax_rescale()
/// says how much, and 0 for a lane that has seen nothing but -inf.
__device__ __forceinline__ MaxSum merge_lanes(MaxSum mine) {
    MaxSum all;
    all.max = warp_max(mine.max);
    all.sum = warp_sum(mine.sum * wb::softmax_rescale(mine.max, all.max));
    return all;
}

/// Merges what the warps of a block know. All threads of the block must call it, and
/// all get the result.
///
/// @param mine     the same in all lanes of a warp
/// @param s_warps  [32] shared memory that nobody reads or writes any more
__device__ __forceinline__ MaxSum merge_warps(MaxSum mine, MaxSum* s_warps) {
    const int lane = threadIdx.x % wb::kWarpSize;
    if (lane == 0) s_warps[threadIdx.x / wb::kWarpSize] = mine;
    __syncthreads();
    const bool is_warp = lane < static_cast<int>(blockDim.x) / wb::kWarpSize;
    return merge_lanes(is_warp ? s_warps[lane] : MaxSum{});
}
// #endregion merge

/// Refuses wrong arguments. Returns whether there is anything to do.
///
/// @param element_bytes  of an element: 4 or 2
inline bool check_softmax(const char* function,
                          const void* x,
                          const void* y,
                          int64_t rows,
                          int64_t columns,
                          int64_t element_bytes) {
    const wb::Arguments arguments(function);
    arguments.size("rows", rows)
        .size("columns", columns)
        .require(rows < int64_t{1} << 31, "rows", rows, "must be below 2^31");
    const int64_t bytes = arguments.product("rows * columns * bytes of an element",
                                            {rows, columns, element_bytes});
    if (bytes == 0) return false;
    const int64_t count = rows * columns;
    const auto device = [&](const char* name, const void* array) {
        if (element_bytes == sizeof(float))
            arguments.device(name, static_cast<const float*>(array), count);
        else
            arguments.device(name, static_cast<const uint16_t*>(array), count);
    };
    device("x", x);
    device("y", y);
    const auto distance = static_cast<int64_t>(reinterpret_cast<uintptr_t>(y) -
                                               reinterpret_cast<uintptr_t>(x));
    arguments.require(distance == 0 || distance >= bytes || distance <= -bytes,
                      "y - x in bytes",
                      distance,
                      "y must be x, or share no element with it");
    return true;
}

/// Blocks for all rows, if a block has so many of them.
inline unsigned count_blocks(int64_t rows, int rows_a_block) {
    return static_cast<unsigned>(wb::ceil_div(rows, int64_t{rows_a_block}));
}
