// gptq_int4.cu: numbers of 4 bits, as GPTQ stores them, and their product with x.
// #solution
//
// v1 is in this file, v2 in 02_vectors.cuh, v3 in 03_bit_tricks.cuh, v4 in
// 04_split_k.cuh, v5 in gptq_int4_fast.cu, the second stage, v6 in 06_many_rows.cuh, v7
// in 07_wgmma.cuh and 07_launch.cuh.
//
// <Ladder of="gptq_matmul" at="1 x 12288 x 4096">
//        GB/s  idea                               what limits it
//   v1   36.7  one thread a column                few threads, one load at a time
//   v2    437  vectors of words, warps along K    conversions of each number
//   v3  1,190  packed tiles, two numbers a mask   blocks without enough loads under way
//   v4  1,190  K split among blocks               a read of W for each row of x
//   v5  1,360  tensor cores, a ring of stages     memory; L2 with many rows of x
//   v6  1,360  larger tiles for many rows of x    memory, or the rate of mma.sync
//   v7      -  wgmma, W from registers, x by TMA  memory, or the rate of wgmma
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
//
// <Ladder of="gptq_dequantize" at="12288 x 4096">
//        GB/s  idea                               what limits it
//   v1    807  one thread a word                  conversions, stores of 2 bytes
//   v2  2,580  four columns a thread, with masks  memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
// #end
#include "gptq_int4.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
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
    // #solution
    const int q = static_cast<int>(word >> 4 * i & 15);
    return __hmul(__int2half_rn(q - zero), scale);
    // #end
    // #starter return __float2half(0.0f);
}

/// The group of row k: what g_idx says, which may be no group at all; without g_idx
/// groups follow each other.
__device__ __forceinline__ int64_t group_of_row(const GptqView& v, int64_t k) {
    // TODO(learner): (about 2 lines)
    // #solution
    if (v.g_idx != nullptr) return v.g_idx[k];
    return k / v.rows_of_group;
    // #end
    // #starter return 0;
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
    // #solution
    const int64_t r = place / v.N;
    const int64_t n = place % v.N;
    for (int i = 0; i < 8; ++i) {
        const int64_t k = 8 * r + i;
        const int64_t group = group_of_row(v, k);
        if (group < 0 || group >= v.groups) {
            if (n == 0) atomicAdd(bad_rows, 1ull);
            w[k * v.N + n] = __float2half(0.0f);
            continue;
        }
        w[k * v.N + n] =
            weight_of(v.qweight[place], i, v.zero(group, n), v.scales[group * v.N + n]);
    }
    // #end
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
    // #solution
    const int64_t m = blockIdx.x / blocks_across;
    float sum = 0.0f;
    for (int64_t r = 0; r < v.K / 8; ++r) {
        const uint32_t word = v.qweight[r * v.N + n];
        for (int i = 0; i < 8; ++i) {
            const int64_t k = 8 * r + i;
            const int64_t group = group_of_row(v, k);
            if (group < 0 || group >= v.groups) continue;
            const __half w =
                weight_of(word, i, v.zero(group, n), v.scales[group * v.N + n]);
            sum += __half2float(x[m * v.K + k]) * __half2float(w);
        }
    }
    y[m * v.N + n] = __float2half(sum);
    // #end
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

// #solution
#define WB_VERSION_ONLY
#include "gptq_int4_fast.cu"

#include "02_vectors.cuh"
#include "03_bit_tricks.cuh"
#include "04_split_k.cuh"
#include "06_many_rows.cuh"
#include "07_launch.cuh"

WB_RUNG(gptq_dequantize, gptq_dequantize_v1, "one thread a word");
WB_RUNG(gptq_dequantize, gptq_dequantize_v2, "four columns a thread, with masks");

WB_RUNG(gptq_matmul, gptq_matmul_v1, "one thread a column");
WB_RUNG(gptq_matmul, gptq_matmul_v2, "vectors of words, warps along K");
WB_RUNG(gptq_matmul, gptq_matmul_v3, "packed tiles, two numbers a mask");
WB_RUNG(gptq_matmul, gptq_matmul_v4, "K split among blocks");
WB_RUNG(gptq_matmul, gptq_matmul_v5, "tensor cores, a ring of stages");
WB_RUNG(gptq_matmul, gptq_matmul_v6, "larger tiles for many rows of x");
WB_RUNG(gptq_matmul, gptq_matmul_v7, "wgmma, W from registers, x by TMA");

// #end
// #region contract
void gptq_dequantize(const GptqShape& shape,
                     const GptqTensors& tensors,
                     __half* w,
                     unsigned long long* bad_rows,
                     cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the first three are written
    if (!dequantize_has_work(shape, tensors, w, bad_rows)) return;
    // #solution
    gptq_dequantize_v2(shape, tensors, w, bad_rows, stream);
    // #end
    // #starter gptq_dequantize_v1(shape, tensors, w, bad_rows, stream);
}

void gptq_matmul(const GptqShape& shape,
                 const GptqTensors& tensors,
                 const uint4* packed,
                 const __half* x,
                 __half* y,
                 cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one, when the last one is
    if (!product_has_work(shape, tensors, packed, x, y, stream)) return;
    // #solution
    gptq_matmul_v7(shape, tensors, packed, x, y, stream);
    // #end
    // #starter gptq_matmul_v1(shape, tensors, packed, x, y, stream);
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
