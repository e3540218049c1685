// 02_eight_warps.cuh: paged_attention_v2. Included by paged_attention.cu, below v1,
// whose rows in a warp it uses.
#pragma once

#include "paged_attention.h"

#include <wb/check.h>
#include <wb/ladder.h>
#include <wb/launch.h>
#include <wb/online_softmax.h>

/// Warps of a block of v2.
constexpr int kWarps = 8;

// #region v2-kernel
/// paged_attention_v2: eight warps for each sequence and query head. They take 16
/// tokens, which no page boundary divides, in turn, and merge what they found.
///
/// Launch   grid batch * query_heads, block kWarps warps, static shared memory of
///          kWarps * (D + 2) floats
template <int D>
__global__ void paged_attention_v2_kernel(const PagedCache cache,
                                          const __nv_bfloat16* q,  // [batch, Hq, D]
                                          __nv_bfloat16* o,        // [batch, Hq, D]
                                          float* lse,  // [batch, Hq] or null
                                          int64_t query_heads,
                                          float scale,
                                          PagedStatus* status) {
    constexpr int kPerLane = D / kWarpSize;
    constexpr int kChunk = 16;
    __shared__ float s_max[kWarps];
    __shared__ float s_sum[kWarps];
    __shared__ float s_o[kWarps][D];
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    const int64_t row = blockIdx.x;
    const int64_t sequence = row / query_heads;
    const int64_t kv_head = row % query_heads / (query_heads / cache.kv_heads);
    const int64_t length = wb::checked_length(cache, sequence, status);
    float query[kPerLane];
    load_row<D>(query, q + row * D, lane);
    wb::OnlineSoftmax<kPerLane> state;
    for (int64_t first = warp * kChunk; first < length; first += kWarps * kChunk) {
        const int64_t page =
            wb::checked_page(cache, sequence, first / cache.page_size, status);
        if (page < 0) continue;
        const int64_t slots = min(int64_t{kChunk}, length - first);
        for (int64_t i = 0; i < slots; ++i) {
            const int64_t place = cache.row(page, kv_head, first % cache.page_size + i);
            float key[kPerLane];
            float value[kPerLane];
            load_row<D>(key, cache.k + place, lane);
            load_row<D>(value, cache.v + place, lane);
            state.add(scale * warp_dot(query, key), value);
        }
    }
    if (lane == 0) {  // all lanes have the same
        s_max[warp] = state.max;
        s_sum[warp] = state.sum;
    }
    for (int i = 0; i < kPerLane; ++i) {
        s_o[warp][lane + i * kWarpSize] = state.o[i];
    }
    __syncthreads();
    if (warp > 0) return;
    for (int other = 1; other < kWarps; ++other) {
        float its_o[kPerLane];
        for (int i = 0; i < kPerLane; ++i) {
            its_o[i] = s_o[other][lane + i * kWarpSize];
        }
        state.merge(s_max[other], s_sum[other], its_o);
    }
    store_row<D>(state, o + row * D, lse == nullptr ? nullptr : lse + row, lane);
}
// #endregion v2-kernel

static void paged_attention_v2(const PagedCache& cache,
                               const __nv_bfloat16* q,
                               __nv_bfloat16* o,
                               float* lse,
                               int64_t query_heads,
                               float scale,
                               const PagedWorkspace& workspace,
                               cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(cache.batch * query_heads, 1);
    const auto kernel = cache.head_dim == 64 ? paged_attention_v2_kernel<64>
                                             : paged_attention_v2_kernel<128>;
    kernel<<<blocks, kWarps * kWarpSize, 0, stream>>>(
        cache, q, o, lse, query_heads, scale, workspace.status());
    CUDA_CHECK_LAUNCH();
}
WB_RUNG(paged_attention, paged_attention_v2, "eight warps share a sequence");
