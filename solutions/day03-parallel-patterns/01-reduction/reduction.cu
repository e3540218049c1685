// reduction.cu: many numbers become one: their sum, their largest, and where it is.
// #solution
//
// v1 to v7 are in harris.cuh, but for the tree of v3; v9 is in last_block.cuh; v10 is
// in reduction_fast.cu, the second stage; v11 is in compensated.cuh.
//
// <Ladder of="reduce_sum" at="n = 268435456">
//         GB/s  idea                             what limits it
//   v1     679  every second thread adds         half of each warp waits
//   v2     577  neighbouring threads add         bank conflicts
//   v3     695  the upper half into the lower    the tree: one element a thread
//   v4   1,320  an addition while loading        two elements a thread
//   v5   1,530  the last warp without barriers   two elements a thread
//   v6   1,620  a tree without a loop            two elements a thread
//   v7   4,090  many elements a thread           loads of 4 bytes
//   v8   4,090  shuffles                         as v7
//   v9   4,100  one kernel: the last block adds  as v7
//   v10  4,100  float4, tiles                    the speed of memory
//   v11  4,060  v10 with compensated sums        the speed of memory
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-23
//
// <Ladder of="reduce_sum_bf16" at="n = 268435456">
//         GB/s  idea                             what limits it
//   v8   1,320  shuffles                         loads of 2 bytes
//   v9   1,320  one kernel: the last block adds  as v8
//   v10  3,840  16 bytes at a time, tiles        the speed of memory
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-23
//
// <Ladder of="reduce_sum_i32" at="n = 268435456">
//         GB/s  idea                           what limits it
//   v8   4,110  shuffles                       loads of 4 bytes
//   v9   4,130  one kernel, __reduce_add_sync  as v8
//   v10  4,080  int4, tiles                    the speed of memory
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-23
//
// <Ladder of="reduce_max" at="n = 268435456">
//         GB/s  idea                             what limits it
//   v8   4,090  shuffles                         loads of 4 bytes
//   v9   4,100  one kernel: the last block adds  as v8
//   v10  4,080  float4, tiles                    the speed of memory
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-23
//
// <Ladder of="reduce_argmax" at="n = 268435456">
//         GB/s  idea                             what limits it
//   v8   3,020  shuffles                         loads of 4 bytes
//   v9   3,030  one kernel: the last block adds  as v8
//   v10  3,530  float4, tiles                    the speed of memory
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-23
// #end
#include "reduction.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/scratch.h>

#include <algorithm>

#include "operations.h"

/// Blocks of a grid whose threads take several elements each. Fixed, so that the order
/// of additions is the same on every GPU.
constexpr int64_t kMaxBlocks = 1024;

// #region v3-tree
/// The sum of one value of each thread of the block: the upper half of the values is
/// added to the lower half, until one is left. All threads of the block must call it;
/// the result is thread 0's.
__device__ inline float tree_sum(float value) {
    // TODO(learner): in shared memory, an array s_sum of one float a thread. Write this
    // thread's value into it; halve the number of adding threads until s_sum[0] holds
    // the block's sum, with a barrier before every step, which all threads meet; return
    // it (about 9 lines)
    // #starter (void)value;
    // #starter return 0.0f;
    // #solution
    __shared__ float s_sum[kThreads];
    const int tid = threadIdx.x;
    s_sum[tid] = value;
    __syncthreads();
    for (int active = kThreads / 2; active > 0; active /= 2) {
        if (tid < active) s_sum[tid] += s_sum[tid + active];
        __syncthreads();  // outside of the if: all threads meet here
    }
    return s_sum[0];
    // #end
}
// #endregion v3-tree

// #region v3-kernels
/// reduce_sum_v3, first kernel: the sum of each block's kThreads elements.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads
__global__ void reduce_sum_v3_kernel(const float* x,   // [n]
                                     float* partials,  // [gridDim.x]
                                     int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    const float sum = tree_sum(i < n ? x[i] : 0.0f);
    if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

/// reduce_sum_v3, second kernel: the sum of the blocks' sums, in a fixed order.
///
/// Launch   grid 1, block kThreads
__global__ void reduce_sum_v3_total_kernel(const float* partials,  // [num_partials]
                                           float* result,          // [1]
                                           unsigned num_partials) {
    float sum = 0.0f;
    for (unsigned i = threadIdx.x; i < num_partials; i += kThreads)
        sum += partials[i];
    sum = tree_sum(sum);
    if (threadIdx.x == 0) *result = sum;
}
// #endregion v3-kernels

// #region v3-launch
/// A kernel that leaves a sum for each block, and the one that adds them.
///
/// @param kernel  takes x, partials, n; for kThreads threads
template <class Kernel>
static void launch_two(Kernel kernel,
                       unsigned blocks,
                       const float* x,
                       float* result,
                       int64_t n,
                       cudaStream_t stream) {
    const wb::Scratch<float> partials(blocks, stream);
    kernel<<<blocks, kThreads, 0, stream>>>(x, partials.data(), n);
    CUDA_CHECK_LAUNCH();
    reduce_sum_v3_total_kernel<<<1, kThreads, 0, stream>>>(
        partials.data(), result, blocks);
    CUDA_CHECK_LAUNCH();
}

static void reduce_sum_v3(
    const float* x, float* result, int64_t n, unsigned*, cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, kThreads);
    launch_two(reduce_sum_v3_kernel, blocks, x, result, n, stream);
}
// #endregion v3-launch

// #solution
#include "harris.cuh"

// #end
// #region v8-warp
/// Combines one value of each lane of the warp, without shared memory. All 32 lanes
/// must call it; the result is lane 0's.
template <class Op>
__device__ typename Op::Value warp_reduce(typename Op::Value value) {
    // TODO(learner): combine with the value of the lane 16 above, then 8, 4, 2 and 1;
    // shuffle_down() is in operations.h (about 3 lines)
    // #solution
    for (int distance = wb::kWarpSize / 2; distance > 0; distance /= 2)
        value = Op::combine(value, shuffle_down(value, distance));
    // #end
    return value;
}
// #endregion v8-warp

// #region v8-block
/// The same for one value of each thread of the block, all of which must call it; the
/// result is thread 0's.
template <class Op>
__device__ typename Op::Value block_reduce(typename Op::Value value) {
    // TODO(learner): reduce each warp; lane 0 of each writes the warp's value to shared
    // memory; after a barrier the first warp reduces these kWarps values, and its other
    // lanes bring Op::identity() along (about 11 lines)
    // #solution
    __shared__ typename Op::Value s_warps[kWarps];
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize;
    value = warp_reduce<Op>(value);
    if (lane == 0) s_warps[warp] = value;
    __syncthreads();
    if (warp == 0) {  // the whole warp, for all 32 lanes must shuffle
        value = lane < kWarps ? s_warps[lane] : Op::identity();
        value = warp_reduce<Op>(value);
    }
    // #end
    return value;
}
// #endregion v8-block

// #region v8-kernels
/// v8, first kernel: each thread combines every (gridDim.x * kThreads)-th element, then
/// the block combines its threads.
///
/// Launch   grid at most kMaxBlocks, block kThreads
template <class Op>
__global__ void reduce_v8_kernel(const typename Op::In* x,      // [n]
                                 typename Op::Value* partials,  // [gridDim.x]
                                 int64_t n) {
    auto value = Op::identity();
    // TODO(learner): combine this thread's elements, Op::make(x[i], i), from its place
    // in the grid on, in steps of all threads of the grid (about 4 lines)
    // #solution
    const int64_t step = int64_t{gridDim.x} * kThreads;
    for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += step)
        value = Op::combine(value, Op::make(x[i], i));
    // #end
    value = block_reduce<Op>(value);
    if (threadIdx.x == 0) partials[blockIdx.x] = value;
}

/// v8, second kernel: combines the blocks' values, in a fixed order.
///
/// Launch   grid 1, block kThreads
template <class Op>
__global__ void reduce_v8_total_kernel(
    const typename Op::Value* partials,  // [num_partials]
    typename Op::Result* result,         // [1]
    unsigned num_partials) {
    auto value = Op::identity();
    for (unsigned i = threadIdx.x; i < num_partials; i += kThreads)
        value = Op::combine(value, partials[i]);
    value = block_reduce<Op>(value);
    if (threadIdx.x == 0) *result = Op::result(value);
}
// #endregion v8-kernels

/// As many blocks as n elements can use, but at most kMaxBlocks.
static unsigned few_blocks(int64_t n) {
    return static_cast<unsigned>(
        std::min(wb::ceil_div(n, int64_t{kThreads}), kMaxBlocks));
}

// #region v8-launch
template <class Op>
static void reduce_v8(const typename Op::In* x,
                      typename Op::Result* result,
                      int64_t n,
                      unsigned*,
                      cudaStream_t stream) {
    const unsigned blocks = few_blocks(n);
    const wb::Scratch<typename Op::Value> partials(blocks, stream);
    reduce_v8_kernel<Op><<<blocks, kThreads, 0, stream>>>(x, partials.data(), n);
    CUDA_CHECK_LAUNCH();
    reduce_v8_total_kernel<Op>
        <<<1, kThreads, 0, stream>>>(partials.data(), result, blocks);
    CUDA_CHECK_LAUNCH();
}
// #endregion v8-launch

// #solution
#define WB_VERSION_ONLY
#include "reduction_fast.cu"

#include "last_block.cuh"

#include "compensated.cuh"

#include "versions.cuh"

// #end
// #region contract
void reduce_sum(
    const float* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the first TODO is written
    const Contract<Sum> contract{"reduce_sum"};
    if (!contract.has_work(x, result, n, counter, stream)) return;
    // #solution
    reduce_sum_v10(x, result, n, counter, stream);
    // #end
    // #starter reduce_sum_v3(x, result, n, counter, stream);
}

void reduce_sum_bf16(
    const bf16* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs for v8 are written
    const Contract<SumBf16> contract{"reduce_sum_bf16"};
    if (!contract.has_work(x, result, n, counter, stream)) return;
    // #solution
    reduce_sum_bf16_v10(x, result, n, counter, stream);
    // #end
    // #starter reduce_v8<SumBf16>(x, result, n, counter, stream);
}

void reduce_sum_i32(const int32_t* x,
                    int64_t* result,
                    int64_t n,
                    unsigned* counter,
                    cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs for v8 are written
    const Contract<SumI32> contract{"reduce_sum_i32"};
    if (!contract.has_work(x, result, n, counter, stream)) return;
    // #solution
    reduce_sum_i32_v10(x, result, n, counter, stream);
    // #end
    // #starter reduce_v8<SumI32>(x, result, n, counter, stream);
}

void reduce_max(
    const float* x, float* result, int64_t n, unsigned* counter, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs for v8 are written
    const Contract<Max> contract{"reduce_max", 1};
    if (!contract.has_work(x, result, n, counter, stream)) return;
    // #solution
    reduce_max_v10(x, result, n, counter, stream);
    // #end
    // #starter reduce_v8<Max>(x, result, n, counter, stream);
}

void reduce_argmax(const float* x,
                   int64_t* result,
                   int64_t n,
                   unsigned* counter,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs for v8 are written
    const Contract<ArgMax> contract{"reduce_argmax", 1};
    if (!contract.has_work(x, result, n, counter, stream)) return;
    // #solution
    reduce_argmax_v10(x, result, n, counter, stream);
    // #end
    // #starter reduce_v8<ArgMax>(x, result, n, counter, stream);
}
// #endregion contract
