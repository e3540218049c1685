// Mutant: all loads first, but four times as many of them, of four bytes each
// Rejected by: 16 bytes a request, and as few threads as that takes
#define copy_floats right_copy_floats
#include "../solution.h"
#undef copy_floats

template <int kLoads>
__global__ void narrow_kernel(const float* x, float* y, int64_t n) {
    constexpr int kFloats = 4 * kLoads;
    const int64_t first = int64_t{blockIdx.x} * (kFloats * kCopyThreads) + threadIdx.x;
    float values[kFloats] = {};
#pragma unroll
    for (int k = 0; k < kFloats; ++k) {
        const int64_t i = first + k * kCopyThreads;
        if (i < n) values[k] = x[i];
    }
#pragma unroll
    for (int k = 0; k < kFloats; ++k) {
        const int64_t i = first + k * kCopyThreads;
        if (i < n) y[i] = values[k];
    }
}

void copy_floats(
    const float* x, float* y, int64_t n, Variant variant, cudaStream_t stream) {
    static const CopyKernel kKernels[] = {
        narrow_kernel<1>, narrow_kernel<2>, narrow_kernel<4>, narrow_kernel<8>};
    launch_copy(kKernels, x, y, n, variant, stream);
}
