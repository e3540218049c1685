// Mutant: every block updates the tail, so that it is updated several times
// Rejected by: a million elements and one more
#include "saxpy_grid_stride.h"

#include <wb/arguments.h>
#include <wb/check.h>

__host__ __device__ GridStride grid_stride(unsigned block,
                                           unsigned num_blocks,
                                           unsigned thread,
                                           unsigned block_size) {
    return {int64_t{block} * block_size + thread, int64_t{num_blocks} * block_size};
}

__global__ void saxpy_kernel(float alpha, const float* x, float* y, int64_t n) {
    const auto [first, stride] =
        grid_stride(blockIdx.x, gridDim.x, threadIdx.x, blockDim.x);
    for (int64_t i = first; i < n; i += stride)
        y[i] = alpha * x[i] + y[i];
}

__global__ void saxpy_float4_kernel(float alpha, const float* x, float* y, int64_t n) {
    const auto [first, stride] =
        grid_stride(blockIdx.x, gridDim.x, threadIdx.x, blockDim.x);
    const auto* x4 = reinterpret_cast<const float4*>(x);
    auto* y4 = reinterpret_cast<float4*>(y);
    for (int64_t i = first; i < n / 4; i += stride) {
        const float4 a = x4[i];
        const float4 b = y4[i];
        y4[i] = make_float4(
            alpha * a.x + b.x, alpha * a.y + b.y, alpha * a.z + b.z, alpha * a.w + b.w);
    }
    const int64_t k = n / 4 * 4 + threadIdx.x;
    if (k < n) y[k] = alpha * x[k] + y[k];
}

void saxpy_grid_stride(float alpha,
                       const float* x,
                       float* y,
                       int64_t n,
                       int num_blocks,
                       cudaStream_t stream) {
    wb::Arguments("saxpy_grid_stride")
        .size("n", n)
        .positive("num_blocks", num_blocks)
        .device("x", x, n)
        .device("y", y, n);
    if (n == 0) return;
    // What cannot be read as float4 goes in steps of one.
    const bool aligned =
        (reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(y)) % 16 == 0;
    if (aligned) {
        saxpy_float4_kernel<<<num_blocks, 256, 0, stream>>>(alpha, x, y, n);
    } else {
        saxpy_kernel<<<num_blocks, 256, 0, stream>>>(alpha, x, y, n);
    }
    CUDA_CHECK_LAUNCH();
}
