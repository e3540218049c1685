/// wb/row_sums.h: sums that the gradient of a normalisation needs: two along each row,
/// two along each column. The latter are made in two stages, without atomics, so that
/// their bits are the same each time.
#pragma once

#include <cuda_runtime.h>
#include <wb/row_groups.h>

#include <cstdint>

namespace wb {

// #region pair
/// The two sums that dx needs of its row.
struct Pair {
    float g;   ///< of g
    float gh;  ///< of g * h
};

/// The sums of a row of a Group. All threads of the block must call it.
///
/// @param s_warps  [32] shared memory that nobody reads or writes any more
__device__ __forceinline__ Pair sum_of_row(Pair mine,
                                           const Group& group,
                                           Pair* s_warps) {
    mine = {group.lane_sum(mine.g), group.lane_sum(mine.gh)};
    if (!group.is_block()) return mine;
    const int lane = threadIdx.x % kWarpSize;
    if (lane == 0) s_warps[threadIdx.x / kWarpSize] = mine;
    __syncthreads();
    const bool is_warp = lane < static_cast<int>(blockDim.x) / kWarpSize;
    const Pair other = is_warp ? s_warps[lane] : Pair{};
    return {warp_sum(other.g), warp_sum(other.gh)};
}
// #endregion pair

// #region part-sums
/// Adds what the blocks have summed up for two arrays of columns, a warp's width of
/// columns in each block; 32 threads share a column, then one of them adds their 32
/// sums.
///
/// Launch   grid (ceil_div(columns, 32), 2), block (32, 32)
/// Traffic  reads parts * columns * 8 B, most of it from the L2 cache
template <class T>
__global__ void __launch_bounds__(1024)
    part_sums_kernel(const float* partial,  // [2, parts, columns]
                     int64_t parts,
                     int64_t columns,
                     T* dgamma,  // [columns], or null: not wanted
                     T* dbeta) {
    __shared__ float s_sums[kWarpSize][kWarpSize];
    const int64_t col = int64_t{blockIdx.x} * kWarpSize + threadIdx.x;
    T* const out = blockIdx.y == 0 ? dgamma : dbeta;
    if (out == nullptr) return;  // the whole block
    float sum = 0.0f;
    if (col < columns) {
        const float* const g_parts = partial + blockIdx.y * parts * columns + col;
#pragma unroll 4
        for (int64_t part = threadIdx.y; part < parts; part += kWarpSize)
            sum += g_parts[part * columns];
    }
    s_sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || col >= columns) return;
    for (int i = 1; i < kWarpSize; ++i)
        sum += s_sums[i][threadIdx.x];
    out[col] = to_element<T>(sum);
}
// #endregion part-sums

}  // namespace wb
