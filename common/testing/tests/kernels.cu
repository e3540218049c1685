#include "kernels.h"

#include <wb/check.h>
#include <wb/launch.h>

#include <chrono>
#include <thread>

namespace wb::testing {
namespace {

constexpr int kThreads = 128;

__global__ void scale_kernel(const float* x, float* y, Scale scale) {
    const int64_t i =
        scale.first + int64_t{blockIdx.x} * blockDim.x + int64_t{threadIdx.x};
    if (i < scale.last) y[i] = scale.factor * x[i] + scale.shift;
}

__device__ float shared_by_all[2048];

__global__ void to_static_kernel(const float* x, int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) shared_by_all[i] = 2.0f * x[i];
}

__global__ void from_static_kernel(float* y, int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) y[i] = shared_by_all[i];
}

__global__ void sum_kernel(const float* x, float* sum, int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sum, x[i]);
}

}  // namespace

void launch_scale(const float* x, float* y, Scale scale, cudaStream_t stream) {
    const int64_t count = scale.last - scale.first;
    const unsigned blocks = count > 0 ? wb::grid_size(count, kThreads) : 1u;
    scale_kernel<<<blocks, kThreads, 0, stream>>>(x, y, scale);
    CUDA_CHECK_LAUNCH();
}

void launch_twice_by_way_of_static(const float* x,
                                   float* y,
                                   int64_t n,
                                   cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, kThreads);
    to_static_kernel<<<blocks, kThreads, 0, stream>>>(x, n);
    CUDA_CHECK_LAUNCH();
    // A GPU is done with both kernels before the other thread has launched its own.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    from_static_kernel<<<blocks, kThreads, 0, stream>>>(y, n);
    CUDA_CHECK_LAUNCH();
}

void launch_sum(const float* x, float* sum, int64_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof *sum, stream));
    sum_kernel<<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(x, sum, n);
    CUDA_CHECK_LAUNCH();
}

cudaError_t allow_shared(int bytes) {
    return cudaFuncSetAttribute(
        from_static_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

void launch_zero_blocks(cudaStream_t stream) {
    scale_kernel<<<0, kThreads, 0, stream>>>(nullptr, nullptr, Scale{});
    CUDA_CHECK_LAUNCH();
}

}  // namespace wb::testing
