// right.h: what the right texts of this chapter share: all but the kernel of
// paged_attention.
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

/// Adds every `step`-th token from `first` on to a warp's share of a row.
template <int D>
__device__ void add_tokens(wb::OnlineSoftmax<D / kWarpSize>& state,
                           const PagedCache& cache,
                           const __nv_bfloat16* q,
                           int64_t row,
                           int64_t query_heads,
                           float scale,
                           PagedStatus* status,
                           int64_t first,
                           int step) {
    const int lane = threadIdx.x % kWarpSize;
    const int64_t sequence = row / query_heads;
    const int64_t kv_head = row % query_heads / (query_heads / cache.kv_heads);
    const int64_t length = wb::checked_length(cache, sequence, status);
    float query[D / kWarpSize];
    load_row<D>(query, q + row * D, lane);
    for (int64_t token = first; token < length; token += step) {
        const int64_t page =
            wb::checked_page(cache, sequence, token / cache.page_size, status);
        if (page < 0) continue;
        const int64_t place = cache.row(page, kv_head, token % cache.page_size);
        float key[D / kWarpSize];
        float value[D / kWarpSize];
        load_row<D>(key, cache.k + place, lane);
        load_row<D>(value, cache.v + place, lane);
        state.add(scale * warp_dot(query, key), value);
    }
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
        .device("k", reinterpret_cast<const uint4*>(k), tokens)
        .device("v", reinterpret_cast<const uint4*>(v), tokens)
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
        .magnitude("scale", scale, wb::kMaxScale);
    const int64_t rows = cache.batch * query_heads;
    arguments.device("q", reinterpret_cast<const uint4*>(q), rows)
        .device("o", reinterpret_cast<const uint4*>(o), rows)
        .device("lse", lse, lse == nullptr ? 0 : rows)
        .require(workspace.num_counters() >= rows,
                 "workspace.num_counters",
                 workspace.num_counters(),
                 "must be at least batch * query_heads");
}

__global__ void append_kernel(PagedCache cache,
                              const __nv_bfloat16* k,
                              const __nv_bfloat16* v,
                              const int32_t* sequences,
                              const int32_t* positions,
                              PagedStatus* status) {
    const int64_t token = blockIdx.x;
    const int32_t sequence = sequences[token];
    const int32_t position = positions[token];
    if (!wb::checked_place(cache, sequence, position, token, status)) return;
    const int64_t page =
        wb::checked_page(cache, sequence, position / cache.page_size, status);
    if (page < 0) return;
    const int64_t numbers = cache.kv_heads * cache.head_dim;
    for (int64_t i = threadIdx.x; i < numbers; i += blockDim.x) {
        const int64_t place =
            cache.row(page, i / cache.head_dim, position % cache.page_size) +
            i % cache.head_dim;
        cache.k[place] = k[token * numbers + i];
        cache.v[place] = v[token * numbers + i];
    }
}

void append_kv(const PagedCache& cache,
               const __nv_bfloat16* k,
               const __nv_bfloat16* v,
               const int32_t* sequences,
               const int32_t* positions,
               int64_t tokens,
               const PagedWorkspace& workspace,
               cudaStream_t stream) {
    check_append(cache, k, v, sequences, positions, tokens);
    if (tokens == 0) return;
    append_kernel<<<wb::grid_size(tokens, 1), 128, 0, stream>>>(
        cache, k, v, sequences, positions, workspace.status());
    CUDA_CHECK_LAUNCH();
}

/// What paged_attention does with the kernels for head dimensions 64 and 128.
template <class Kernel>
void launch_attention(Kernel* kernel_64,
                      Kernel* kernel_128,
                      int threads,
                      const PagedCache& cache,
                      const __nv_bfloat16* q,
                      __nv_bfloat16* o,
                      float* lse,
                      int64_t query_heads,
                      float scale,
                      const PagedWorkspace& workspace,
                      cudaStream_t stream) {
    check_attention(cache, q, o, lse, query_heads, scale, workspace);
    if (cache.batch == 0) return;
    const unsigned blocks = wb::grid_size(cache.batch * query_heads, 1);
    const auto kernel = cache.head_dim == 64 ? kernel_64 : kernel_128;
    kernel<<<blocks, threads, 0, stream>>>(
        cache, q, o, lse, query_heads, scale, workspace.status());
    CUDA_CHECK_LAUNCH();
}
