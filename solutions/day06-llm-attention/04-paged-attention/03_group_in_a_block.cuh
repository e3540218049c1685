// 03_group_in_a_block.cuh: paged_attention_v3. Included by paged_attention.cu, below
// paged_attention_fast.cu, whose attend() it uses.
#pragma once

#include <wb/check.h>
#include <wb/ladder.h>

#include "group.cuh"

// #region v3-kernel
/// paged_attention_v3: a block for each sequence and K/V head.
///
/// @tparam D  cache.head_dim
/// @tparam H  query heads that a block serves at most: 1, 2, 4 or 8
///
/// Launch   grid batch * kv_heads * slices, block kPartThreads, static shared memory of
///          kPartWarps * H * (D + 2) floats
template <int D, int H>
__global__ void __launch_bounds__(kPartThreads)
    paged_attention_v3_kernel(const wb::PagedCache cache,
                              const __nv_bfloat16* q,  // [batch, Hq, D]
                              __nv_bfloat16* o,        // [batch, Hq, D]
                              float* lse,              // [batch, Hq] or null
                              int64_t query_heads,
                              float scale,
                              wb::PagedStatus* status) {
    __shared__ BlockState<D, H> s_state;
    const Heads heads = heads_of<H>(cache, query_heads, blockIdx.x);
    const int64_t length = wb::checked_length(cache, heads.sequence, status);
    const int64_t chunks = (length + kChunk - 1) / kChunk;
    attend(s_state,
           cache,
           q + heads.first_row * D,
           heads,
           scale,
           length,
           0,
           chunks,
           status);
    for (int i = threadIdx.x; i < heads.count * D; i += kPartThreads) {
        const auto state = merge_warps(s_state, i / D, i % D);
        o[heads.first_row * D + i] = __float2bfloat16(state.o[0] * state.scale());
        if (lse != nullptr && i % D == 0)
            lse[heads.first_row + i / D] = state.log_sum_exp();
    }
}
// #endregion v3-kernel

static void paged_attention_v3(const wb::PagedCache& cache,
                               const __nv_bfloat16* q,
                               __nv_bfloat16* o,
                               float* lse,
                               int64_t query_heads,
                               float scale,
                               const wb::PagedWorkspace& workspace,
                               cudaStream_t stream) {
    const Call call{cache, q, o, lse, query_heads, scale, workspace.status(), stream};
    for_heads(call, [&](auto dim, auto heads) {
        const unsigned blocks = wb::grid_size(call.blocks(heads()), 1);
        paged_attention_v3_kernel<dim(), heads()><<<blocks, kPartThreads, 0, stream>>>(
            cache, q, o, lse, query_heads, scale, workspace.status());
        CUDA_CHECK_LAUNCH();
    });
}
WB_RUNG(paged_attention, paged_attention_v3, "K and V are read once for all heads");
