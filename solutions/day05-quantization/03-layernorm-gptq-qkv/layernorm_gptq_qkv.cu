// layernorm_gptq_qkv.cu: LayerNorm, weights in 4 bits, and the products Q, K and V.
// #solution
//
// v1 is in this file, v2 in 02_one_launch.cuh, v3 in layernorm_gptq_qkv_fast.cu, the
// second stage, v4 in 04_by_rows.cuh, v5 in 05_fewer_warps.cuh.
//
// <Ladder of="layernorm_gptq_qkv" at="1 x 4096">
//        GB/s  idea                                   what limits it
//   v1   11.7  a LayerNorm, then three products       one load at a time; four launches
//   v2    817  a LayerNorm, then one on tensor cores  a launch, and h from memory
//   v3    943  each block normalises its rows         rows are measured by every block
//   v4  1,020  one block a multiprocessor, or v2      memory
//   v5      -  half of the warps for up to four rows  memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
// #end
#include "layernorm_gptq_qkv.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>
#include <wb/moments.h>
#include <wb/scratch.h>

#include "checks.h"
#include "tiles.cuh"

constexpr int kThreads = 128;

// #region v1-norm
/// Adds an element to what is known of others: Welford's step.
__device__ __forceinline__ void add_element(wb::Moments& all, float x) {
    // TODO(learner): one element more; the mean moves by the distance of x from it,
    // divided by their number; squares grow by the distance from the old mean times the
    // distance from the new one (about 4 lines)
    // #solution
    all.count += 1.0f;
    const float distance = x - all.mean;
    all.mean += distance / all.count;
    all.squares += distance * (x - all.mean);
    // #end
}

/// Writes a row of h, all threads of a block together.
///
/// @param x             [hidden] the row
/// @param weight, bias  [hidden], or null: 1, and nothing
/// @param h             [hidden]
__device__ __forceinline__ void normalise_row(const __half* x,
                                              const __half* weight,
                                              const __half* bias,
                                              __half* h,
                                              int64_t hidden,
                                              const wb::Moments& all,
                                              float eps) {
    // TODO(learner): rstd, see wb::rstd_of(); then h, element by element: computed as a
    // float, rounded to half once (about 7 lines)
    // #solution
    const float rstd = wb::rstd_of(all, eps);
    for (int64_t k = threadIdx.x; k < hidden; k += kThreads) {
        float value = (__half2float(x[k]) - all.mean) * rstd;
        if (weight != nullptr) value *= __half2float(weight[k]);
        if (bias != nullptr) value += __half2float(bias[k]);
        h[k] = __float2half(value);
    }
    // #end
}

/// v1's LayerNorm: a block for each row.
///
/// Launch   grid M, block kThreads
/// Traffic  reads x twice, writes h
__global__ void __launch_bounds__(kThreads)
    qkv_norm_v1_kernel(const __half* x,       // [M, hidden]
                       const __half* weight,  // [hidden], or null: all are 1
                       const __half* bias,    // [hidden], or null: nothing is added
                       __half* h,             // [M, hidden]
                       int64_t hidden,
                       float eps) {
    __shared__ wb::Moments s_warps[wb::kWarpSize];
    const int64_t first = blockIdx.x * hidden;
    wb::Moments mine = {};
    for (int64_t k = threadIdx.x; k < hidden; k += kThreads)
        add_element(mine, __half2float(x[first + k]));
    const wb::Moments all = wb::merge_warps(merge_lanes(mine), s_warps, hidden);
    normalise_row(x + first, weight, bias, h + first, hidden, all, eps);
}
// #endregion v1-norm

// #region v1-weight
/// w[8 r + i, n] out of its word, as in chapter 02; 0 for a row without a group.
__device__ __forceinline__ float weight_of(
    const GptqView& v, uint32_t word, int64_t r, int i, int64_t n) {
    const int64_t k = 8 * r + i;
    const int64_t group = v.g_idx != nullptr ? v.g_idx[k] : k / v.rows_of_group;
    if (group < 0 || group >= v.groups) return 0.0f;
    const int q = static_cast<int>(word >> 4 * i & 15);
    const __half scale = v.scales[group * v.N + n];
    return __half2float(__hmul(__int2half_rn(q - v.zero(group, n)), scale));
}
// #endregion v1-weight

// #region v1-product
/// v1: one of the three products: a thread for each of its elements.
///
/// Launch   grid M blocks_across, block kThreads
/// Traffic  reads a third of W for each row of h
///
/// @param part  0, 1, 2: Q, K, V
__global__ void __launch_bounds__(kThreads)
    qkv_product_v1_kernel(const GptqView v,
                          const __half* h,  // [M, hidden]
                          __half* qkv,      // [3, M, hidden]
                          int64_t M,
                          int part,
                          unsigned blocks_across) {
    const int64_t hidden = v.K;
    const int64_t n = int64_t{blockIdx.x % blocks_across} * kThreads + threadIdx.x;
    if (n >= hidden) return;
    // TODO(learner): the row m is blockIdx.x / blocks_across. Which column of W is
    // column n of this part? For each of its words, v.qweight, and each of the eight
    // rows of a word, h times weight_of(), added up as floats. Where in qkv does the
    // sum go? (about 10 lines)
    // #solution
    const int64_t m = blockIdx.x / blocks_across;
    const int64_t column = part * hidden + n;
    float sum = 0.0f;
    for (int64_t r = 0; r < hidden / 8; ++r) {
        const uint32_t word = v.qweight[r * v.N + column];
        for (int i = 0; i < 8; ++i)
            sum += __half2float(h[m * hidden + 8 * r + i]) *
                   weight_of(v, word, r, i, column);
    }
    qkv[(part * M + m) * hidden + n] = __float2half(sum);
    // #end
}

static void layernorm_gptq_qkv_v1(const QkvShape& shape,
                                  const QkvNorm& norm,
                                  const GptqTensors& tensors,
                                  const uint4*,
                                  const __half* input,
                                  __half* qkv,
                                  cudaStream_t stream) {
    const int64_t M = shape.rows();
    const wb::Scratch<__half> h(M * shape.hidden, stream);
    qkv_norm_v1_kernel<<<wb::grid_size(M, 1), kThreads, 0, stream>>>(
        input, norm.weight, norm.bias, h.data(), shape.hidden, norm.eps);
    CUDA_CHECK_LAUNCH();
    const GptqView v = GptqView::of(shape.weights(), tensors);
    const unsigned across = wb::grid_size(shape.hidden, kThreads);
    for (int part = 0; part < 3; ++part) {
        qkv_product_v1_kernel<<<wb::grid_size(M * across, 1), kThreads, 0, stream>>>(
            v, h.data(), qkv, M, part, across);
        CUDA_CHECK_LAUNCH();
    }
}
// #endregion v1-product

// #solution
#define WB_VERSION_ONLY
#include "layernorm_gptq_qkv_fast.cu"

#include "02_one_launch.cuh"
#include "04_by_rows.cuh"
#include "05_fewer_warps.cuh"

WB_RUNG(layernorm_gptq_qkv, layernorm_gptq_qkv_v1, "a LayerNorm, then three products");
WB_RUNG(layernorm_gptq_qkv,
        layernorm_gptq_qkv_v2,
        "a LayerNorm, then one on tensor cores");
WB_RUNG(layernorm_gptq_qkv, layernorm_gptq_qkv_v3, "each block normalises its rows");
WB_RUNG(layernorm_gptq_qkv, layernorm_gptq_qkv_v4, "one block a multiprocessor, or v2");
WB_RUNG(layernorm_gptq_qkv,
        layernorm_gptq_qkv_v5,
        "half of the warps for up to four rows");

// #end
// #region contract
int64_t qkv_packed_vectors(const QkvShape& shape, bool has_order) {
    return checked_packed_vectors(shape, has_order);
}

void qkv_repack(const QkvShape& shape,
                const GptqTensors& tensors,
                uint4* packed,
                unsigned long long* bad_rows,
                cudaStream_t stream) {
    checked_repack(shape, tensors, packed, bad_rows, stream);
}

void layernorm_gptq_qkv(const QkvShape& shape,
                        const QkvNorm& norm,
                        const GptqTensors& tensors,
                        const uint4* packed,
                        const __half* input,
                        __half* qkv,
                        cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when all three are written
    if (!qkv_has_work(shape, norm, tensors, packed, input, qkv)) return;
    // #solution
    layernorm_gptq_qkv_v5(shape, norm, tensors, packed, input, qkv, stream);
    // #end
    // #starter layernorm_gptq_qkv_v1(shape, norm, tensors, packed, input, qkv, stream);
}
// #endregion contract
