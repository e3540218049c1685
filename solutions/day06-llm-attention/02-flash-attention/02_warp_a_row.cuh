// 02_warp_a_row.cuh: flash_attention_v2. Included by flash_attention.cu, below v1.
#pragma once

#include <wb/attention.h>
#include <wb/check.h>
#include <wb/head_dim.h>
#include <wb/ladder.h>
#include <wb/launch.h>
#include <wb/shared_memory.h>

#include <cmath>
#include <cstdint>

/// Warps in a block of v2, and so its rows.
constexpr int kWarps = 8;

// #region v2-kernel
/// Floats of v2's shared memory: rows of q, a tile of keys with 4 floats of padding
/// each, a tile of values.
template <int D>
constexpr int kFloatsV2 = kWarps* D + kTileKeys*(D + 4) + kTileKeys* D;

/// flash_attention_v2: one warp, one row. For the scores a lane takes a key, for the
/// output it takes D / 32 columns; the weights go from lane to lane by shuffles.
///
/// Launch   grid B * H * row_tiles, block kWarps * 32, dynamic shared memory
///          kFloatsV2<D> floats
template <int D>
__global__ void flash_attention_v2_kernel(const float* q,  // [B * H, queries, D]
                                          const float* k,  // [B * H, keys, D]
                                          const float* v,  // [B * H, keys, D]
                                          float* o,        // [B * H, queries, D]
                                          float* lse,      // [B * H, queries] or null
                                          int queries,
                                          int keys,
                                          unsigned row_tiles,
                                          bool causal,
                                          float scale) {
    constexpr unsigned kAll = 0xFFFFFFFFu;
    constexpr int kStride = D + 4;  // the float4 of eight lanes are in different banks
    extern __shared__ float4 s_tiles[];
    const int tid = threadIdx.x;
    const int lane = tid % wb::kWarpSize;
    const int warp = tid / wb::kWarpSize;
    float* const s_k = reinterpret_cast<float*>(s_tiles);  // [kTileKeys, kStride]
    float* const s_v = s_k + kTileKeys * kStride;          // [kTileKeys, D]
    float* const s_q = s_v + kTileKeys * D + warp * D;     // [D] of this warp
    const int64_t head = blockIdx.x / row_tiles;
    const int first_row = static_cast<int>(blockIdx.x % row_tiles) * kWarps;
    const int row = first_row + warp;
    const bool has_row = row < queries;
    const int visible = has_row ? wb::visible_keys(queries, keys, causal, row) : 0;
    const int block_keys =
        wb::visible_keys(queries, keys, causal, min(first_row + kWarps, queries) - 1);
    k += head * keys * D;
    v += head * keys * D;
    const int64_t g_row = head * queries + row;
    for (int d = lane; d < D; d += wb::kWarpSize)
        s_q[d] = has_row ? scale * q[g_row * D + d] : 0.0f;

    float r_o[D / wb::kWarpSize] = {};  // columns lane, lane + 32, ...
    float maximum = -INFINITY;          // the same in all lanes
    float sum = 0.0f;                   // of this lane's weights
    for (int first = 0; first < block_keys; first += kTileKeys) {
        __syncthreads();
        for (int e = tid; e < kTileKeys * D; e += kWarps * wb::kWarpSize) {
            const int j = e / D;
            const bool exists = first + j < keys;
            s_k[j * kStride + e % D] = exists ? k[int64_t{first} * D + e] : 0.0f;
            s_v[e] = exists ? v[int64_t{first} * D + e] : 0.0f;  // 0 * NaN is NaN
        }
        __syncthreads();
        float score = 0.0f;
        for (int d = 0; d < D; d += 4) {
            const float4 x = *reinterpret_cast<const float4*>(s_q + d);
            const float4 y = *reinterpret_cast<const float4*>(s_k + lane * kStride + d);
            score += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
        }
        if (first + lane >= visible) score = -INFINITY;
        float new_maximum = fmaxf(maximum, score);
        for (int other = 1; other < wb::kWarpSize; other *= 2) {
            new_maximum = fmaxf(new_maximum, __shfl_xor_sync(kAll, new_maximum, other));
        }
        // -infinity minus -infinity is no number: a row that has not seen a key yet
        const float base = new_maximum == -INFINITY ? 0.0f : new_maximum;
        const float factor = expf(maximum - base);
        const float weight = expf(score - base);
        maximum = new_maximum;
        sum = sum * factor + weight;
        for (float& value : r_o)
            value *= factor;
        for (int j = 0; j < kTileKeys; ++j) {
            const float other_weight = __shfl_sync(kAll, weight, j);
            for (int c = 0; c < D / wb::kWarpSize; ++c)
                r_o[c] += other_weight * s_v[j * D + c * wb::kWarpSize + lane];
        }
    }
    for (int other = 1; other < wb::kWarpSize; other *= 2)
        sum += __shfl_xor_sync(kAll, sum, other);
    if (!has_row) return;
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (int c = 0; c < D / wb::kWarpSize; ++c)
        o[g_row * D + c * wb::kWarpSize + lane] = r_o[c] * inverse;
    if (lane == 0 && lse != nullptr) lse[g_row] = maximum + logf(sum);
}
// #endregion v2-kernel

// #region v2-launch
static void flash_attention_v2(const wb::AttentionShape& shape,
                               const float* q,
                               const float* k,
                               const float* v,
                               float* o,
                               float* lse,
                               cudaStream_t stream) {
    const unsigned row_tiles = wb::grid_size(shape.queries, kWarps);
    const unsigned blocks =
        wb::grid_size(shape.batch * shape.query_heads * row_tiles, 1);
    wb::with_head_dim<32, 64, 128, 256>(shape.head_dim, [&](auto head_dim) {
        const auto kernel = flash_attention_v2_kernel<head_dim()>;
        const size_t bytes = kFloatsV2<head_dim()> * sizeof(float);
        if (!wb::allow_shared(kernel, bytes)) {  // D = 256 before sm_80
            return flash_attention_v1(shape, q, k, v, o, lse, stream);
        }
        kernel<<<blocks, kWarps * wb::kWarpSize, bytes, stream>>>(
            q,
            k,
            v,
            o,
            lse,
            static_cast<int>(shape.queries),
            static_cast<int>(shape.keys),
            row_tiles,
            shape.causal,
            shape.scale);
        CUDA_CHECK_LAUNCH();
    });
}
// #endregion v2-launch
WB_RUNG(flash_attention, flash_attention_v2, "one warp a row");
