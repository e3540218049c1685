// Mutant: the list is gone through once, so that its 257th outlier is lost
// Rejected by: compress_outliers: none, all, and the border
#include "instructions.h"

#define compress_outliers right_compress_outliers
#include "all_but_one.h"
#undef compress_outliers

static __global__ void mutant_kernel(const float* x, float* y, int64_t n) {
    __shared__ int s_outliers[kTile];
    __shared__ int s_count;
    const int64_t first = int64_t{blockIdx.x} * kTile;
    if (threadIdx.x == 0) s_count = 0;
    __syncthreads();
    const auto size = static_cast<int>(min(int64_t{kTile}, n - first));
    for (int k = static_cast<int>(threadIdx.x); k < size; k += kThreads) {
        const float value = x[first + k];
        if (is_outlier(value))
            s_outliers[atomicAdd(&s_count, 1)] = k;
        else
            y[first + k] = value;
    }
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < s_count) {
        const int64_t i = first + s_outliers[threadIdx.x];
        y[i] = compressed(x[i]);
    }
}

void compress_outliers(const float* x, float* y, int64_t n, cudaStream_t stream) {
    mutant_kernel<<<wb::grid_size(n, kTile), kThreads, 0, stream>>>(x, y, n);
    CUDA_CHECK_LAUNCH();
}
