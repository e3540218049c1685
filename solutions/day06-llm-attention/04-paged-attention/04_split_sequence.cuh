// 04_split_sequence.cuh: paged_attention_v4: v3, and several blocks share a sequence.
// Included by paged_attention.cu.
#pragma once

#include <wb/check.h>
#include <wb/ladder.h>
#include <wb/scratch.h>

#include <algorithm>

#include "group.cuh"

namespace split_kv {

// #region v4-kernels
/// paged_attention_v4, first kernel: each block takes one of `splits` parts of a
/// sequence. A part without tokens, because the sequence is short, is (-inf, 0, 0).
///
/// Launch   grid batch * kv_heads * slices * splits, block kThreads
template <int D, int H>
__global__ void __launch_bounds__(kThreads)
    paged_attention_v4_parts_kernel(const wb::PagedCache cache,
                                    const __nv_bfloat16* q,  // [batch, Hq, D]
                                    float* part_o,           // [batch, Hq, splits, D]
                                    float2* part_max_sum,    // [batch, Hq, splits]
                                    int64_t query_heads,
                                    int splits,
                                    float scale,
                                    wb::PagedStatus* status) {
    __shared__ BlockState<D, H> s_state;
    const int split = static_cast<int>(blockIdx.x % splits);
    const Heads heads = heads_of<H>(cache, query_heads, blockIdx.x / splits);
    const int64_t length = wb::checked_length(cache, heads.sequence, status);
    const int64_t chunks = (length + kChunk - 1) / kChunk;
    attend(s_state,
           cache,
           q + heads.first_row * D,
           heads,
           scale,
           length,
           chunks * split / splits,
           chunks * (split + 1) / splits,
           status);
    for (int i = threadIdx.x; i < heads.count * D; i += kThreads) {
        const auto state = merge_warps(s_state, i / D, i % D);
        const int64_t part = (heads.first_row + i / D) * splits + split;
        part_o[part * D + i % D] = state.o[0];
        if (i % D == 0) part_max_sum[part] = {state.max, state.sum};
    }
}

/// paged_attention_v4, second kernel: a thread for each number of o.
///
/// Launch   grid batch * query_heads, block D
template <int D>
__global__ void paged_attention_v4_merge_kernel(
    const float* part_o,         // [batch, Hq, splits, D]
    const float2* part_max_sum,  // [batch, Hq, splits]
    int splits,
    __nv_bfloat16* o,  // [batch, Hq, D]
    float* lse) {      // [batch, Hq] or null
    const int64_t row = blockIdx.x;
    const int d = threadIdx.x;
    wb::OnlineSoftmax<1> state;
    for (int64_t part = row * splits; part < (row + 1) * splits; ++part) {
        const float2 max_sum = part_max_sum[part];
        const float its_o[1] = {part_o[part * D + d]};
        state.merge(max_sum.x, max_sum.y, its_o);
    }
    o[row * D + d] = __float2bfloat16(state.o[0] * state.scale());
    if (lse != nullptr && d == 0) lse[row] = state.log_sum_exp();
}
// #endregion v4-kernels

/// As many parts as give every multiprocessor four blocks, but none of fewer chunks
/// than a block has warps. The host knows how long a sequence may be, not how long it
/// is: that is in device memory.
inline int num_splits(const Call& call, int64_t blocks) {
    int device = 0;
    int multiprocessors = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(
        &multiprocessors, cudaDevAttrMultiProcessorCount, device));
    const int64_t wanted = wb::ceil_div(int64_t{4} * multiprocessors, blocks);
    const int64_t most = wb::ceil_div(call.cache.capacity(), int64_t{kWarps * kChunk});
    return static_cast<int>(std::clamp<int64_t>(wanted, 1, std::max<int64_t>(most, 1)));
}

template <int D, int H>
void launch_v4(const Call& call) {
    const int64_t rows = call.cache.batch * call.query_heads;
    const int splits = num_splits(call, call.blocks(H));
    const wb::Scratch<float> part_o(rows * splits * D, call.stream);
    const wb::Scratch<float2> part_max_sum(rows * splits, call.stream);
    paged_attention_v4_parts_kernel<D, H>
        <<<wb::grid_size(call.blocks(H) * splits, 1), kThreads, 0, call.stream>>>(
            call.cache,
            call.q,
            part_o.data(),
            part_max_sum.data(),
            call.query_heads,
            splits,
            call.scale,
            call.status);
    CUDA_CHECK_LAUNCH();
    paged_attention_v4_merge_kernel<D><<<wb::grid_size(rows, 1), D, 0, call.stream>>>(
        part_o.data(), part_max_sum.data(), splits, call.o, call.lse);
    CUDA_CHECK_LAUNCH();
}

}  // namespace split_kv

static void paged_attention_v4(const wb::PagedCache& cache,
                               const __nv_bfloat16* q,
                               __nv_bfloat16* o,
                               float* lse,
                               int64_t query_heads,
                               float scale,
                               const wb::PagedWorkspace& workspace,
                               cudaStream_t stream) {
    const split_kv::Call call{
        cache, q, o, lse, query_heads, scale, workspace.status(), stream};
    split_kv::for_heads(call, [&](auto dim, auto heads) {
        split_kv::launch_v4<decltype(dim)::value, decltype(heads)::value>(call);
    });
}
WB_RUNG(paged_attention, paged_attention_v4, "blocks share a sequence");
