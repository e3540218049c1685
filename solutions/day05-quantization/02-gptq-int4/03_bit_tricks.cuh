// 03_bit_tricks.cuh: v3: packed tiles, two weights at a time out of a word.
#pragma once

#include "packed.cuh"
#include "product.cuh"

// #region v3-kernel
/// Products of eight rows of W and a column, added to a sum.
/// @param x  eight numbers of a row of x
__device__ __forceinline__ void add_products(float& sum,
                                             const uint32_t (&w)[4],
                                             const float2 (&x)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float2 pair = __half22float2(reinterpret_cast<const __half2&>(w[i]));
        sum += x[i].x * pair.x;
        sum += x[i].y * pair.y;
    }
}

/// v3: a block has 32 columns, a warp every kWarps-th tile of them; a lane loads 16
/// bytes of kAhead tiles before it uses the first.
///
/// Launch   grid (M tiles across, parts), block 32 kWarps
/// Traffic  reads all of W for each row of x
///
/// @tparam T   __half, if there is one part, or float
/// @param g_y  [parts, M, N]
template <int kWarps, int kAhead, class T>
__global__ void __launch_bounds__(kWarps* wb::kWarpSize)
    gptq_v3_kernel(const Problem p, T* g_y) {
    __shared__ float4 s_sums[kWarps][8];
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize;
    const int64_t m = blockIdx.x / p.w.tiles_across;
    const int64_t across = blockIdx.x % p.w.tiles_across;
    const int tiles = p.w.tiles();
    const int parts = static_cast<int>(gridDim.y);
    const int of_part = (tiles + parts - 1) / parts;
    const int begin = static_cast<int>(blockIdx.y) * of_part;
    const int end = begin + of_part < tiles ? begin + of_part : tiles;
    const uint4* const g_weights =
        p.w.weights + across * p.w.tiles_down * wb::kWarpSize + lane;
    const uint4* const g_factors = p.w.factors + across * p.w.groups * 8 + lane / 4;
    const __half* const g_x = p.x + m * p.ld;
    float r_sum[4] = {};
    for (int first = begin + warp; first < end; first += kWarps * kAhead) {
        uint4 words[kAhead] = {};
        uint4 factors[kAhead] = {};
        uint4 x[kAhead] = {};
#pragma unroll
        for (int i = 0; i < kAhead; ++i) {
            const int tile = first + i * kWarps;
            if (tile >= end) continue;
            words[i] = g_weights[int64_t{tile} * wb::kWarpSize];
            factors[i] = g_factors[int64_t{p.w.group(tile)} * 8];
            const int64_t k = int64_t{tile} * kTileRows + lane % 4 * 8;
            if (k < p.ld) x[i] = *reinterpret_cast<const uint4*>(g_x + k);
        }
#pragma unroll
        for (int i = 0; i < kAhead; ++i) {
            const auto* const halves = reinterpret_cast<const __half2*>(&x[i]);
            const float2 r_x[4] = {__half22float2(halves[0]),
                                   __half22float2(halves[1]),
                                   __half22float2(halves[2]),
                                   __half22float2(halves[3])};
            const uint32_t word[4] = {words[i].x, words[i].y, words[i].z, words[i].w};
            const auto* const factor = reinterpret_cast<const __half2*>(&factors[i]);
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                uint32_t w[4];
                dequantize(w, word[c], factor[c]);
                add_products(r_sum[c], w, r_x);
            }
        }
    }
#pragma unroll
    for (int c = 0; c < 4; ++c) {  // the four lanes with the same columns
        r_sum[c] += __shfl_xor_sync(wb::kAllLanes, r_sum[c], 1);
        r_sum[c] += __shfl_xor_sync(wb::kAllLanes, r_sum[c], 2);
    }
    if (lane % 4 == 0)
        s_sums[warp][lane / 4] = {r_sum[0], r_sum[1], r_sum[2], r_sum[3]};
    __syncthreads();
    const int64_t column = across * kTileColumns + threadIdx.x * 4;
    if (threadIdx.x < 8 && column < p.N) {
        float4 sum = s_sums[0][threadIdx.x];
        for (int i = 1; i < kWarps; ++i) {
            const float4 next = s_sums[i][threadIdx.x];
            sum.x += next.x;
            sum.y += next.y;
            sum.z += next.z;
            sum.w += next.w;
        }
        store_four(g_y + (int64_t{blockIdx.y} * p.M + m) * p.N + column, sum);
    }
}
// #endregion v3-kernel
