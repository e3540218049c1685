// A right paged_attention that the .diff files edit: a warp a row.
#include "right.h"

constexpr int kThreads = kWarpSize;

template <int D>
__global__ void paged_attention_kernel(PagedCache cache,
                                       const __nv_bfloat16* q,
                                       __nv_bfloat16* o,
                                       float* lse,
                                       int64_t query_heads,
                                       float scale,
                                       PagedStatus* status) {
    constexpr int kPerLane = D / kWarpSize;
    const int lane = threadIdx.x;
    const int64_t row = blockIdx.x;
    const int64_t sequence = row / query_heads;
    const int64_t kv_head = row % query_heads / (query_heads / cache.kv_heads);
    const int64_t length = wb::checked_length(cache, sequence, status);
    float query[kPerLane];
    load_row<D>(query, q + row * D, lane);
    wb::OnlineSoftmax<kPerLane> state;
    for (int64_t first = 0; first < length; first += cache.page_size) {
        const int64_t page =
            wb::checked_page(cache, sequence, first / cache.page_size, status);
        if (page < 0) continue;
        const int64_t slots = min(cache.page_size, length - first);
        for (int64_t slot = 0; slot < slots; ++slot) {
            const int64_t place = cache.row(page, kv_head, slot);
            float key[kPerLane];
            float value[kPerLane];
            load_row<D>(key, cache.k + place, lane);
            load_row<D>(value, cache.v + place, lane);
            state.add(scale * warp_dot(query, key), value);
        }
    }
    store_row<D>(state, o + row * D, lse == nullptr ? nullptr : lse + row, lane);
}

void paged_attention(const PagedCache& cache,
                     const __nv_bfloat16* q,
                     __nv_bfloat16* o,
                     float* lse,
                     int64_t query_heads,
                     float scale,
                     const PagedWorkspace& workspace,
                     cudaStream_t stream) {
    launch_attention(paged_attention_kernel<64>,
                     paged_attention_kernel<128>,
                     kThreads,
                     cache,
                     q,
                     o,
                     lse,
                     query_heads,
                     scale,
                     workspace,
                     stream);
}
