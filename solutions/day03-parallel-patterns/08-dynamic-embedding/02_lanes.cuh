// 02_lanes.cuh: v2: 16 lanes look at all keys of a bucket at once, and vote.
#pragma once

#include "claims.cuh"

// #region v2-find
/// Where a key is. All lanes of the tile must call it, with the same key.
__device__ inline int32_t slot_by_lanes(const Tile& tile,
                                        const Table& table,
                                        uint64_t key) {
    const int lane = static_cast<int>(tile.thread_rank());
    const bool has_place = lane < kPlaces;
    for (int64_t step = 0; step < table.window; ++step) {
        const int64_t bucket = bucket_at(table, key, step);
        const uint64_t there = has_place ? table.buckets[bucket].keys[lane] : 0;
        const unsigned here = tile.ballot(has_place && there == key);
        if (here != 0) return slot_of(bucket, __ffs(static_cast<int>(here)) - 1);
        if (tile.any(has_place && there == kNoKey)) return kNoSlot;
    }
    return kNoSlot;
}

/// find_v2: a tile of 16 lanes has 16 keys, and looks for one after the other.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads
template <bool kTouch>
__global__ void find_v2_kernel(Table table,
                               const uint64_t* keys,  // [n]
                               int32_t* slots,        // [n]
                               int64_t n) {
    const Tile tile = my_tile();
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    const uint64_t mine = i < n ? keys[i] : 0;
    unsigned wanted = tile.ballot(i < n && !is_reserved(table, mine));
    int32_t slot = kNoSlot;
    while (wanted != 0) {
        const int asks = __ffs(static_cast<int>(wanted)) - 1;
        wanted &= wanted - 1;
        const int32_t found = slot_by_lanes(tile, table, tile.shfl(mine, asks));
        if (static_cast<int>(tile.thread_rank()) == asks) slot = found;
    }
    if (i >= n) return;
    slots[i] = slot;
    if (kTouch && slot != kNoSlot) touch(table, slot, table.state->clock, i);
}
// #endregion v2-find

static void table_find_v2(const Table& table,
                          const uint64_t* keys,
                          int32_t* slots,
                          int64_t n,
                          cudaStream_t stream) {
    find_v2_kernel<false>
        <<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(table, keys, slots, n);
    CUDA_CHECK_LAUNCH();
}

static void table_insert_or_find_v2(const Table& table,
                                    const uint64_t* keys,
                                    const float* initial,
                                    int32_t* slots,
                                    int64_t n,
                                    cudaStream_t stream) {
    tick(table, stream);
    find_v2_kernel<true>
        <<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(table, keys, slots, n);
    CUDA_CHECK_LAUNCH();
    launch_claims(table, keys, slots, n, stream);
    write_new_rows(table, slots, initial, n, stream);
}
