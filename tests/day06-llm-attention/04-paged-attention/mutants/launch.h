// launch.h: launches paged_attention_kernel<D> with kThreads threads, which
// a mutant defines.
#pragma once

#include "plain.h"

template <int D>
__global__ void paged_attention_kernel(PagedCache cache,
                                       const __nv_bfloat16* q,
                                       __nv_bfloat16* o,
                                       float* lse,
                                       int64_t query_heads,
                                       float scale,
                                       PagedStatus* status);

void paged_attention(const PagedCache& cache,
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
    const auto kernel =
        cache.head_dim == 64 ? paged_attention_kernel<64> : paged_attention_kernel<128>;
    kernel<<<blocks, kThreads, 0, stream>>>(
        cache, q, o, lse, query_heads, scale, workspace.status());
    CUDA_CHECK_LAUNCH();
}
