// layernorm.cu: rows get mean 0 and variance 1, and the gradients of that.
// #solution
//
// v3 and v4 are in layernorm_fast.cu, the second stage.
//
// <Ladder of="layer_norm" at="16384 x 4096">
//        GB/s  idea                          what limits it
//   v1  3,460  two passes, then y            every element is read three times
//   v2  2,420  Welford, then y               twice, and a division an element
//   v3  3,170  one read: a row in registers  loads of one element
//   v4  3,940  16 bytes at a time            the speed of memory, up to 2^15 columns
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-24
//
// <Ladder of="layer_norm_bf16" at="16384 x 4096">
//        GB/s  idea                          what limits it
//   v1  2,310  two passes, then y            every element is read three times
//   v2  1,410  Welford, then y               twice, and a division an element
//   v3  1,600  one read: a row in registers  loads of one element
//   v4  3,600  16 bytes at a time            the speed of memory, up to 2^15 columns
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-24
//
// <Ladder of="rms_norm_bf16" at="16384 x 4096">
//        GB/s  idea                          what limits it
//   v1  2,610  one pass, then y              every element is read twice
//   v3  1,780  one read: a row in registers  loads of one element
//   v4  3,720  16 bytes at a time            the speed of memory, up to 2^15 columns
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-24
//
// <Ladder of="layer_norm_backward" at="16384 x 4096">
//        GB/s  idea                         what limits it
//   v1  1,740  dx, then the columns         dy and x are read three times
//   v4  3,450  one pass, sums in registers  a barrier a row
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-24
//
// <Ladder of="layer_norm_backward_bf16" at="16384 x 4096">
//        GB/s  idea                         what limits it
//   v1  1,230  dx, then the columns         dy and x are read three times
//   v4  2,610  one pass, sums in registers  a barrier a row
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-24
//
// <Ladder of="rms_norm_backward_bf16" at="16384 x 4096">
//        GB/s  idea                         what limits it
//   v1  1,280  dx, then the columns         dy and x are read three times
//   v4  2,640  one pass, sums in registers  a barrier a row
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-24
// #end
#include "layernorm.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/scratch.h>
// #solution
#include <wb/ladder.h>
// #end

#include <algorithm>

#include "checks.h"
// #solution
#include "groups.h"
// #end
#include "numbers.h"
#include "rows.h"

// #region v1-statistics
/// What a row is normalised with.
struct Statistics {
    float mean;
    float rstd;
};

/// Mean and 1 / standard deviation of a row, in two passes over it.
///
/// @param g_x          [columns] the row
/// @param is_centered  false: of an RMSNorm, whose mean is 0
/// @param s_warps      [kWarps] shared memory for block_sum()
template <class T>
__device__ inline Statistics measure_row(
    const T* g_x, int64_t columns, float eps, bool is_centered, float* s_warps) {
    // TODO(learner): threadIdx.x, threadIdx.x + kThreads, ... are this thread's
    // columns. If is_centered: the mean of to_float(g_x[col]), by block_sum(). Then the
    // mean of the squared distances from it, and from that and eps the result (about
    // 14 lines)
    // #solution
    const auto count = static_cast<float>(columns);
    float mean = 0.0f;
    if (is_centered) {
        float sum = 0.0f;
        for (int64_t col = threadIdx.x; col < columns; col += kThreads)
            sum += to_float(g_x[col]);
        mean = block_sum(sum, s_warps) / count;
    }
    float squares = 0.0f;
    for (int64_t col = threadIdx.x; col < columns; col += kThreads) {
        const float distance = to_float(g_x[col]) - mean;
        squares += distance * distance;
    }
    const float variance = block_sum(squares, s_warps) / count;
    return {mean, 1.0f / sqrtf(variance + eps)};
    // #end
    // #starter return {};
}

/// One element of y.
__device__ inline float normalized(float x, Statistics row, float gamma, float beta) {
    // TODO(learner): see the contract (1 line)
    // #solution
    return (x - row.mean) * row.rstd * gamma + beta;
    // #end
    // #starter return 0.0f;
}
// #endregion v1-statistics

// #region v1-kernel
/// norm_v1: a block has a row, and goes over it three times: for the mean, for the
/// variance around it, and for y.
///
/// Launch   grid norm.rows, block kThreads
/// Traffic  reads each element three times, twice for an RMSNorm; writes it once
template <class T>
__global__ void norm_v1_kernel(Norm<T> norm, bool is_centered) {
    __shared__ float s_warps[kWarps];
    const int64_t row = blockIdx.x;
    const T* const g_x = norm.x + row * norm.columns;
    T* const g_y = norm.y + row * norm.columns;
    const Statistics known =
        measure_row(g_x, norm.columns, norm.eps, is_centered, s_warps);
    for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads)
        g_y[col] = to_element<T>(normalized(to_float(g_x[col]),
                                            known,
                                            element_or(1.0f, norm.gamma, col),
                                            element_or(0.0f, norm.beta, col)));
    if (threadIdx.x == 0) keep(norm, row, known.mean, known.rstd);
}
// #endregion v1-kernel

template <class T, bool kIsCentered>
static void norm_v1(const Norm<T>& norm, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(norm.rows);
    norm_v1_kernel<<<blocks, kThreads, 0, stream>>>(norm, kIsCentered);
    CUDA_CHECK_LAUNCH();
}

// #solution
// #region v2-welford
/// One more element: the mean moves by its share of the distance, and the squares grow
/// by the product of the distances from the old mean and from the new one.
__device__ __forceinline__ Moments with_element(Moments known, float element) {
    const float count = known.count + 1.0f;
    const float distance = element - known.mean;
    const float mean = known.mean + distance / count;
    return {count, mean, known.squares + distance * (element - mean)};
}
// #endregion v2-welford

// #region v2-kernel
/// norm_v2: mean and variance in one pass.
///
/// Launch   grid norm.rows, block kThreads
/// Traffic  reads each element twice, writes it once
template <class T>
__global__ void norm_v2_kernel(Norm<T> norm) {
    __shared__ Moments s_warps[wb::kWarpSize];
    const int64_t row = blockIdx.x;
    const T* const g_x = norm.x + row * norm.columns;
    T* const g_y = norm.y + row * norm.columns;
    Moments known = {};
    for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads)
        known = with_element(known, to_float(g_x[col]));
    for (int step = 1; step < wb::kWarpSize; step *= 2) {
        const Moments other = {__shfl_down_sync(wb::kAllLanes, known.count, step),
                               __shfl_down_sync(wb::kAllLanes, known.mean, step),
                               __shfl_down_sync(wb::kAllLanes, known.squares, step)};
        known = merged(known, other);
    }
    known = merge_warps(known, s_warps, norm.columns);
    const float rstd = rstd_of(known, norm.eps);
    for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads)
        g_y[col] = to_element<T>(normalized(to_float(g_x[col]),
                                            {known.mean, rstd},
                                            element_or(1.0f, norm.gamma, col),
                                            element_or(0.0f, norm.beta, col)));
    if (threadIdx.x == 0) keep(norm, row, known.mean, rstd);
}
// #endregion v2-kernel

/// An RMSNorm needs no mean: v1 has one pass for it.
template <class T, bool kIsCentered>
requires kIsCentered static void norm_v2(const Norm<T>& norm, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(norm.rows);
    norm_v2_kernel<<<blocks, kThreads, 0, stream>>>(norm);
    CUDA_CHECK_LAUNCH();
}
// #end

// #region v1-dx
/// norm_backward_v1: a block has a row of dx.
///
/// Launch   grid norm.rows, block kThreads
/// Traffic  reads each element of dy and x twice, writes one of dx
template <class T>
__global__ void dx_v1_kernel(NormGradient<T> norm, bool is_centered) {
    // TODO(learner): the means of g and of g * h over the row blockIdx.x, by g_of() and
    // h_of(), the first one 0 if not is_centered; then dx (about 16 lines)
    // #solution
    __shared__ float s_warps[kWarps];
    const int64_t row = blockIdx.x;
    const auto count = static_cast<float>(norm.columns);
    float sum_g = 0.0f;
    float sum_gh = 0.0f;
    for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads) {
        const float g = g_of(norm, row, col);
        sum_g += g;
        sum_gh += g * h_of(norm, row, col);
    }
    const float mean_g = is_centered ? block_sum(sum_g, s_warps) / count : 0.0f;
    const float mean_gh = block_sum(sum_gh, s_warps) / count;
    for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads) {
        const float h = h_of(norm, row, col);
        const float dx = norm.rstd[row] * (g_of(norm, row, col) - mean_g - h * mean_gh);
        norm.dx[row * norm.columns + col] = to_element<T>(dx);
    }
    // #end
}
// #endregion v1-dx

// #region v1-columns
/// Sums of columns over every gridDim.y-th row: the first of two stages. There are no
/// atomics: with them the order of the additions, and so the last bits of the sums,
/// would change from run to run.
///
/// @param partial  [2, gridDim.y, columns] of dgamma, then of dbeta
///
/// Launch   grid (ceil_div(columns, kThreads), parts), block kThreads
/// Traffic  reads each element of dy and x once
template <class T>
__global__ void columns_v1_kernel(NormGradient<T> norm, float* partial) {
    const int64_t col = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (col >= norm.columns) return;
    float dgamma = 0.0f;
    float dbeta = 0.0f;
    // TODO(learner): rows blockIdx.y, blockIdx.y + gridDim.y, ...: dgamma is the sum of
    // dy * h, dbeta that of dy (about 5 lines)
    // #solution
    for (int64_t row = blockIdx.y; row < norm.rows; row += gridDim.y) {
        const float dy = to_float(norm.dy[row * norm.columns + col]);
        dgamma += dy * h_of(norm, row, col);
        dbeta += dy;
    }
    // #end
    const int64_t parts = gridDim.y;
    partial[blockIdx.y * norm.columns + col] = dgamma;
    partial[(parts + blockIdx.y) * norm.columns + col] = dbeta;
}

/// Adds the parts of each column: the second stage.
///
/// Launch   grid ceil_div(columns, kThreads), block kThreads
template <class T>
__global__ void parts_v1_kernel(NormGradient<T> norm,
                                const float* partial,  // [2, parts, columns]
                                int64_t parts) {
    const int64_t col = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (col >= norm.columns) return;
    float dgamma = 0.0f;
    float dbeta = 0.0f;
    // TODO(learner): the sums of this column's parts (about 4 lines)
    // #solution
    for (int64_t part = 0; part < parts; ++part) {
        dgamma += partial[part * norm.columns + col];
        dbeta += partial[(parts + part) * norm.columns + col];
    }
    // #end
    if (norm.dgamma != nullptr) norm.dgamma[col] = to_element<T>(dgamma);
    if (norm.dbeta != nullptr) norm.dbeta[col] = to_element<T>(dbeta);
}
// #endregion v1-columns

template <class T, bool kIsCentered>
static void norm_backward_v1(const NormGradient<T>& norm, cudaStream_t stream) {
    if (norm.dx != nullptr) {
        const auto blocks = static_cast<unsigned>(norm.rows);
        dx_v1_kernel<<<blocks, kThreads, 0, stream>>>(norm, kIsCentered);
        CUDA_CHECK_LAUNCH();
    }
    if (norm.dgamma == nullptr && norm.dbeta == nullptr) return;
    const int64_t parts = std::min<int64_t>(wb::ceil_div<int64_t>(norm.rows, 16), 64);
    const wb::Scratch<float> partial(2 * parts * norm.columns, stream);
    const unsigned blocks = wb::grid_size(norm.columns, kThreads);
    const dim3 grid(blocks, static_cast<unsigned>(parts));
    columns_v1_kernel<<<grid, kThreads, 0, stream>>>(norm, partial.data());
    CUDA_CHECK_LAUNCH();
    parts_v1_kernel<<<blocks, kThreads, 0, stream>>>(norm, partial.data(), parts);
    CUDA_CHECK_LAUNCH();
}

// #solution
#define WB_VERSION_ONLY
#include "layernorm_fast.cu"

/// norm_v3: v4 with one element an access, whatever the rows are.
template <class T, bool kIsCentered>
static void norm_v3(const Norm<T>& norm, cudaStream_t stream) {
    launch_norm<T, 1>(norm, kIsCentered, stream);
}

#include "versions.cuh"
// #end

// #region contract
template <class T, bool kIsCentered>
static void forward(const char* function, const Norm<T>& norm, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when mean and rstd are written
    if (!check_norm(function, norm, kIsCentered)) return;
    // #solution
    norm_v4<T, kIsCentered>(norm, stream);
    // #end
    // #starter norm_v1<T, kIsCentered>(norm, stream);
}

template <class T, bool kIsCentered>
static void backward(const char* function,
                     const NormGradient<T>& norm,
                     cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one, when those of the backward pass are
    if (!check_norm(function, norm, kIsCentered)) return;
    if (norm.rows == 0) return clear_sums(norm, stream);
    // #solution
    norm_backward_v4<T, kIsCentered>(norm, stream);
    // #end
    // #starter norm_backward_v1<T, kIsCentered>(norm, stream);
}

void layer_norm(const Norm<float>& norm, cudaStream_t stream) {
    forward<float, true>("layer_norm", norm, stream);
}
void rms_norm(const Norm<float>& norm, cudaStream_t stream) {
    forward<float, false>("rms_norm", norm, stream);
}
void layer_norm_backward(const NormGradient<float>& norm, cudaStream_t stream) {
    backward<float, true>("layer_norm_backward", norm, stream);
}
void rms_norm_backward(const NormGradient<float>& norm, cudaStream_t stream) {
    backward<float, false>("rms_norm_backward", norm, stream);
}

#include "sixteen_bits.h"
// #endregion contract
