// Mutant: a page is taken for [page_size, kv_heads, head_dim]
// Rejected by: a prompt goes into the pages of its sequence
#include "right_attention.h"

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
            cache.row(page, 0, 0) + position % cache.page_size * numbers + i;
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
