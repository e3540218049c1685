// plain.h: what the wrong kernels of this chapter have in common, and is right.
#pragma once

#include "paged_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>
#include <wb/online_softmax.h>

using wb::kWarpSize;
using wb::PagedCache;
using wb::PagedStatus;
using wb::PagedWorkspace;

template <int D>
__device__ void load_row(float (&numbers)[D / kWarpSize],
                         const __nv_bfloat16* row,
                         int lane) {
    for (int i = 0; i < D / kWarpSize; ++i)
        numbers[i] = __bfloat162float(row[lane + i * kWarpSize]);
}

template <int N>
__device__ float warp_dot(const float (&a)[N], const float (&b)[N]) {
    float sum = 0.0f;
    for (int i = 0; i < N; ++i)
        sum += a[i] * b[i];
    for (int step = kWarpSize / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    return sum;
}

template <int D>
__device__ void store_row(const wb::OnlineSoftmax<D / kWarpSize>& state,
                          __nv_bfloat16* o,
                          float* lse,
                          int lane) {
    for (int i = 0; i < D / kWarpSize; ++i)
        o[lane + i * kWarpSize] = __float2bfloat16(state.o[i] * state.scale());
    if (lse != nullptr && lane == 0) *lse = state.log_sum_exp();
}

/// What append_kv refuses.
inline void check_append(const PagedCache& cache,
                         const __nv_bfloat16* k,
                         const __nv_bfloat16* v,
                         const int32_t* sequences,
                         const int32_t* positions,
                         int64_t tokens) {
    const wb::Arguments arguments("append_kv");
    wb::check_paged_cache(arguments, cache);
    arguments.size("tokens", tokens)
        .device("k", k, tokens)
        .device("v", v, tokens)
        .device("sequences", sequences, tokens)
        .device("positions", positions, tokens);
}

/// What paged_attention refuses.
inline void check_attention(const PagedCache& cache,
                            const __nv_bfloat16* q,
                            const __nv_bfloat16* o,
                            const float* lse,
                            int64_t query_heads,
                            float scale,
                            const PagedWorkspace& workspace) {
    const wb::Arguments arguments("paged_attention");
    wb::check_paged_cache(arguments, cache);
    arguments.positive("query_heads", query_heads)
        .require(query_heads % cache.kv_heads == 0,
                 "query_heads",
                 query_heads,
                 "must be a multiple of cache.kv_heads")
        .finite("scale", scale);
    const int64_t rows = cache.batch * query_heads;
    arguments.device("q", q, rows)
        .device("o", o, rows)
        .device("lse", lse, lse == nullptr ? 0 : rows)
        .require(workspace.num_counters() >= rows,
                 "workspace.num_counters",
                 workspace.num_counters(),
                 "must be at least batch * query_heads");
}
