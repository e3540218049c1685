// saxpy_grid_stride.cu: y = alpha * x + y, each thread as many elements as it takes.
// #solution
//
// <Ladder of="saxpy_grid_stride" at="n = 268435456, 264 blocks">
//        GB/s  idea                         what limits it
//   v1  1,500  grid-stride loop             bytes in flight: 8 for each thread
//   v2  2,730  float4, and a tail of n % 4  bytes in flight: 32 for each thread
//   v3  2,920  four float4 under way        the speed of memory, with more blocks
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
// #end
#include "saxpy_grid_stride.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end

/// Threads in a block. How many blocks there are is the caller's choice.
constexpr int kThreads = 256;

// #region grid-stride
__host__ __device__ GridStride grid_stride(unsigned block,
                                           unsigned num_blocks,
                                           unsigned thread,
                                           unsigned block_size) {
    GridStride result{0, INT64_MAX};  // a step that ends any loop
    // TODO(learner): this thread's number in the grid, and the number of threads in the
    // grid, both computed in 64 bits (2 lines)
    // #solution
    result.first = int64_t{block} * block_size + thread;
    result.stride = int64_t{num_blocks} * block_size;
    // #end
    return result;
}
// #endregion grid-stride

// #region v1-kernel
/// saxpy_grid_stride_v1: a thread walks through the array in steps of the whole grid.
///
/// Launch   any grid along x, block kThreads, no shared memory
__global__ void saxpy_grid_stride_v1_kernel(float alpha,
                                            const float* x,  // [n]
                                            float* y,        // [n]
                                            int64_t n) {
    // TODO(learner): ask grid_stride() where this thread begins and how far it steps,
    // and update every element of y that is its own (about 5 lines)
    // #solution
    const auto [first, stride] =
        grid_stride(blockIdx.x, gridDim.x, threadIdx.x, blockDim.x);
    for (int64_t i = first; i < n; i += stride) {
        y[i] = alpha * x[i] + y[i];
    }
    // #end
}
// #endregion v1-kernel

// #region v1-launch
static void saxpy_grid_stride_v1(float alpha,
                                 const float* x,
                                 float* y,
                                 int64_t n,
                                 int num_blocks,
                                 cudaStream_t stream) {
    // TODO(learner): launch the kernel with just num_blocks blocks of kThreads threads,
    // on the caller's stream (1 or 2 lines)
    // #solution
    saxpy_grid_stride_v1_kernel<<<num_blocks, kThreads, 0, stream>>>(alpha, x, y, n);
    // #end
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-launch

// #solution
WB_RUNG(saxpy_grid_stride, saxpy_grid_stride_v1, "grid-stride loop");

/// alpha * x + y of four neighbours.
__device__ inline float4 axpy(float alpha, float4 x, float4 y) {
    return make_float4(
        alpha * x.x + y.x, alpha * x.y + y.y, alpha * x.z + y.z, alpha * x.w + y.w);
}

// #region v2-kernel
/// saxpy_grid_stride_v2: the same walk over float4, then over what is left.
///
/// Launch   any grid along x, block kThreads, no shared memory
__global__ void saxpy_grid_stride_v2_kernel(float alpha,
                                            const float* x,  // [n] 16-byte aligned
                                            float* y,        // [n] 16-byte aligned
                                            int64_t n) {
    const auto [first, stride] =
        grid_stride(blockIdx.x, gridDim.x, threadIdx.x, blockDim.x);
    const int64_t num_vectors = n / 4;
    const auto* x4 = reinterpret_cast<const float4*>(x);
    auto* y4 = reinterpret_cast<float4*>(y);
    for (int64_t i = first; i < num_vectors; i += stride) {
        y4[i] = axpy(alpha, x4[i], y4[i]);
    }
    // The tail, at most three elements: a thread is here for each, if the grid has so
    // many; the loop makes it right if it has not.
    for (int64_t i = 4 * num_vectors + first; i < n; i += stride) {
        y[i] = alpha * x[i] + y[i];
    }
}
// #endregion v2-kernel

/// Whether a pointer may be read as float4.
static bool is_aligned_for_float4(const void* pointer) {
    return reinterpret_cast<uintptr_t>(pointer) % alignof(float4) == 0;
}

// #region v2-launch
static void saxpy_grid_stride_v2(float alpha,
                                 const float* x,
                                 float* y,
                                 int64_t n,
                                 int num_blocks,
                                 cudaStream_t stream) {
    // A slice such as x + 1 is legal input, but no address for a float4.
    if (!is_aligned_for_float4(x) || !is_aligned_for_float4(y)) {
        return saxpy_grid_stride_v1(alpha, x, y, n, num_blocks, stream);
    }
    saxpy_grid_stride_v2_kernel<<<num_blocks, kThreads, 0, stream>>>(alpha, x, y, n);
    CUDA_CHECK_LAUNCH();
}
// #endregion v2-launch
WB_RUNG(saxpy_grid_stride, saxpy_grid_stride_v2, "float4");

// #region v3-kernel
/// saxpy_grid_stride_v3: four steps at once, all loads before the first store.
///
/// The compiler may not move a load of x above a store to y: for all it knows, they
/// overlap. So v2 waits for memory once in every step, and v3 once in four.
///
/// Launch   any grid along x, block kThreads, no shared memory
__global__ void saxpy_grid_stride_v3_kernel(float alpha,
                                            const float* x,  // [n] 16-byte aligned
                                            float* y,        // [n] 16-byte aligned
                                            int64_t n) {
    constexpr int kSteps = 4;
    const auto [first, stride] =
        grid_stride(blockIdx.x, gridDim.x, threadIdx.x, blockDim.x);
    const int64_t num_vectors = n / 4;
    const auto* x4 = reinterpret_cast<const float4*>(x);
    auto* y4 = reinterpret_cast<float4*>(y);
    int64_t i = first;
    for (; i + (kSteps - 1) * stride < num_vectors; i += kSteps * stride) {
        float4 r_x[kSteps];
        float4 r_y[kSteps];
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
            r_x[step] = x4[i + step * stride];
            r_y[step] = y4[i + step * stride];
        }
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
            y4[i + step * stride] = axpy(alpha, r_x[step], r_y[step]);
        }
    }
    for (; i < num_vectors; i += stride) {  // fewer than kSteps steps are left
        y4[i] = axpy(alpha, x4[i], y4[i]);
    }
    for (int64_t k = 4 * num_vectors + first; k < n; k += stride) {
        y[k] = alpha * x[k] + y[k];
    }
}
// #endregion v3-kernel

// #region v3-launch
static void saxpy_grid_stride_v3(float alpha,
                                 const float* x,
                                 float* y,
                                 int64_t n,
                                 int num_blocks,
                                 cudaStream_t stream) {
    if (!is_aligned_for_float4(x) || !is_aligned_for_float4(y)) {
        return saxpy_grid_stride_v1(alpha, x, y, n, num_blocks, stream);
    }
    saxpy_grid_stride_v3_kernel<<<num_blocks, kThreads, 0, stream>>>(alpha, x, y, n);
    CUDA_CHECK_LAUNCH();
}
// #endregion v3-launch
WB_RUNG(saxpy_grid_stride, saxpy_grid_stride_v3, "four float4 under way");
// #end

// #region contract
void saxpy_grid_stride(float alpha,
                       const float* x,
                       float* y,
                       int64_t n,
                       int num_blocks,
                       cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the three TODOs are written
    wb::Arguments("saxpy_grid_stride")
        .size("n", n)
        .positive("num_blocks", num_blocks)
        .device("x", x, n)
        .device("y", y, n);
    if (n == 0) return;  // nothing to do, no launch
    // #solution
    saxpy_grid_stride_v3(alpha, x, y, n, num_blocks, stream);
    // #end
    // #starter saxpy_grid_stride_v1(alpha, x, y, n, num_blocks, stream);
}
// #endregion contract
