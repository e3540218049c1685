// Mutant: right for the kernel that was given, but its saxpy is another one
// Rejected by: the simulator counts what was predicted
#include "roofline.h"

#include <wb/launch.h>

#define launch_saxpy launch_given_saxpy
#include "given_kernels.h"
#undef launch_saxpy

/// As saxpy_kernel, but loads x a second time.
__global__ void saxpy_twice_kernel(int64_t n, float a, const float* x, float* y) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const volatile float* again = x;
    y[i] = a * (0.5f * x[i] + 0.5f * again[i]) + y[i];
}

void launch_saxpy(int64_t n, float a, const float* x, float* y, cudaStream_t stream) {
    if (n == 0) return;
    saxpy_twice_kernel<<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(n, a, x, y);
    CUDA_CHECK_LAUNCH();
}

#include "../solution.h"
