// Mutant: the merge adds up sums that belong to different maxima
// Rejected by: sequences end before, at and after the end of a page
#include "right_append.h"

constexpr int kThreads = 4 * kWarpSize;

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
    const int lane = threadIdx.x % kWarpSize;
    const int64_t row = blockIdx.x;
    const int64_t sequence = row / query_heads;
    const int64_t kv_head = row % query_heads / (query_heads / cache.kv_heads);
    const int64_t length = wb::checked_length(cache, sequence, status);
    float query[kPerLane];
    load_row<D>(query, q + row * D, lane);
    wb::OnlineSoftmax<kPerLane> state;
    constexpr int kWarps = kThreads / kWarpSize;
    __shared__ float s_max[kWarps];
    __shared__ float s_sum[kWarps];
    __shared__ float s_o[kWarps][D];
    const int warp = threadIdx.x / kWarpSize;
    for (int64_t token = warp; token < length; token += kWarps) {
        const int64_t page =
            wb::checked_page(cache, sequence, token / cache.page_size, status);
        if (page < 0) continue;
        const int64_t place = cache.row(page, kv_head, token % cache.page_size);
        float key[kPerLane];
        float value[kPerLane];
        load_row<D>(key, cache.k + place, lane);
        load_row<D>(value, cache.v + place, lane);
        state.add(scale * warp_dot(query, key), value);
    }
    if (lane == 0) {
        s_max[warp] = state.max;
        s_sum[warp] = state.sum;
    }
    for (int i = 0; i < kPerLane; ++i)
        s_o[warp][lane + i * kWarpSize] = state.o[i];
    __syncthreads();
    if (warp > 0) return;
    for (int other = 1; other < kWarps; ++other) {
        state.max = fmaxf(state.max, s_max[other]);
        state.sum += s_sum[other];
        for (int i = 0; i < kPerLane; ++i)
            state.o[i] += s_o[other][lane + i * kWarpSize];
    }
    store_row<D>(state, o + row * D, lse == nullptr ? nullptr : lse + row, lane);
}
// #endregion bug
