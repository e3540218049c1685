// 02_vectors.cuh: v2: four columns a thread, loaded as one vector; warps along K.
#pragma once

#include <wb/check.h>
#include <wb/launch.h>

#include "product.cuh"
#include "tensors.h"

// #region v2-kernel
constexpr int kWarpsV2 = 8;
constexpr int kColumnsV2 = 4;

/// v2: a warp has 128 columns, four in each lane; the warps of a block share the rows.
///
/// Launch   grid M blocks_across, block 32 kWarpsV2
/// Traffic  reads all of W for each row of x
__global__ void __launch_bounds__(kWarpsV2* wb::kWarpSize)
    gptq_v2_kernel(const GptqView w,
                   const __half* x,  // [M, K]
                   __half* y,        // [M, N]
                   unsigned blocks_across) {
    __shared__ float s_sums[kWarpsV2][kColumnsV2][wb::kWarpSize];
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize;
    const int64_t m = blockIdx.x / blocks_across;
    const int64_t column =
        (int64_t{blockIdx.x % blocks_across} * wb::kWarpSize + lane) * kColumnsV2;
    float r_sum[kColumnsV2] = {};
    for (int64_t r = warp; r < w.K / 8 && column < w.N; r += kWarpsV2) {
        const uint4 words =
            *reinterpret_cast<const uint4*>(w.qweight + r * w.N + column);
        const uint32_t word[kColumnsV2] = {words.x, words.y, words.z, words.w};
        const uint4 eight = *reinterpret_cast<const uint4*>(x + m * w.K + r * 8);
        const auto* r_x = reinterpret_cast<const __half*>(&eight);
        int64_t group = r * 8 / w.rows_of_group;
        __half scale[kColumnsV2];
        int zero[kColumnsV2];
        for (int i = 0; i < 8; ++i) {
            if (w.g_idx != nullptr) {
                group = w.g_idx[r * 8 + i];
                if (group < 0 || group >= w.groups) continue;
            }
            if (i == 0 || w.g_idx != nullptr) {
                for (int c = 0; c < kColumnsV2; ++c) {
                    scale[c] = w.scales[group * w.N + column + c];
                    zero[c] = w.zero(group, column + c);
                }
            }
            for (int c = 0; c < kColumnsV2; ++c) {
                const int q = static_cast<int>(word[c] >> 4 * i & 15);
                const __half weight = __hmul(__int2half_rn(q - zero[c]), scale[c]);
                r_sum[c] += __half2float(r_x[i]) * __half2float(weight);
            }
        }
    }
    for (int c = 0; c < kColumnsV2; ++c)
        s_sums[warp][c][lane] = r_sum[c];
    __syncthreads();
    const int c = warp;  // the first four warps add up a column of each lane
    if (c < kColumnsV2 && column < w.N) {
        float sum = 0.0f;
        for (int i = 0; i < kWarpsV2; ++i)
            sum += s_sums[i][c][lane];
        y[m * w.N + column + c] = __float2half(sum);
    }
}
// #endregion v2-kernel

// #region v2-launch
static void gptq_matmul_v2(const GptqShape& shape,
                           const GptqTensors& tensors,
                           const uint4*,
                           const __half* x,
                           __half* y,
                           cudaStream_t stream) {
    const unsigned across = wb::grid_size(shape.N, kColumnsV2 * wb::kWarpSize);
    const unsigned blocks = wb::grid_size(shape.M * across, 1);
    gptq_v2_kernel<<<blocks, kWarpsV2 * wb::kWarpSize, 0, stream>>>(
        GptqView::of(shape, tensors), x, y, across);
    CUDA_CHECK_LAUNCH();
}
// #endregion v2-launch
