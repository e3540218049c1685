// layernorm_gptq_qkv.cu: LayerNorm, weights in 4 bits, and the products Q, K and V.
#include "layernorm_gptq_qkv.h"

#include <wb/check.h>
#include <wb/exercise.h>
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
    WB_NOT_SOLVED();  // delete this line when all three are written
    if (!qkv_has_work(shape, norm, tensors, packed, input, qkv)) return;
    layernorm_gptq_qkv_v1(shape, norm, tensors, packed, input, qkv, stream);
}
// #endregion contract
