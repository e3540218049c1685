// softmax.cu: rows become weights: read three times, then twice, then once.
#include "softmax.h"

#include <wb/check.h>
#include <wb/exercise.h>

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

// #region v2-online
/// One more element.
__device__ __forceinline__ MaxSum with_element(MaxSum known, float element) {
    // TODO(learner): the new maximum; the sum so far, times what a weight below the old
    // maximum is worth below the new one; and the element's own weight. For both,
    // wb::softmax_rescale(value, maximum) is exp(value - maximum), and 0 if the value
    // is -inf (about 3 lines)
    return known;
}

/// What is known of two sets of elements together.
__device__ __forceinline__ MaxSum merged(MaxSum a, MaxSum b) {
    // TODO(learner): the larger maximum, and both sums below it (about 3 lines)
    return a;
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
}
// #endregion v2-kernel

template <class T>
static void launch_v2(const T* x, T* y, int64_t rows, int64_t columns, cudaStream_t s) {
    const unsigned blocks = count_blocks(rows, kWarps);
    softmax_v2_kernel<<<blocks, kThreads, 0, s>>>(x, y, rows, columns);
    CUDA_CHECK_LAUNCH();
}

static void softmax_bf16_v2(
    const Bf16* x, Bf16* y, int64_t rows, int64_t columns, cudaStream_t s) {
    launch_v2(x, y, rows, columns, s);
}

// #region contract
void softmax(
    const float* x, float* y, int64_t rows, int64_t columns, cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODO of v1 is written
    if (!check_softmax("softmax", x, y, rows, columns, sizeof *x)) return;
    softmax_v1(x, y, rows, columns, stream);
}

void softmax_bf16(
    const Bf16* x, Bf16* y, int64_t rows, int64_t columns, cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one, when those of v2 are
    if (!check_softmax("softmax_bf16", x, y, rows, columns, sizeof *x)) return;
    softmax_bf16_v2(x, y, rows, columns, stream);
}
// #endregion contract
