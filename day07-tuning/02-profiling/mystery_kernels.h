/// mystery_kernels.h: six kernels that are right, and slow. Nothing is hidden, but
/// nothing is said either: what is wrong, the counters say. profiling.cu includes this
/// file, so that the six are compiled, counted and timed together with yours.
#pragma once

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include "profiling.h"

/// Threads of a block, where nothing else is said.
constexpr int kThreads = 256;
/// Threads of a block of mystery_b.
constexpr int kFilterThreads = 64;
/// Rows, and threads, of a block of mystery_f.
constexpr int kRowsOfBlock = 128;

/// The shared memory that a launch asks for, in mystery_b and mystery_f.
extern __shared__ float s_floats[];

// --- What the launchers demand, mystery_x and mended_x alike ------------------------

inline void check_a(
    const char* function, int64_t n, int steps, const float* x, const float* y) {
    const wb::Arguments arguments(function);
    arguments.size("n", n).size("steps", steps).device("x", x, n);
    arguments.device("y", y, arguments.product("4 * n", {4, n}));
}

inline void check_b(
    const char* function, int64_t n, int64_t radius, const float* x, const float* y) {
    wb::Arguments(function)
        .size("n", n)
        .require(radius >= 0 && radius <= kMaxRadius, "radius", radius, "0 to 6000")
        .device("x", x, n)
        .device("y", y, n);
}

inline void check_c(const char* function,
                    int64_t rows,
                    int64_t cols,
                    const float* scale,
                    const float* x,
                    const float* y) {
    const wb::Arguments arguments(function);
    arguments.size("rows", rows).size("cols", cols);
    const int64_t count = arguments.product("rows * cols", {rows, cols});
    arguments.device("scale", scale, cols).device("x", x, count).device("y", y, count);
}

inline void check_d(const char* function,
                    int64_t batch,
                    int64_t length,
                    const float* x,
                    const float* y) {
    const wb::Arguments arguments(function);
    arguments.size("batch", batch)
        .size("length", length)
        .require(batch <= INT32_MAX, "batch", batch, "<= 2147483647");
    const int64_t count = arguments.product("batch * length", {batch, length});
    arguments.device("x", x, count).device("y", y, count);
}

inline void check_e(const char* function, int64_t n, const float* x, const float* y) {
    const wb::Arguments arguments(function);
    arguments.size("n", n).require(n <= INT64_MAX - kWindow, "n", n, "< 2^63 - 161");
    if (n > 0) arguments.device("x", x, n + kWindow - 1).device("y", y, n);
}

inline void check_f(const char* function,
                    int64_t rows,
                    int64_t cols,
                    float keep,
                    const float* x,
                    const float* y) {
    const wb::Arguments arguments(function);
    arguments.size("rows", rows)
        .require(cols >= 0 && cols <= kMaxColumns, "cols", cols, "0 to 64")
        .finite("keep", keep)
        .require_real(keep >= 0.0f && keep < 1.0f, "keep", keep, ">= 0 and < 1");
    const int64_t count = arguments.product("rows * cols", {rows, cols});
    arguments.device("x", x, count).device("y", y, count);
}

// --- The six ------------------------------------------------------------------------

// #region a
/// Launch   grid ceil_div(4 n, kThreads), block kThreads, no shared memory
__global__ void mystery_a_kernel(int64_t n,
                                 int steps,
                                 const float* x,  // [n]
                                 float* y) {      // [4, n]
    const int64_t t = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t i = t / 4;
    const int kind = static_cast<int>(t % 4);
    if (i >= n) return;
    const float in = x[i];
    float v = 0.0f;
    if (kind == 0) {
        for (int step = 0; step < steps; ++step)
            v = fmaf(v, 0.5f, in);
    } else if (kind == 1) {
        for (int step = 0; step < steps; ++step)
            v = fmaf(v, -0.5f, in);
    } else if (kind == 2) {
        for (int step = 0; step < steps; ++step)
            v = fmaxf(fmaf(v, 0.5f, in), 0.0f);
    } else {
        for (int step = 0; step < steps; ++step)
            v = fabsf(fmaf(v, 0.5f, -in));
    }
    y[kind * n + i] = v;
}

void mystery_a(int64_t n, int steps, const float* x, float* y, cudaStream_t stream) {
    check_a("mystery_a", n, steps, x, y);
    if (n == 0) return;
    const unsigned blocks = wb::grid_size(4 * n, kThreads);
    mystery_a_kernel<<<blocks, kThreads, 0, stream>>>(n, steps, x, y);
    CUDA_CHECK_LAUNCH();
}
// #endregion a

// #region b
/// Launch   grid ceil_div(n, blockDim.x), block any, at least
///          (blockDim.x + 2 radius) * sizeof(float) bytes of shared memory
__global__ void mystery_b_kernel(int64_t n,
                                 int radius,
                                 const float* x,  // [n]
                                 float* y) {      // [n]
    const int threads = static_cast<int>(blockDim.x);
    const int tid = static_cast<int>(threadIdx.x);
    const int64_t first = int64_t{blockIdx.x} * threads;
    for (int j = tid; j < threads + 2 * radius; j += threads) {
        const int64_t from = first - radius + j;
        s_floats[j] = from >= 0 && from < n ? x[from] : 0.0f;
    }
    __syncthreads();
    if (first + tid >= n) return;
    float sum = 0.0f;
    for (int j = 0; j <= 2 * radius; ++j)
        sum += s_floats[tid + j];
    y[first + tid] = sum / static_cast<float>(2 * radius + 1);
}

void mystery_b(
    int64_t n, int64_t radius, const float* x, float* y, cudaStream_t stream) {
    check_b("mystery_b", n, radius, x, y);
    if (n == 0) return;
    const unsigned blocks = wb::grid_size(n, kFilterThreads);
    const size_t bytes = (kFilterThreads + 2 * kMaxRadius) * sizeof(float);
    mystery_b_kernel<<<blocks, kFilterThreads, bytes, stream>>>(
        n, static_cast<int>(radius), x, y);
    CUDA_CHECK_LAUNCH();
}
// #endregion b

// #region c
/// Launch   grid ceil_div(rows * cols, kThreads), block kThreads, no shared memory
__global__ void mystery_c_kernel(int64_t rows,
                                 int64_t cols,
                                 const float* scale,  // [cols]
                                 const float* x,      // [rows, cols]
                                 float* y) {          // [rows, cols]
    const int64_t t = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (t >= rows * cols) return;
    const int64_t row = t % rows;
    const int64_t col = t / rows;
    y[row * cols + col] = scale[col] * x[row * cols + col];
}

void mystery_c(int64_t rows,
               int64_t cols,
               const float* scale,
               const float* x,
               float* y,
               cudaStream_t stream) {
    check_c("mystery_c", rows, cols, scale, x, y);
    if (rows == 0 || cols == 0) return;
    const unsigned blocks = wb::grid_size(rows * cols, kThreads);
    mystery_c_kernel<<<blocks, kThreads, 0, stream>>>(rows, cols, scale, x, y);
    CUDA_CHECK_LAUNCH();
}
// #endregion c

// #region d
/// One block takes the mean off one vector. x and y: [length]; blockDim.x == kThreads.
__device__ inline void centre_vector(int64_t length, const float* x, float* y) {
    constexpr int kWarps = kThreads / wb::kWarpSize;
    __shared__ float s_sums[kWarps];
    const int tid = static_cast<int>(threadIdx.x);
    float sum = 0.0f;
    for (int64_t i = tid; i < length; i += kThreads)
        sum += x[i];
    for (int apart = wb::kWarpSize / 2; apart > 0; apart /= 2)
        sum += __shfl_xor_sync(0xFFFFFFFFu, sum, apart);
    if (tid % wb::kWarpSize == 0) s_sums[tid / wb::kWarpSize] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int warp = 0; warp < kWarps; ++warp)
        sum += s_sums[warp];
    const float mean = sum / static_cast<float>(length);
    for (int64_t i = tid; i < length; i += kThreads)
        y[i] = x[i] - mean;
}

/// Launch   one block of kThreads, static shared memory
__global__ void mystery_d_kernel(int64_t length, const float* x, float* y) {
    centre_vector(length, x, y);
}

void mystery_d(
    int64_t batch, int64_t length, const float* x, float* y, cudaStream_t stream) {
    check_d("mystery_d", batch, length, x, y);
    if (length == 0) return;
    for (int64_t b = 0; b < batch; ++b) {
        mystery_d_kernel<<<1, kThreads, 0, stream>>>(
            length, x + b * length, y + b * length);
        CUDA_CHECK_LAUNCH();
    }
}
// #endregion d

// #region e
/// Launch   grid ceil_div(n, kThreads), block kThreads, no shared memory
__global__ void mystery_e_kernel(int64_t n,
                                 bool variance,
                                 const float* x,  // [n + kWindow - 1]
                                 float* y) {      // [n]
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (!variance) {
        y[i] = x[i + kWindow - 1] - x[i];
        return;
    }
    // Two passes over the window, but each sample is loaded only once.
    float window[kWindow];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kWindow; ++k) {
        window[k] = x[i + k];
        sum += window[k];
    }
    const float mean = sum / kWindow;
    float squares = 0.0f;
#pragma unroll
    for (int k = 0; k < kWindow; ++k) {
        const float off = window[k] - mean;
        squares = fmaf(off, off, squares);
    }
    y[i] = squares / kWindow;
}

void mystery_e(
    int64_t n, bool variance, const float* x, float* y, cudaStream_t stream) {
    check_e("mystery_e", n, x, y);
    if (n == 0) return;
    const unsigned blocks = wb::grid_size(n, kThreads);
    mystery_e_kernel<<<blocks, kThreads, 0, stream>>>(n, variance, x, y);
    CUDA_CHECK_LAUNCH();
}
// #endregion e

// #region f
/// Launch   grid ceil_div(rows, kRowsOfBlock), block kRowsOfBlock,
///          kRowsOfBlock * cols * sizeof(float) bytes of shared memory
__global__ void mystery_f_kernel(int64_t rows,
                                 int cols,
                                 float keep,
                                 const float* x,  // [rows, cols]
                                 float* y) {      // [rows, cols]
    const int64_t first = int64_t{blockIdx.x} * kRowsOfBlock * cols;
    const int64_t left = rows * cols - first;
    const int tile = kRowsOfBlock * cols;
    const int count = left < tile ? static_cast<int>(left) : tile;
    const int tid = static_cast<int>(threadIdx.x);
    // Neighbouring threads fetch neighbouring elements.
    for (int j = tid; j < count; j += kRowsOfBlock)
        s_floats[j] = x[first + j];
    __syncthreads();
    // Then each thread smooths a row of its own.
    if (tid * cols < count) {
        float* row = s_floats + tid * cols;
        float v = row[0];
        for (int c = 1; c < cols; ++c) {
            v = keep * v + (1.0f - keep) * row[c];
            row[c] = v;
        }
        for (int c = cols - 2; c >= 0; --c) {
            v = keep * v + (1.0f - keep) * row[c];
            row[c] = v;
        }
    }
    __syncthreads();
    for (int j = tid; j < count; j += kRowsOfBlock)
        y[first + j] = s_floats[j];
}

void mystery_f(int64_t rows,
               int64_t cols,
               float keep,
               const float* x,
               float* y,
               cudaStream_t stream) {
    check_f("mystery_f", rows, cols, keep, x, y);
    if (rows == 0 || cols == 0) return;
    const unsigned blocks = wb::grid_size(rows, kRowsOfBlock);
    const size_t bytes = static_cast<size_t>(kRowsOfBlock * cols) * sizeof(float);
    mystery_f_kernel<<<blocks, kRowsOfBlock, bytes, stream>>>(
        rows, static_cast<int>(cols), keep, x, y);
    CUDA_CHECK_LAUNCH();
}
// #endregion f
