/// tiled_offsets.cuh: jagged_offsets_v2, a block for each 1024 lengths. There is
/// nothing to write here.
#pragma once

#include <wb/scratch.h>

#include "given.h"

/// Lengths of a block.
constexpr int kLengths = 1024;
static_assert(kLengths % kThreads == 0, "a block takes whole rounds of its threads");

// #region inclusive-sum
/// The sum of this thread's value and of those of all threads before it in the block.
/// All threads of the block must call it.
///
/// @param total  becomes the sum of all
__device__ inline int64_t inclusive_sum(int64_t value, int64_t& total) {
    __shared__ int64_t s_warps[kThreads / wb::kWarpSize];
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize;
    for (int step = 1; step < wb::kWarpSize; step *= 2) {
        const int64_t more = __shfl_up_sync(wb::kAllLanes, value, step);
        if (lane >= step) value += more;
    }
    if (lane == wb::kWarpSize - 1) s_warps[warp] = value;
    __syncthreads();
    total = 0;
    for (int w = 0; w < kThreads / wb::kWarpSize; ++w) {
        if (w == warp) value += total;
        total += s_warps[w];
    }
    __syncthreads();  // all have read s_warps: it may be written again
    return value;
}
// #endregion inclusive-sum

// #region offsets-v2
/// The sum of each block's lengths. It reports nothing: the last kernel will.
///
/// Launch   grid ceil_div(num_rows, kLengths), block kThreads
__global__ void jagged_offsets_v2_sums_kernel(const int32_t* lengths,  // [num_rows]
                                              int64_t* sums,           // [gridDim.x]
                                              int64_t num_rows) {
    const int64_t first = int64_t{blockIdx.x} * kLengths + threadIdx.x;
    int64_t sum = 0;
    for (int i = 0; i < kLengths; i += kThreads) {
        const int64_t length = first + i < num_rows ? lengths[first + i] : 0;
        if (length > 0) sum += length;
    }
    int64_t total = 0;
    inclusive_sum(sum, total);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

/// Replaces each sum by the sum of those before it.
///
/// Launch   grid 1, block kThreads
__global__ void jagged_offsets_v2_starts_kernel(int64_t* sums, int64_t num_sums) {
    int64_t before = 0;
    for (int64_t first = 0; first < num_sums; first += kThreads) {
        const int64_t i = first + threadIdx.x;
        const int64_t sum = i < num_sums ? sums[i] : 0;
        int64_t total = 0;
        const int64_t up_to_this = inclusive_sum(sum, total);
        if (i < num_sums) sums[i] = before + up_to_this - sum;
        before += total;
    }
}

/// jagged_offsets_v2: the offsets of a block's rows, which begin at its start.
///
/// Launch   grid ceil_div(num_rows, kLengths), at least 1, block kThreads
template <class Offset>
__global__ void jagged_offsets_v2_kernel(const int32_t* lengths,  // [num_rows]
                                         const int64_t* starts,   // [gridDim.x]
                                         Offset* offsets,         // [num_rows + 1]
                                         int64_t num_rows,
                                         JaggedStatus* status) {
    if (blockIdx.x == 0 && threadIdx.x == 0) offsets[0] = 0;
    const int64_t first = int64_t{blockIdx.x} * kLengths + threadIdx.x;
    int64_t before = starts[blockIdx.x];
    for (int i = 0; i < kLengths; i += kThreads) {
        const int64_t r = first + i;
        const int64_t length = r < num_rows ? checked_length(lengths, r, status) : 0;
        int64_t total = 0;
        const int64_t up_to_this = inclusive_sum(length, total);
        if (r < num_rows) store_offset(offsets, r, before + up_to_this, status);
        before += total;
    }
}
// #endregion offsets-v2

template <class Offset>
static void launch_jagged_offsets_v2(const int32_t* lengths,
                                     Offset* offsets,
                                     int64_t num_rows,
                                     JaggedStatus* status,
                                     cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(num_rows > 0 ? num_rows : 1, kLengths);
    const wb::Scratch<int64_t> sums(blocks, stream);
    jagged_offsets_v2_sums_kernel<<<blocks, kThreads, 0, stream>>>(
        lengths, sums.data(), num_rows);
    CUDA_CHECK_LAUNCH();
    jagged_offsets_v2_starts_kernel<<<1, kThreads, 0, stream>>>(sums.data(), blocks);
    CUDA_CHECK_LAUNCH();
    jagged_offsets_v2_kernel<<<blocks, kThreads, 0, stream>>>(
        lengths, sums.data(), offsets, num_rows, status);
    CUDA_CHECK_LAUNCH();
}

static void jagged_offsets_v2(const int32_t* lengths,
                              wb::OffsetsOut offsets,
                              int64_t num_rows,
                              JaggedStatus* status,
                              cudaStream_t stream) {
    if (offsets.is_wide())
        launch_jagged_offsets_v2(lengths, offsets.wide(), num_rows, status, stream);
    else
        launch_jagged_offsets_v2(lengths, offsets.narrow(), num_rows, status, stream);
}
