// Mutant: each load but the first waits until the one before has been stored
// Rejected by: all loads of a thread come before its first store
#define copy_floats right_copy_floats
#include "solution.h"
#undef copy_floats

// #region bug
template <int kLoads>
__global__ void waiting_kernel(const float* x, float* y, int64_t n) {
    const auto* x4 = reinterpret_cast<const float4*>(x);
    auto* y4 = reinterpret_cast<float4*>(y);
    const int64_t first = int64_t{blockIdx.x} * (kLoads * kCopyThreads) + threadIdx.x;
    float4 values[kLoads] = {};
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
        const int64_t i = first + k * kCopyThreads;
        if (i < n / 4) values[k] = x4[i];
        if (i < n / 4) y4[i] = values[k];
    }
    const int64_t rest = n / 4 * 4 + threadIdx.x;
    if (blockIdx.x == 0 && rest < n) y[rest] = x[rest];
}
// #endregion bug

void copy_floats(
    const float* x, float* y, int64_t n, Variant variant, cudaStream_t stream) {
    static const CopyKernel kKernels[] = {
        waiting_kernel<1>, waiting_kernel<2>, waiting_kernel<4>, waiting_kernel<8>};
    launch_copy(kKernels, x, y, n, variant, stream);
}
