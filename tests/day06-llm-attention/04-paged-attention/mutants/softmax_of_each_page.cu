// Mutant: each page is normalised by itself, and the pages are averaged
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
    wb::OnlineSoftmax<kPerLane> pages;
    for (int64_t first = 0; first < length; first += cache.page_size) {
        const int64_t page =
            wb::checked_page(cache, sequence, first / cache.page_size, status);
        if (page < 0) continue;
        const int64_t slots = min(cache.page_size, length - first);
        wb::OnlineSoftmax<kPerLane> one;
        for (int64_t slot = 0; slot < slots; ++slot) {
            const int64_t place = cache.row(page, kv_head, slot);
            float key[kPerLane];
            float value[kPerLane];
            load_row<D>(key, cache.k + place, lane);
            load_row<D>(value, cache.v + place, lane);
            one.add(scale * warp_dot(query, key), value);
        }
        for (int i = 0; i < kPerLane; ++i)
            one.o[i] *= one.scale();
        pages.add(0.0f, one.o);
        state.merge(one.max, one.sum, one.o);
    }
    for (int i = 0; i < kPerLane; ++i)
        state.o[i] = pages.o[i] * pages.scale() * state.sum;
    store_row<D>(state, o + row * D, lse == nullptr ? nullptr : lse + row, lane);
}
// #endregion bug
