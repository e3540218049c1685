// softmax.cu: rows become weights: read three times, then twice, then once.
// #solution
//
// v4 is in softmax_fast.cu, the second stage; v5, v6 and v7 have a file each.
//
// <Ladder of="softmax" at="8192 x 32768">
//        GB/s  idea                        what limits it
//   v1  1,670  three passes, a warp a row  every element is read three times
//   v2  1,820  online, a warp a row        twice, and too little is under way
//   v3  2,090  online, a block a row       every element is read twice
//   v4  4,150  a row in registers          the speed of memory, up to 2^15 columns
//   v5  4,060  narrow rows as tiles        the same, and narrow rows are whole vectors
//   v6  4,030  a row in shared memory      one block an SM
//   v7  4,050  a row split over blocks     the speed of memory
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-23
//
// <Ladder of="softmax_bf16" at="8192 x 32768">
//        GB/s  idea                        what limits it
//   v1  1,110  three passes, a warp a row  every element is read three times
//   v2  1,020  online, a warp a row        twice, and too little is under way
//   v3  1,260  online, a block a row       every element is read twice
//   v4  3,500  a row in registers          the speed of memory, up to 2^15 columns
//   v5  3,500  narrow rows as tiles        the same, and narrow rows are whole vectors
//   v6  3,500  a row in shared memory      one block an SM
//   v7  3,500  a row split over blocks     the speed of memory
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-23
// #end
#include "softmax.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end

#include "rows.h"

// #region v1-kernel
/// softmax_v1: a warp has a row, and goes over it three times: for the largest element,
/// for the sum, and for the weights.
///
/// Launch   grid ceil_div(rows, kWarps), block kThreads
/// Traffic  reads each element three times, writes it once
template <class T>
__global__ void softmax_v1_kernel(const T* x,  // [rows, columns]
                                  T* y,        // [rows, columns]
                                  int64_t rows,
                                  int64_t columns) {
    // TODO(learner): find the row of this warp, and leave if there is none; lane,
    // lane + 32, ... are this lane's columns. First the largest element of the row,
    // with warp_max(); then the sum of expf(element - largest), with warp_sum(); then
    // y, by to_element<T>() (about 14 lines)
    // #solution
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t row = int64_t{blockIdx.x} * kWarps + threadIdx.x / wb::kWarpSize;
    if (row >= rows) return;  // the whole warp
    const T* const g_x = x + row * columns;
    T* const g_y = y + row * columns;
    float max = -INFINITY;
    for (int64_t col = lane; col < columns; col += wb::kWarpSize)
        max = fmaxf(max, to_float(g_x[col]));
    max = warp_max(max);
    float sum = 0.0f;
    for (int64_t col = lane; col < columns; col += wb::kWarpSize)
        sum += expf(to_float(g_x[col]) - max);
    sum = warp_sum(sum);
    for (int64_t col = lane; col < columns; col += wb::kWarpSize)
        g_y[col] = to_element<T>(expf(to_float(g_x[col]) - max) / sum);
    // #end
}
// #endregion v1-kernel

template <class T>
static void launch_v1(const T* x, T* y, int64_t rows, int64_t columns, cudaStream_t s) {
    const unsigned blocks = count_blocks(rows, kWarps);
    softmax_v1_kernel<<<blocks, kThreads, 0, s>>>(x, y, rows, columns);
    CUDA_CHECK_LAUNCH();
}

static void softmax_v1(
    const float* x, float* y, int64_t rows, int64_t columns, cudaStream_t s) {
    launch_v1(x, y, rows, columns, s);
}
// #solution
static void softmax_bf16_v1(
    const Bf16* x, Bf16* y, int64_t rows, int64_t columns, cudaStream_t s) {
    launch_v1(x, y, rows, columns, s);
}
WB_RUNG(softmax, softmax_v1, "three passes, a warp a row");
WB_RUNG(softmax_bf16, softmax_bf16_v1, "three passes, a warp a row");
// #end

// #region v2-online
/// One more element.
__device__ __forceinline__ MaxSum with_element(MaxSum known, float element) {
    // TODO(learner): the new maximum; the sum so far, times what a weight below the old
    // maximum is worth below the new one; and the element's own weight. For both,
    // wb::softmax_rescale(value, maximum) is exp(value - maximum), and 0 if the value
    // is -inf (about 3 lines)
    // #solution
    const float max = fmaxf(known.max, element);
    const float sum = known.sum * wb::softmax_rescale(known.max, max);
    return {max, sum + wb::softmax_rescale(element, max)};
    // #end
    // #starter return known;
}

/// What is known of two sets of elements together.
__device__ __forceinline__ MaxSum merged(MaxSum a, MaxSum b) {
    // TODO(learner): the larger maximum, and both sums below it (about 3 lines)
    // #solution
    const float max = fmaxf(a.max, b.max);
    return {max,
            a.sum * wb::softmax_rescale(a.max, max) +
                b.sum * wb::softmax_rescale(b.max, max)};
    // #end
    // #starter return a;
}
// #endregion v2-online

// #region v2-kernel
/// softmax_v2: maximum and sum in one pass; the sum is always below the largest element
/// so far.
///
/// Launch   grid ceil_div(rows, kWarps), block kThreads
/// Traffic  reads each element twice, writes it once
template <class T>
__global__ void softmax_v2_kernel(const T* x,  // [rows, columns]
                                  T* y,        // [rows, columns]
                                  int64_t rows,
                                  int64_t columns) {
    // TODO(learner): row and lane as in v1. A MaxSum of this lane's elements, by
    // with_element(). Then five steps, each with the lane whose number differs in one
    // bit: __shfl_xor_sync() both its numbers, and merge them, so that all lanes know
    // the row. Then y (about 15 lines)
    // #solution
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t row = int64_t{blockIdx.x} * kWarps + threadIdx.x / wb::kWarpSize;
    if (row >= rows) return;  // the whole warp
    const T* const g_x = x + row * columns;
    T* const g_y = y + row * columns;
    MaxSum known;
    for (int64_t col = lane; col < columns; col += wb::kWarpSize)
        known = with_element(known, to_float(g_x[col]));
    for (int step = wb::kWarpSize / 2; step > 0; step /= 2) {
        const MaxSum other = {__shfl_xor_sync(wb::kAllLanes, known.max, step),
                              __shfl_xor_sync(wb::kAllLanes, known.sum, step)};
        known = merged(known, other);
    }
    for (int64_t col = lane; col < columns; col += wb::kWarpSize)
        g_y[col] = to_element<T>(expf(to_float(g_x[col]) - known.max) / known.sum);
    // #end
}
// #endregion v2-kernel

template <class T>
static void launch_v2(const T* x, T* y, int64_t rows, int64_t columns, cudaStream_t s) {
    const unsigned blocks = count_blocks(rows, kWarps);
    softmax_v2_kernel<<<blocks, kThreads, 0, s>>>(x, y, rows, columns);
    CUDA_CHECK_LAUNCH();
}

// #solution
static void softmax_v2(
    const float* x, float* y, int64_t rows, int64_t columns, cudaStream_t s) {
    launch_v2(x, y, rows, columns, s);
}
// #end
static void softmax_bf16_v2(
    const Bf16* x, Bf16* y, int64_t rows, int64_t columns, cudaStream_t s) {
    launch_v2(x, y, rows, columns, s);
}
// #solution
WB_RUNG(softmax, softmax_v2, "online, a warp a row");
WB_RUNG(softmax_bf16, softmax_bf16_v2, "online, a warp a row");
// #end

// #solution
// #region v3-kernel
/// softmax_v3: a block has a row: eight times as many loads are under way for it.
///
/// Launch   grid rows, block kThreads
template <class T>
__global__ void softmax_v3_kernel(const T* x,  // [rows, columns]
                                  T* y,        // [rows, columns]
                                  int64_t columns) {
    __shared__ MaxSum s_warps[wb::kWarpSize];
    const T* const g_x = x + int64_t{blockIdx.x} * columns;
    T* const g_y = y + int64_t{blockIdx.x} * columns;
    MaxSum known;
    for (int64_t col = threadIdx.x; col < columns; col += kThreads)
        known = with_element(known, to_float(g_x[col]));
    known = merge_warps(merge_lanes(known), s_warps);
    for (int64_t col = threadIdx.x; col < columns; col += kThreads)
        g_y[col] = to_element<T>(expf(to_float(g_x[col]) - known.max) / known.sum);
}
// #endregion v3-kernel

template <class T>
static void launch_v3(const T* x, T* y, int64_t rows, int64_t columns, cudaStream_t s) {
    softmax_v3_kernel<<<count_blocks(rows, 1), kThreads, 0, s>>>(x, y, columns);
    CUDA_CHECK_LAUNCH();
}

static void softmax_v3(
    const float* x, float* y, int64_t rows, int64_t columns, cudaStream_t s) {
    launch_v3(x, y, rows, columns, s);
}
static void softmax_bf16_v3(
    const Bf16* x, Bf16* y, int64_t rows, int64_t columns, cudaStream_t s) {
    launch_v3(x, y, rows, columns, s);
}
WB_RUNG(softmax, softmax_v3, "online, a block a row");
WB_RUNG(softmax_bf16, softmax_bf16_v3, "online, a block a row");

#define WB_VERSION_ONLY
#include "softmax_fast.cu"

WB_RUNG(softmax, softmax_v4, "a row in registers");
WB_RUNG(softmax_bf16, softmax_bf16_v4, "a row in registers");

#include "05_narrow_rows.cuh"
#include "06_shared_memory.cuh"
#include "07_split_rows.cuh"

// #end
// #region contract
void softmax(
    const float* x, float* y, int64_t rows, int64_t columns, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO of v1 is written
    if (!check_softmax("softmax", x, y, rows, columns, sizeof *x)) return;
    // #solution
    softmax_v7(x, y, rows, columns, stream);
    // #end
    // #starter softmax_v1(x, y, rows, columns, stream);
}

void softmax_bf16(
    const Bf16* x, Bf16* y, int64_t rows, int64_t columns, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one, when those of v2 are
    if (!check_softmax("softmax_bf16", x, y, rows, columns, sizeof *x)) return;
    // #solution
    softmax_bf16_v7(x, y, rows, columns, stream);
    // #end
    // #starter softmax_bf16_v2(x, y, rows, columns, stream);
}
// #endregion contract
