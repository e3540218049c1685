// add_layernorm.cu: a LayerNorm, and what can be computed in the same launch.
#include "add_layernorm.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/row_sums.h>
#include <wb/scratch.h>

#include <algorithm>

#include "checks.h"
#include "given.h"

// #region fusion
Fusion fusion_of(const Node* nodes, int count, int first, int second) {
    WB_NOT_SOLVED();  // delete this line when the TODO is written
    check_nodes(nodes, count, first, second);
    // TODO(learner): see the contract. What is different for an add behind a norm and
    // for a norm behind an add? (about 12 lines)
    return Fusion::none;
}
// #endregion fusion

// #region v2-layernorm-add
/// layernorm_add_v2: a block has a row. y is rounded once, with the residual in it.
///
/// Launch   grid norm.rows, block kThreads
/// Traffic  reads x three times and other once, writes y
template <class T>
__global__ void layernorm_add_v2_kernel(FusedNorm<T> norm) {
    __shared__ wb::Moments s_warps[wb::kWarpSize];
    const int64_t row = blockIdx.x;
    const T* const g_x = row_of(norm.x, row);
    const T* const g_other = row_of(norm.other, row);
    T* const g_y = row_of(norm.y, row);
    // TODO(learner): the statistics of the row by measure_row(), then y by normalized()
    // and to_element<T>(); thread 0 calls keep() (about 10 lines)
    (void)s_warps, (void)g_x, (void)g_other, (void)g_y;
}
// #endregion v2-layernorm-add

// #region v2-add-layernorm
/// add_layernorm_v2: the same of a sum, which is stored on the way.
///
/// Launch   grid norm.rows, block kThreads
/// Traffic  reads x and other once and h three times, writes h and y
template <class T>
__global__ void add_layernorm_v2_kernel(FusedNorm<T> norm) {
    __shared__ wb::Moments s_warps[wb::kWarpSize];
    const int64_t row = blockIdx.x;
    const T* const g_x = row_of(norm.x, row);
    const T* const g_other = row_of(norm.other, row);
    T* const g_h = row_of(norm.h, row);
    T* const g_y = row_of(norm.y, row);
    // TODO(learner): h of this thread's columns, stored; then all from above, of h as
    // it was stored. A thread may read what it has written itself (about 15 lines)
    (void)s_warps, (void)g_x, (void)g_other, (void)g_h, (void)g_y;
}
// #endregion v2-add-layernorm

// #region v2-dropout
/// 0 if an element is dropped, else what it is multiplied by.
__device__ inline float factor_of(const Mask& mask, int64_t row, int64_t col) {
    // TODO(learner): one of the four words_of() its columns decides (about 3 lines)
    return 0.0f;
}

/// norm_mul_dropout_v2: layernorm_add_v2 with a product and a mask in place of the sum.
///
/// Launch   grid norm.rows, block kThreads
/// Traffic  reads x three times and other once, writes y
template <class T>
__global__ void norm_mul_dropout_v2_kernel(FusedNorm<T> norm, Mask mask) {
    __shared__ wb::Moments s_warps[wb::kWarpSize];
    const int64_t row = blockIdx.x;
    const T* const g_x = row_of(norm.x, row);
    const T* const g_mul = row_of(norm.other, row);
    T* const g_y = row_of(norm.y, row);
    // TODO(learner): as layernorm_add_v2_kernel; but what is dropped is 0, even if the
    // row has a NaN (about 13 lines)
    (void)s_warps, (void)g_x, (void)g_mul, (void)g_y, (void)mask;
}
// #endregion v2-dropout

// #region v2-terms
/// The contract's h, n and dmul of an element.
template <class T>
__device__ inline Terms terms_of(const FusedNormGradient<T>& norm,
                                 const Mask& mask,
                                 int64_t row,
                                 int64_t col) {
    const float factor = factor_of(mask, row, col);  // the mask of the forward pass
    const float x = to_float(row_of(norm.x, row)[col]);
    const float h = (x - norm.mean[row]) * norm.rstd[row];
    // TODO(learner): see the contract; n and dmul of what was dropped are 0, whatever
    // dy and mul are (about 5 lines)
    return {h, factor, 0.0f};
}
// #endregion v2-terms

// #region v2-dx
/// norm_mul_dropout_backward_v2: a block has a row of dx and of dmul.
///
/// Launch   grid norm.rows, block kThreads
/// Traffic  reads each element of dy, x and mul twice, writes dx and dmul
template <class T>
__global__ void dx_v2_kernel(FusedNormGradient<T> norm, Mask mask) {
    __shared__ wb::Pair s_warps[wb::kWarpSize];
    const int64_t row = blockIdx.x;
    wb::Pair sums = {};
    // TODO(learner): dmul of this thread's columns by terms_of(), and sums.g, sums.gh
    // of g = n * gamma and of g * h; sum_of_row(sums, wb::Group(kThreads), s_warps)
    // gives those of the row; then dx (about 16 lines)
    (void)s_warps, (void)row, (void)sums, (void)mask;
}
// #endregion v2-dx

// #region v2-columns
/// Sums of columns over every gridDim.y-th row; wb::part_sums_kernel adds the parts.
///
/// @param partial  [2, gridDim.y, columns] of dgamma, then of dbeta
///
/// Launch   grid (ceil_div(columns, kThreads), parts), block kThreads
/// Traffic  reads each element of dy, x and mul once
template <class T>
__global__ void columns_v2_kernel(FusedNormGradient<T> norm,
                                  Mask mask,
                                  float* partial) {
    const int64_t col = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (col >= norm.columns) return;
    float dgamma = 0.0f;
    float dbeta = 0.0f;
    // TODO(learner): rows blockIdx.y, blockIdx.y + gridDim.y, ... (about 5 lines)
    (void)mask;
    const int64_t parts = gridDim.y;
    partial[blockIdx.y * norm.columns + col] = dgamma;
    partial[(parts + blockIdx.y) * norm.columns + col] = dbeta;
}
// #endregion v2-columns

template <Kind kKind, class T>
static void launch_v2(const FusedNorm<T>& norm, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(norm.rows);
    if constexpr (kKind == Kind::norm_add)
        layernorm_add_v2_kernel<<<blocks, kThreads, 0, stream>>>(norm);
    else if constexpr (kKind == Kind::add_norm)
        add_layernorm_v2_kernel<<<blocks, kThreads, 0, stream>>>(norm);
    else
        norm_mul_dropout_v2_kernel<<<blocks, kThreads, 0, stream>>>(
            norm, mask_of(norm.dropout));
    CUDA_CHECK_LAUNCH();
}

template <class T>
static void launch_backward_v2(const FusedNormGradient<T>& norm, cudaStream_t stream) {
    const Mask mask = mask_of(norm.dropout);
    const auto rows = static_cast<unsigned>(norm.rows);
    dx_v2_kernel<<<rows, kThreads, 0, stream>>>(norm, mask);
    CUDA_CHECK_LAUNCH();
    if (norm.dgamma == nullptr && norm.dbeta == nullptr) return;
    const int64_t parts = std::min<int64_t>(wb::ceil_div<int64_t>(norm.rows, 16), 64);
    const wb::Scratch<float> partial(2 * parts * norm.columns, stream);
    const dim3 grid(wb::grid_size(norm.columns, kThreads),
                    static_cast<unsigned>(parts));
    columns_v2_kernel<<<grid, kThreads, 0, stream>>>(norm, mask, partial.data());
    CUDA_CHECK_LAUNCH();
    const dim3 all(wb::grid_size(norm.columns, wb::kWarpSize), 2);
    wb::part_sums_kernel<<<all, dim3(wb::kWarpSize, wb::kWarpSize), 0, stream>>>(
        partial.data(), parts, norm.columns, norm.dgamma, norm.dbeta);
    CUDA_CHECK_LAUNCH();
}

// #region contract
template <Kind kKind, class T>
static void forward(const char* function,
                    const FusedNorm<T>& norm,
                    cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the three kernels are written
    if (!check_norm(function, kKind, norm)) return;
    launch_v2<kKind>(norm, stream);
}

template <class T>
static void backward(const char* function,
                     const FusedNormGradient<T>& norm,
                     cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one, when those of the gradients are
    if (!check_gradient(function, norm)) return;
    if (norm.rows == 0) return clear_sums(norm, stream);
    launch_backward_v2(norm, stream);
}

#include "contract.h"
// #endregion contract
