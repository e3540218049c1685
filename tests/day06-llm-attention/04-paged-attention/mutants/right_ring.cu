// A right paged_attention that some .diff files edit: a warp for each row, whose tiles
// of 16 tokens come into two slots, by bulk copies.
#include "right.h"

#include <wb/ptx/bulk.h>

constexpr int kTokens = 16;
constexpr int kSlots = 2;

template <int D>
__global__ void paged_attention_kernel(PagedCache cache,
                                       const __nv_bfloat16* q,
                                       __nv_bfloat16* o,
                                       float* lse,
                                       int64_t query_heads,
                                       float scale,
                                       PagedStatus* status) {
    __shared__ alignas(16) __nv_bfloat16 s_k[kSlots][kTokens * D];
    __shared__ alignas(16) __nv_bfloat16 s_v[kSlots][kTokens * D];
    __shared__ wb::ptx::Mbarrier s_full[kSlots];
    const int lane = threadIdx.x;
    const int64_t row = blockIdx.x;
    const int64_t sequence = row / query_heads;
    const int64_t kv_head = row % query_heads / (query_heads / cache.kv_heads);
    const int64_t length = wb::checked_length(cache, sequence, status);
    const int64_t tiles = (length + kTokens - 1) / kTokens;
    const auto ask = [&](int64_t tile) {
        if (tile >= tiles || lane > 0) return;
        const int64_t first = tile * kTokens;
        const int64_t page =
            wb::checked_page(cache, sequence, first / cache.page_size, status);
        const int64_t place =
            cache.row(page < 0 ? 0 : page, kv_head, first % cache.page_size);
        const int slot = tile % kSlots;
        wb::ptx::mbarrier_expect(&s_full[slot], 2 * sizeof(s_k[slot]));
        wb::ptx::bulk_load(
            s_k[slot], cache.k + place, sizeof(s_k[slot]), &s_full[slot]);
        wb::ptx::bulk_load(
            s_v[slot], cache.v + place, sizeof(s_v[slot]), &s_full[slot]);
    };
    wb::ptx::make_full_barriers(s_full);
    for (int64_t tile = 0; tile < kSlots; ++tile)
        ask(tile);
    float query[D / kWarpSize];
    load_row<D>(query, q + row * D, lane);
    wb::OnlineSoftmax<D / kWarpSize> state;
    for (int64_t tile = 0; tile < tiles; ++tile) {
        const int slot = tile % kSlots;
        wb::ptx::mbarrier_wait(&s_full[slot], tile / kSlots % 2);
        for (int i = 0; i < kTokens && tile * kTokens + i < length; ++i) {
            float key[D / kWarpSize];
            float value[D / kWarpSize];
            load_row<D>(key, s_k[slot] + i * D, lane);
            load_row<D>(value, s_v[slot] + i * D, lane);
            state.add(scale * warp_dot(query, key), value);
        }
        __syncwarp();  // all lanes have read the slot
        ask(tile + kSlots);
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
                     kWarpSize,
                     cache,
                     q,
                     o,
                     lse,
                     query_heads,
                     scale,
                     workspace,
                     stream);
}
