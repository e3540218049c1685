// gptq_int4.cu: numbers of 4 bits, as GPTQ stores them, and their product with x.
#include "gptq_int4.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>

#include "packed.cuh"
#include "product.cuh"
#include "tensors.h"

constexpr int kThreads = 128;

// #region v1-weight
/// w = (q - zero) * scale for row 8 r + i and the column of a word of qweight.
///
/// @param word   of qweight, row r
/// @param i      0 to 7
/// @param zero   of the row's group and the column, 0 to 16
__device__ __forceinline__ __half weight_of(uint32_t word,
                                            int i,
                                            int zero,
                                            __half scale) {
    // TODO(learner): shift the row's four bits to the right end of the word and keep
    // them alone. q - zero may be negative: subtract as int. A half holds the
    // difference exactly, see __int2half_rn(); __hmul() rounds the product, once (about
    // 2 lines)
    return __float2half(0.0f);
}

/// The group of row k: what g_idx says, which may be no group at all; without g_idx
/// groups follow each other.
__device__ __forceinline__ int64_t group_of_row(const GptqView& v, int64_t k) {
    // TODO(learner): (about 2 lines)
    return 0;
}
// #endregion v1-weight

// #region v1-dequantize
/// v1: a thread for each word of qweight: eight rows of a column.
///
/// Launch   a thread for each word, block kThreads
/// Traffic  reads K N / 2 B, writes K N * 2 B
__global__ void __launch_bounds__(kThreads)
    gptq_dequantize_v1_kernel(const GptqView v,
                              __half* w,  // [K, N]
                              unsigned long long* bad_rows) {
    const int64_t place = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (place >= v.K / 8 * v.N) return;
    // TODO(learner): which column n and which row r of words is this place? For each of
    // the eight rows of the word: its group; its zero, v.zero(group, n), and its scale;
    // then w[k, n]. A group outside of [0, v.groups) makes a row of zeros; the thread
    // of column 0 counts it: atomicAdd(bad_rows, 1ull) (about 14 lines)
}

static void gptq_dequantize_v1(const GptqShape& shape,
                               const GptqTensors& tensors,
                               __half* w,
                               unsigned long long* bad_rows,
                               cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(shape.K / 8 * shape.N, kThreads);
    gptq_dequantize_v1_kernel<<<blocks, kThreads, 0, stream>>>(
        GptqView::of(shape, tensors), w, bad_rows);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-dequantize

// #region v1-product
/// v1: a thread for each element of y.
///
/// Launch   grid M blocks_across, block kThreads
/// Traffic  reads all of W for each row of x
__global__ void __launch_bounds__(kThreads)
    gptq_matmul_v1_kernel(const GptqView v,
                          const __half* x,  // [M, K]
                          __half* y,        // [M, N]
                          unsigned blocks_across) {
    const int64_t n = int64_t{blockIdx.x % blocks_across} * kThreads + threadIdx.x;
    if (n >= v.N) return;
    // TODO(learner): the product of column n of W and the row of x that the block's
    // number says. Load each word once. The sum is a float; rows of W without a group
    // are left out (about 14 lines)
}

static void gptq_matmul_v1(const GptqShape& shape,
                           const GptqTensors& tensors,
                           const uint4*,
                           const __half* x,
                           __half* y,
                           cudaStream_t stream) {
    const unsigned across = wb::grid_size(shape.N, kThreads);
    gptq_matmul_v1_kernel<<<wb::grid_size(shape.M * across, 1), kThreads, 0, stream>>>(
        GptqView::of(shape, tensors), x, y, across);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-product

// #region contract
void gptq_dequantize(const GptqShape& shape,
                     const GptqTensors& tensors,
                     __half* w,
                     unsigned long long* bad_rows,
                     cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the first three are written
    if (!dequantize_has_work(shape, tensors, w, bad_rows)) return;
    gptq_dequantize_v1(shape, tensors, w, bad_rows, stream);
}

void gptq_matmul(const GptqShape& shape,
                 const GptqTensors& tensors,
                 const uint4* packed,
                 const __half* x,
                 __half* y,
                 cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one, when the last one is
    if (!product_has_work(shape, tensors, packed, x, y, stream)) return;
    gptq_matmul_v1(shape, tensors, packed, x, y, stream);
}

int64_t gptq_packed_vectors(const GptqShape& shape, bool has_order) {
    GptqArguments("gptq_packed_vectors", shape);
    return packed_vectors(shape, has_order);
}

void gptq_repack(const GptqShape& shape,
                 const GptqTensors& tensors,
                 uint4* packed,
                 unsigned long long* bad_rows,
                 cudaStream_t stream) {
    if (!repack_has_work(shape, tensors, packed, bad_rows)) return;
    repack(shape, tensors, packed, bad_rows, stream);
}
// #endregion contract
