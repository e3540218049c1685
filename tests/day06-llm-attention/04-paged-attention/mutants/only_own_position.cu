// Mutant: the query attends to the last key only, there is no loop over keys
// Rejected by: sequences end before, at and after the end of a page
#include "right_append.h"

constexpr int kThreads = kWarpSize;

#include "launch.h"

// #region bug
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
    if (length > 0) {
        const int64_t last = length - 1;
        const int64_t page =
            wb::checked_page(cache, sequence, last / cache.page_size, status);
        if (page >= 0) {
            const int64_t place = cache.row(page, kv_head, last % cache.page_size);
            float key[kPerLane];
            float value[kPerLane];
            load_row<D>(key, cache.k + place, lane);
            load_row<D>(value, cache.v + place, lane);
            state.add(scale * warp_dot(query, key), value);
        }
    }
    store_row<D>(state, o + row * D, lse == nullptr ? nullptr : lse + row, lane);
}
// #endregion bug
