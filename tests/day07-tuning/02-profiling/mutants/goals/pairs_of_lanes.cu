// Mutant: neighbouring lanes go the same way, in pairs
// Rejected by: the counters of mended_a
#include "profiling.h"

#define mended_a right_a
#include "../../../../../solutions/day07-tuning/02-profiling/profiling.cu"
#undef mended_a

__global__ void pairs_of_lanes_kernel(int64_t n, int steps, const float* x, float* y) {
    const int64_t t = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t i = t / 8 * 2 + t % 2;
    const int kind = static_cast<int>(t / 2 % 4);
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

void mended_a(int64_t n, int steps, const float* x, float* y, cudaStream_t stream) {
    check_a("mended_a", n, steps, x, y);
    if (n == 0) return;
    const unsigned blocks = wb::grid_size(wb::ceil_div<int64_t>(n, 2) * 8, kThreads);
    pairs_of_lanes_kernel<<<blocks, kThreads, 0, stream>>>(n, steps, x, y);
    CUDA_CHECK_LAUNCH();
}
