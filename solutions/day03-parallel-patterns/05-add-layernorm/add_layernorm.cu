// add_layernorm.cu: a LayerNorm, and what can be computed in the same launch.
// #solution
//
// v3 to v5 are in add_layernorm_fast.cu, the second stage.
//
// <Ladder of="add_layernorm" at="16384 x 4096">
//        GB/s  idea                             what limits it
//   v1  2,880  two launches: add, then norm     five matrices move instead of four
//   v2  3,270  one launch, three passes         loads of one element; h is read again
//   v3  3,530  one read: the row in registers   loads of one element
//   v4  3,930  16 bytes at a time               the speed of memory
//   v5  3,940  few rows: a thread for a vector  the speed of memory, or latency
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-23
//
// <Ladder of="add_layernorm_bf16" at="16384 x 4096">
//        GB/s  idea                             what limits it
//   v1  1,970  two launches: add, then norm     five matrices move instead of four
//   v2  2,130  one launch, three passes         loads of one element; h is read again
//   v3  1,930  one read: the row in registers   loads of one element
//   v4  3,860  16 bytes at a time               the speed of memory
//   v5  3,850  few rows: a thread for a vector  the speed of memory, or latency
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-23
//
// <Ladder of="layernorm_add_bf16" at="16384 x 4096">
//        GB/s  idea                             what limits it
//   v2  2,200  one launch, three passes         loads of one element; x is read again
//   v3  1,570  one read: the row in registers   loads of one element
//   v4  3,360  16 bytes at a time               the speed of memory
//   v5  3,360  few rows: a thread for a vector  the speed of memory, or latency
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-23
//
// <Ladder of="norm_mul_dropout_bf16" at="16384 x 4096">
//        GB/s  idea                           what limits it
//   v2    965  one launch, three passes       ten rounds of Philox an element
//   v5  2,130  one read, ten rounds for four  the speed of memory
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-23
//
// <Ladder of="norm_mul_dropout_backward_bf16" at="16384 x 4096">
//        GB/s  idea                           what limits it
//   v2    550  dx and dmul, then the columns  dy, x and mul are read three times
//   v5  1,800  one pass, sums in registers    a barrier a row
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-23
// #end
#include "add_layernorm.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/row_sums.h>
#include <wb/scratch.h>

#include <algorithm>

#include "checks.h"
#include "given.h"

// #region fusion
Fusion fusion_of(const Node* nodes, int count, int first, int second) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    check_nodes(nodes, count, first, second);
    // TODO(learner): see the contract. What is different for an add behind a norm and
    // for a norm behind an add? (about 12 lines)
    // #solution
    const Node& add = nodes[second];
    if (nodes[first].op == Op::add && nodes[second].op == Op::norm)
        return nodes[second].a == first ? Fusion::add_then_norm : Fusion::none;
    if (nodes[first].op != Op::norm || add.op != Op::add) return Fusion::none;
    if ((add.a == first) == (add.b == first)) return Fusion::none;
    // The sum is all that will be stored. If nothing but the add reads the norm, the
    // other summand cannot need it either.
    if (nodes[first].is_wanted) return Fusion::none;
    for (int i = 0; i < count; ++i)
        if (i != second && (nodes[i].a == first || nodes[i].b == first))
            return Fusion::none;
    return Fusion::norm_then_add;
    // #end
    // #starter return Fusion::none;
}
// #endregion fusion

// #solution
// #region v1-launches
/// h = x + other, and nothing else: what a framework launches first.
///
/// Launch   grid norm.rows, block kThreads
/// Traffic  reads 2 elements, writes 1
template <class T>
__global__ void add_v1_kernel(FusedNorm<T> norm) {
    const int64_t row = blockIdx.x;
    for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads)
        row_of(norm.h, row)[col] =
            to_element<T>(to_float(row_of(norm.x, row)[col]) +
                          to_float(row_of(norm.other, row)[col]));
}

/// y = LayerNorm(h): what it launches next.
///
/// Launch   grid norm.rows, block kThreads
/// Traffic  reads each element of h three times, writes it once
template <class T>
__global__ void norm_v1_kernel(FusedNorm<T> norm) {
    __shared__ wb::Moments s_warps[wb::kWarpSize];
    const int64_t row = blockIdx.x;
    const T* const g_h = row_of(norm.h, row);
    const Statistics known =
        measure_row(norm.columns, norm.eps, s_warps, [&](int64_t col) {
            return to_float(g_h[col]);
        });
    for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads)
        row_of(norm.y, row)[col] = to_element<T>(normalized(to_float(g_h[col]),
                                                            known,
                                                            to_float(norm.gamma[col]),
                                                            to_float(norm.beta[col])));
    if (threadIdx.x == 0) keep(norm, row, known);
}

/// add_layernorm_v1: two launches; h goes to memory and comes back.
template <Kind kKind, class T>
requires(kKind == Kind::add_norm) static void launch_v1(const FusedNorm<T>& norm,
                                                        cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(norm.rows);
    add_v1_kernel<<<blocks, kThreads, 0, stream>>>(norm);
    CUDA_CHECK_LAUNCH();
    norm_v1_kernel<<<blocks, kThreads, 0, stream>>>(norm);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-launches

// #end
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
    // #solution
    const Statistics known =
        measure_row(norm.columns, norm.eps, s_warps, [&](int64_t col) {
            return to_float(g_x[col]);
        });
    for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads) {
        const float y = normalized(to_float(g_x[col]),
                                   known,
                                   to_float(norm.gamma[col]),
                                   to_float(norm.beta[col]));
        g_y[col] = to_element<T>(y + to_float(g_other[col]));
    }
    if (threadIdx.x == 0) keep(norm, row, known);
    // #end
    // #starter (void)s_warps, (void)g_x, (void)g_other, (void)g_y;
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
    // #solution
    for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads)
        g_h[col] = to_element<T>(to_float(g_x[col]) + to_float(g_other[col]));
    const Statistics known =
        measure_row(norm.columns, norm.eps, s_warps, [&](int64_t col) {
            return to_float(g_h[col]);
        });
    for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads)
        g_y[col] = to_element<T>(normalized(to_float(g_h[col]),
                                            known,
                                            to_float(norm.gamma[col]),
                                            to_float(norm.beta[col])));
    if (threadIdx.x == 0) keep(norm, row, known);
    // #end
    // #starter (void)s_warps, (void)g_x, (void)g_other, (void)g_h, (void)g_y;
}
// #endregion v2-add-layernorm

// #region v2-dropout
/// 0 if an element is dropped, else what it is multiplied by.
__device__ inline float factor_of(const Mask& mask, int64_t row, int64_t col) {
    // TODO(learner): one of the four words_of() its columns decides (about 3 lines)
    // #solution
    const wb::Words4 words = words_of(mask, row, col / 4);
    return words.word[col % 4] < mask.threshold ? 0.0f : mask.scale;
    // #end
    // #starter return 0.0f;
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
    // #solution
    const Statistics known =
        measure_row(norm.columns, norm.eps, s_warps, [&](int64_t col) {
            return to_float(g_x[col]);
        });
    for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads) {
        const float y = normalized(to_float(g_x[col]),
                                   known,
                                   to_float(norm.gamma[col]),
                                   to_float(norm.beta[col]));
        const float factor = factor_of(mask, row, col);
        const float product = y * to_float(g_mul[col]) * factor;
        g_y[col] = to_element<T>(factor == 0.0f ? 0.0f : product);
    }
    if (threadIdx.x == 0) keep(norm, row, known);
    // #end
    // #starter (void)s_warps, (void)g_x, (void)g_mul, (void)g_y, (void)mask;
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
    // #solution
    if (factor == 0.0f) return {h, 0.0f, 0.0f};
    const float e = to_float(row_of(norm.dy, row)[col]) * factor;
    const float y = h * to_float(norm.gamma[col]) + to_float(norm.beta[col]);
    return {h, e * to_float(row_of(norm.mul, row)[col]), e * y};
    // #end
    // #starter return {h, factor, 0.0f};
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
    // #solution
    for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads) {
        const Terms terms = terms_of(norm, mask, row, col);
        const float g = terms.n * to_float(norm.gamma[col]);
        row_of(norm.dmul, row)[col] = to_element<T>(terms.dmul);
        sums.g += g;
        sums.gh += g * terms.h;
    }
    sums = wb::sum_of_row(sums, wb::Group(kThreads), s_warps);
    const auto count = static_cast<float>(norm.columns);
    for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads) {
        const Terms terms = terms_of(norm, mask, row, col);
        const float g = terms.n * to_float(norm.gamma[col]);
        const float inner = g - sums.g / count - terms.h * (sums.gh / count);
        row_of(norm.dx, row)[col] = to_element<T>(norm.rstd[row] * inner);
    }
    // #end
    // #starter (void)s_warps, (void)row, (void)sums, (void)mask;
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
    // #solution
    for (int64_t row = blockIdx.y; row < norm.rows; row += gridDim.y) {
        const Terms terms = terms_of(norm, mask, row, col);
        dgamma += terms.n * terms.h;
        dbeta += terms.n;
    }
    // #end
    // #starter (void)mask;
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

// #solution
#define WB_VERSION_ONLY
#include "add_layernorm_fast.cu"
#include "versions.cuh"

// #end
// #region contract
template <Kind kKind, class T>
static void forward(const char* function,
                    const FusedNorm<T>& norm,
                    cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the three kernels are written
    if (!check_norm(function, kKind, norm)) return;
    // #solution
    launch_v5<kKind>(norm, stream);
    // #end
    // #starter launch_v2<kKind>(norm, stream);
}

template <class T>
static void backward(const char* function,
                     const FusedNormGradient<T>& norm,
                     cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one, when those of the gradients are
    if (!check_gradient(function, norm)) return;
    if (norm.rows == 0) return clear_sums(norm, stream);
    // #solution
    launch_backward_v5(norm, stream);
    // #end
    // #starter launch_backward_v2(norm, stream);
}

#include "contract.h"
// #endregion contract
