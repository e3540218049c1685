/// l2_rows.cuh: given with "Go faster": l2_normalize() and its gradient, version 2: a
/// row stays in the registers of a warp, as in chapter 03. There is nothing to write
/// here.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <cstdint>

#include "given.h"
#include "packs.h"

// #region l2-row
/// A row, or a few, in the registers of a warp: up to kPacks packs of each lane.
///
/// @tparam V      elements of a pack
/// @tparam kPacks of a lane; a row has no more than 32 * V * kPacks elements
template <int V, int kPacks>
struct Row {
    static constexpr int kColumns = wb::kWarpSize * V * kPacks;
    /// Rows of a warp: 64 bytes of each lane are under way, whatever the columns are.
    static constexpr int kRows = V * kPacks >= 16 ? 1 : 16 / (V * kPacks);
    /// The same where two arrays are read.
    static constexpr int kBackwardRows = kRows > 1 ? kRows / 2 : 1;

    Pack<float, V> r_x[kPacks];

    /// Reads all of it, before anything is used; zeros where there is no element.
    __device__ __forceinline__ void load(const float* g_x, int columns) {
#pragma unroll
        for (int k = 0; k < kPacks; ++k) {
            const int col = place(k);
            r_x[k] = col < columns ? Pack<float, V>::load(g_x + col)
                                   : Pack<float, V>::filled(0.0f);
        }
    }
    __device__ __forceinline__ void store(float* g_y, int columns) const {
#pragma unroll
        for (int k = 0; k < kPacks; ++k)
            if (place(k) < columns) r_x[k].store(g_y + place(k));
    }

    /// The sum over the row of its elements times those of another one.
    __device__ __forceinline__ float dot(const Row& other) const {
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k < kPacks; ++k)
#pragma unroll
            for (int i = 0; i < V; ++i)
                sum += r_x[k].value[i] * other.r_x[k].value[i];
        return warp_sum(sum);
    }

    /// Each element becomes f(element, the other row's element).
    template <class F>
    __device__ __forceinline__ void change(const Row& other, F f) {
#pragma unroll
        for (int k = 0; k < kPacks; ++k)
#pragma unroll
            for (int i = 0; i < V; ++i)
                r_x[k].value[i] = f(r_x[k].value[i], other.r_x[k].value[i]);
    }

 private:
    static __device__ __forceinline__ int place(int k) {
        return (static_cast<int>(threadIdx.x) % wb::kWarpSize + wb::kWarpSize * k) * V;
    }
};
// #endregion l2-row

// #region l2-kernels
/// l2_normalize_v2: a warp has some rows, all of them loaded before the first one is
/// used.
///
/// Launch   grid ceil_div(rows, kWarps * R::kRows), block kThreads
/// Traffic  reads each element once, writes it once
template <class R>
__global__ void __launch_bounds__(kThreads)
    l2_normalize_v2_kernel(const float* x,  // [rows, columns]
                           float* y,        // [rows, columns]
                           float* norms,    // [rows]
                           L2Shape shape) {
    const auto [rows, columns, eps] = shape;
    const int64_t warp = int64_t{blockIdx.x} * kWarps + threadIdx.x / wb::kWarpSize;
    const int64_t first = warp * R::kRows;
    R r_rows[R::kRows];
#pragma unroll
    for (int r = 0; r < R::kRows; ++r)
        if (first + r < rows)
            r_rows[r].load(x + (first + r) * columns, static_cast<int>(columns));
#pragma unroll
    for (int r = 0; r < R::kRows; ++r) {
        if (first + r >= rows) break;  // the whole warp
        const float norm = sqrtf(r_rows[r].dot(r_rows[r]));
        if (threadIdx.x % wb::kWarpSize == 0) norms[first + r] = norm;
        const float length = norm < shape.eps ? shape.eps : norm;
        r_rows[r].change(r_rows[r], [&](float value, float) { return value / length; });
        r_rows[r].store(y + (first + r) * columns, static_cast<int>(columns));
    }
}

/// l2_normalize_backward_v2: the same with the rows of y and of dy.
///
/// Launch   grid ceil_div(rows, kWarps * R::kBackwardRows), block kThreads
template <class R>
__global__ void __launch_bounds__(kThreads)
    l2_normalize_backward_v2_kernel(const float* dy,     // [rows, columns]
                                    const float* y,      // [rows, columns]
                                    const float* norms,  // [rows]
                                    float* dx,           // [rows, columns]
                                    L2Shape shape) {
    constexpr int kRows = R::kBackwardRows;
    const int64_t rows = shape.rows;
    const int64_t columns = shape.columns;
    const int64_t warp = int64_t{blockIdx.x} * kWarps + threadIdx.x / wb::kWarpSize;
    const int64_t first = warp * kRows;
    R r_dy[kRows];
    R r_y[kRows];
    float r_norm[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        if (first + r >= rows) break;
        r_dy[r].load(dy + (first + r) * columns, static_cast<int>(columns));
        r_y[r].load(y + (first + r) * columns, static_cast<int>(columns));
        r_norm[r] = norms[first + r];
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        if (first + r >= rows) break;  // the whole warp
        const float dot = r_y[r].dot(r_dy[r]);
        const float norm = r_norm[r];
        const bool is_short = norm < shape.eps;
        r_dy[r].change(r_y[r], [&](float g, float v) {
            return is_short ? g / shape.eps : (g - v * dot) / norm;
        });
        r_dy[r].store(dx + (first + r) * columns, static_cast<int>(columns));
    }
}
// #endregion l2-kernels

// #region l2-wide
/// Where a row does not fit into a warp: a block goes over it, and once more.
template <int V>
__global__ void __launch_bounds__(kThreads)
    l2_normalize_wide_kernel(const float* x, float* y, float* norms, L2Shape shape) {
    __shared__ float s_norm;
    const float* const g_x = x + int64_t{blockIdx.x} * shape.columns;
    float* const g_y = y + int64_t{blockIdx.x} * shape.columns;
    float squares = 0.0f;
    for (int64_t col = threadIdx.x * V; col < shape.columns; col += kThreads * V) {
        const auto r_x = Pack<float, V>::load(g_x + col);
#pragma unroll
        for (int i = 0; i < V; ++i)
            squares += r_x.value[i] * r_x.value[i];
    }
    squares = block_sum<kThreads>(squares);
    if (threadIdx.x == 0) s_norm = norms[blockIdx.x] = sqrtf(squares);
    __syncthreads();
    const float length = s_norm < shape.eps ? shape.eps : s_norm;
    for (int64_t col = threadIdx.x * V; col < shape.columns; col += kThreads * V) {
        auto r_x = Pack<float, V>::load(g_x + col);
#pragma unroll
        for (int i = 0; i < V; ++i)
            r_x.value[i] /= length;
        r_x.store(g_y + col);
    }
}

template <int V>
__global__ void __launch_bounds__(kThreads) l2_normalize_backward_wide_kernel(
    const float* dy, const float* y, const float* norms, float* dx, L2Shape shape) {
    __shared__ float s_dot;
    const int64_t begin = int64_t{blockIdx.x} * shape.columns;
    float dot = 0.0f;
    for (int64_t col = threadIdx.x * V; col < shape.columns; col += kThreads * V) {
        const auto r_dy = Pack<float, V>::load(dy + begin + col);
        const auto r_y = Pack<float, V>::load(y + begin + col);
#pragma unroll
        for (int i = 0; i < V; ++i)
            dot += r_y.value[i] * r_dy.value[i];
    }
    dot = block_sum<kThreads>(dot);
    if (threadIdx.x == 0) s_dot = dot;
    __syncthreads();
    const float norm = norms[blockIdx.x];
    for (int64_t col = threadIdx.x * V; col < shape.columns; col += kThreads * V) {
        auto r_dy = Pack<float, V>::load(dy + begin + col);
        const auto r_y = Pack<float, V>::load(y + begin + col);
#pragma unroll
        for (int i = 0; i < V; ++i)
            r_dy.value[i] = norm < shape.eps
                                ? r_dy.value[i] / shape.eps
                                : (r_dy.value[i] - r_y.value[i] * s_dot) / norm;
        r_dy.store(dx + begin + col);
    }
}
// #endregion l2-wide

// #region l2-launch
template <class R>
static bool launch_rows(
    const float* x, float* y, float* norms, const L2Shape& shape, cudaStream_t stream) {
    const unsigned blocks = count_blocks(shape.rows, kWarps * R::kRows);
    l2_normalize_v2_kernel<R><<<blocks, kThreads, 0, stream>>>(x, y, norms, shape);
    CUDA_CHECK_LAUNCH();
    return true;
}

template <class R>
static bool launch_rows_backward(const float* dy,
                                 const float* y,
                                 const float* norms,
                                 float* dx,
                                 const L2Shape& shape,
                                 cudaStream_t stream) {
    const unsigned blocks = count_blocks(shape.rows, kWarps * R::kBackwardRows);
    l2_normalize_backward_v2_kernel<R>
        <<<blocks, kThreads, 0, stream>>>(dy, y, norms, dx, shape);
    CUDA_CHECK_LAUNCH();
    return true;
}

/// Calls launch(Row()) with the first Row that holds so many columns; false if none
/// does.
template <class... Rs, class Launch>
static bool launch_first(int64_t columns, Launch launch) {
    return ((columns <= Rs::kColumns && launch(Rs())) || ...);
}

/// Rows of up to 1024 columns, as 16-byte packs where all addresses allow it.
template <class Launch>
static bool launch_fitting(bool is_aligned, int64_t columns, Launch launch) {
    if (is_aligned)
        return launch_first<Row<4, 1>, Row<4, 2>, Row<4, 4>, Row<4, 8>>(columns,
                                                                        launch);
    return launch_first<Row<1, 4>, Row<1, 16>, Row<1, 32>>(columns, launch);
}

static void l2_normalize_v2(
    const float* x, float* y, float* norms, const L2Shape& shape, cudaStream_t stream) {
    const bool is_aligned = shape.columns % 4 == 0 && are_aligned(x, y);
    if (launch_fitting(is_aligned, shape.columns, [&](auto row) {
            return launch_rows<decltype(row)>(x, y, norms, shape, stream);
        }))
        return;
    with_width(is_aligned, [&](auto v) {
        l2_normalize_wide_kernel<decltype(v)::value>
            <<<count_blocks(shape.rows, 1), kThreads, 0, stream>>>(x, y, norms, shape);
    });
    CUDA_CHECK_LAUNCH();
}

static void l2_normalize_backward_v2(const float* dy,
                                     const float* y,
                                     const float* norms,
                                     float* dx,
                                     const L2Shape& shape,
                                     cudaStream_t stream) {
    const bool is_aligned = shape.columns % 4 == 0 && are_aligned(dy, y, dx);
    if (launch_fitting(is_aligned, shape.columns, [&](auto row) {
            return launch_rows_backward<decltype(row)>(dy, y, norms, dx, shape, stream);
        }))
        return;
    with_width(is_aligned, [&](auto v) {
        l2_normalize_backward_wide_kernel<decltype(v)::value>
            <<<count_blocks(shape.rows, 1), kThreads, 0, stream>>>(
                dy, y, norms, dx, shape);
    });
    CUDA_CHECK_LAUNCH();
}
// #endregion l2-launch
