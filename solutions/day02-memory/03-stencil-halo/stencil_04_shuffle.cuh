/// stencil_04_shuffle.cuh: a halo that comes from other lanes.
#pragma once

#include <wb/check.h>
#include <wb/ladder.h>
#include <wb/launch.h>

#include "borders.h"

// #region stencil-v4
/// stencil_1d_v4: a lane loads its element. Its neighbours' elements come from their
/// lanes. What lies before the warp's first element and behind its last one, R elements
/// each, some lanes load besides: lane k that with the number k, and lane 16 + k.
///
/// @tparam R  radius
///
/// Launch   grid ceil_div(n, kThreads), block kThreads, no shared memory
template <int R>
__global__ void stencil_1d_v4_kernel(Line in, float* out, Taps taps) {
    constexpr int kHalf = wb::kWarpSize / 2;
    static_assert(R <= kHalf, "half a warp loads the halo on one side");
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    const int64_t first = i - lane;  // of the warp
    const float own = in.at(i);
    float edge = 0.0f;
    if (lane % kHalf < R)
        edge = in.at(lane < kHalf ? first - R + lane
                                  : first + wb::kWarpSize + lane - kHalf);
    float sum = taps.weight[R] * own;
#pragma unroll
    for (int k = 1; k <= R; ++k) {
        // A shuffle needs all lanes, hence both of them are done by all.
        const float left = __shfl_up_sync(wb::kAllLanes, own, k);
        const float before = __shfl_sync(wb::kAllLanes, edge, lane + R - k);
        const float right = __shfl_down_sync(wb::kAllLanes, own, k);
        const float behind = __shfl_sync(wb::kAllLanes, edge, lane + k + kHalf);
        sum += taps.weight[R - k] * (lane >= k ? left : before);
        sum += taps.weight[R + k] * (lane + k < wb::kWarpSize ? right : behind);
    }
    if (i < in.n) out[i] = sum;
}

static void stencil_1d_v4(const float* in,
                          float* out,
                          int64_t n,
                          const Taps& taps,
                          Border border,
                          cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, kThreads);
    with_radius(taps.radius, [&](auto radius) {
        stencil_1d_v4_kernel<decltype(radius)::value>
            <<<blocks, kThreads, 0, stream>>>({in, n, border}, out, taps);
        CUDA_CHECK_LAUNCH();
    });
}
// #endregion stencil-v4
WB_RUNG(stencil_1d, stencil_1d_v4, "a halo by shuffle");
