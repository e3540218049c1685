/// stencil_03_radius.cuh: the radius is known to the compiler.
#pragma once

#include <wb/check.h>
#include <wb/ladder.h>
#include <wb/launch.h>

#include "borders.h"

// #region stencil-v3
/// stencil_1d_v3: v2 with the radius as a constant. The loop over the taps is unrolled,
/// and each weight is an operand of its instruction.
///
/// @tparam R  radius
///
/// Launch   grid ceil_div(n, kThreads), block kThreads
template <int R>
__global__ void stencil_1d_v3_kernel(Line in, float* out, Taps taps) {
    __shared__ float s_line[kThreads + 2 * R];
    const int tid = threadIdx.x;
    const int64_t first = int64_t{blockIdx.x} * kThreads;
    for (int i = tid; i < kThreads + 2 * R; i += kThreads)
        s_line[i] = in.at(first - R + i);
    __syncthreads();
    if (first + tid >= in.n) return;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k <= 2 * R; ++k)
        sum += taps.weight[k] * s_line[tid + k];
    out[first + tid] = sum;
}

static void stencil_1d_v3(const float* in,
                          float* out,
                          int64_t n,
                          const Taps& taps,
                          Border border,
                          cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, kThreads);
    with_radius(taps.radius, [&](auto radius) {
        stencil_1d_v3_kernel<decltype(radius)::value>
            <<<blocks, kThreads, 0, stream>>>({in, n, border}, out, taps);
        CUDA_CHECK_LAUNCH();
    });
}
// #endregion stencil-v3
WB_RUNG(stencil_1d, stencil_1d_v3, "the radius is a constant");
