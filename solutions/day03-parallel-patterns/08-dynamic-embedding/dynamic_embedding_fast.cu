// dynamic_embedding_fast.cu: v4: digests before keys, four keys in flight, and 16 lanes
// that claim a slot together.
#include "dynamic_embedding.h"

#include <wb/check.h>
#include <wb/exercise.h>

#include <cooperative_groups.h>

#include "claims.cuh"
#include "refused.h"
#include "rows.cuh"

// #region digests
/// The digests of a bucket and two bytes that are none, in one load.
__device__ inline uint4 digests_of(const Table& table, int64_t bucket) {
    return *reinterpret_cast<const uint4*>(table.buckets[bucket].digests);
}

/// Four bits: which bytes of a word are equal to the digest.
__device__ inline unsigned equal_bytes(uint32_t word, uint8_t digest) {
    // TODO(learner): make the bytes that are equal 0, and the others something else.
    // With (x & 0x7F7F7F7F) + 0x7F7F7F7F, the highest bit of each byte says whether one
    // of its lower seven bits was set, and no byte carries into the next one. Then
    // gather the four highest bits: bits 0, 8, 16 and 24, times 0x10204080, are bits 28
    // to 31 (about 4 lines)
    // #starter (void)word;
    // #starter (void)digest;
    // #starter return 0;
    // #solution
    const uint32_t x = word ^ (digest * 0x01010101u);
    const uint32_t low = (x & 0x7F7F7F7Fu) + 0x7F7F7F7Fu;
    const uint32_t zero = ~(low | x | 0x7F7F7F7Fu);
    return (zero >> 7) * 0x10204080u >> 28;
    // #end
}

/// 14 bits: the places whose key may be the one that has this digest.
__device__ inline unsigned places_of(uint4 digests, uint8_t digest) {
    return equal_bytes(digests.x, digest) | equal_bytes(digests.y, digest) << 4 |
           equal_bytes(digests.z, digest) << 8 | equal_bytes(digests.w, digest) << 12;
}

/// Whether the bucket has a place without a key: then the last one is without.
__device__ inline bool has_room(uint4 digests) {
    return (digests.w >> 8 & 0xFFu) == 0xFFu;
}
// #endregion digests

// #region digest-search
/// Looks for a key: 16 bytes a bucket, and the keys that have its digest.
struct SearchDigests {
    __device__ static int32_t slot_of_key(const Table& table, uint64_t key) {
        for (int64_t step = 0; step < table.window; ++step) {
            const int64_t bucket = bucket_at(table, key, step);
            const uint4 digests = digests_of(table, bucket);
            unsigned places = places_of(digests, digest_of(key));
            for (; places != 0; places &= places - 1) {
                const int place = __ffs(static_cast<int>(places)) - 1;
                if (table.buckets[bucket].keys[place] == key)
                    return slot_of(bucket, place);
            }
            if (has_room(digests)) return kNoSlot;
        }
        return kNoSlot;
    }
};
// #endregion digest-search

// #region v4-find
/// Keys that a thread looks for at the same time.
constexpr int kFlight = 4;

/// find_v4: all digests are loaded before the first is looked at, then all keys. What
/// that does not answer, SearchDigests does: a key behind its home bucket, or behind
/// another one of the same digest.
///
/// Launch   grid ceil_div(n, kThreads * kFlight), block kThreads
/// Traffic  reads n * 8 B and two sectors a key, writes n * 4 B
template <bool kTouch>
__global__ void find_v4_kernel(Table table,
                               const uint64_t* keys,  // [n]
                               int32_t* slots,        // [n]
                               int64_t n) {
    const int64_t first = int64_t{blockIdx.x} * kThreads * kFlight + threadIdx.x;
    uint64_t r_key[kFlight];
    uint64_t r_there[kFlight];
    uint4 r_digests[kFlight];
    int r_slot[kFlight];
#pragma unroll
    for (int k = 0; k < kFlight; ++k) {
        r_key[k] = first + k * kThreads < n ? keys[first + k * kThreads] : kNoKey;
    }
    // TODO(learner): three loops as the one above: the digests of each home bucket; the
    // slot of the first place that may have the key, or kNoSlot, and what key is there,
    // or kNoKey; and the answer, in r_slot. Three cases: the key is there; there is no
    // such place, and the bucket has room; or ask SearchDigests (about 17 lines)
    // #starter (void)r_there;
    // #starter (void)r_digests;
    // #starter // Until then. Delete it, or it undoes what you have written.
    // #starter for (int k = 0; k < kFlight; ++k) r_slot[k] = kNoSlot;
    // #solution
#pragma unroll
    for (int k = 0; k < kFlight; ++k)
        r_digests[k] = digests_of(table, home_of(r_key[k], table.num_buckets));
#pragma unroll
    for (int k = 0; k < kFlight; ++k) {
        const unsigned places = places_of(r_digests[k], digest_of(r_key[k]));
        const int64_t home = home_of(r_key[k], table.num_buckets);
        const int place = __ffs(static_cast<int>(places)) - 1;
        r_slot[k] = places == 0 ? kNoSlot : slot_of(home, place);
        r_there[k] = places == 0 ? kNoKey : table.buckets[home].keys[place];
    }
#pragma unroll
    for (int k = 0; k < kFlight; ++k) {
        const bool is_absent = r_slot[k] == kNoSlot && has_room(r_digests[k]);
        if (!is_absent && r_there[k] != r_key[k])
            r_slot[k] = SearchDigests::slot_of_key(table, r_key[k]);
    }
    // #end
#pragma unroll
    for (int k = 0; k < kFlight; ++k) {
        const int64_t i = first + k * kThreads;
        if (i >= n) return;
        slots[i] = r_slot[k];
        if (is_reserved(table, r_key[k]) || r_slot[k] == kNoSlot) continue;
        if (kTouch) touch(table, r_slot[k], table.state->clock, i);
    }
}
// #endregion v4-find

// #region tile
/// 16 lanes that have a bucket between them: lane 0 to 13 a place each.
using Tile = cooperative_groups::thread_block_tile<16>;

__device__ inline Tile my_tile() {
    return cooperative_groups::tiled_partition<16>(
        cooperative_groups::this_thread_block());
}

/// A slot that a lane would take, and where in the window it is.
struct Offer {
    uint64_t worth = kKept;
    uint32_t position = ~0u;  ///< step * 16 + lane; none yet
    Seen seen;
};

/// The position of the offer of least worth in the tile; of equals, the first one's.
/// All lanes must call it, and get the same.
__device__ inline uint32_t least_position(const Tile& tile, const Offer& mine) {
    uint64_t worth = mine.worth;
    uint32_t position = mine.position;
    for (int distance = 8; distance > 0; distance /= 2) {
        const uint64_t other_worth = tile.shfl_xor(worth, distance);
        const uint32_t other = tile.shfl_xor(position, distance);
        if (other_worth < worth || (other_worth == worth && other < position)) {
            worth = other_worth;
            position = other;
        }
    }
    return position;
}
// #endregion tile

// #region v4-claim
/// Gives a slot to key i of the call, which the table did not have before the call. All
/// lanes of the tile must call it, with the same key.
__device__ inline int32_t claim_by_lanes(const Tile& tile,
                                         const Table& table,
                                         const uint64_t* keys,  // [n] of this call
                                         int64_t i,
                                         uint64_t now) {
    const uint64_t key = keys[i];
    const int lane = static_cast<int>(tile.thread_rank());
    for (;;) {
        Offer mine;
        // TODO(learner): for each bucket of the window, each lane that has a place sees
        // its slot. Vote: has this call given one to this key? Then one lane counts it,
        // and all return it. Else keep what is worth less than what the lane has so
        // far; vote whether there is a free one, which ends the loop (about 15 lines)
        // #starter (void)key;
        // #starter (void)lane;
        // #solution
        for (int64_t step = 0; step < table.window; ++step) {
            const int64_t bucket = bucket_at(table, key, step);
            const bool has_place = lane < kPlaces;
            const Seen seen = has_place ? Seen(table, slot_of(bucket, lane)) : Seen();
            const unsigned given =
                tile.ballot(has_place && seen.is_given_to(key, keys, now));
            if (given != 0) {
                const int place = __ffs(static_cast<int>(given)) - 1;
                if (lane == place) count_again(table, slot_of(bucket, place));
                return slot_of(bucket, place);
            }
            const uint64_t worth = has_place ? seen.worth(table.policy, now) : kKept;
            if (worth < mine.worth)
                mine = {worth, static_cast<uint32_t>(step * 16 + lane), seen};
            if (tile.any(worth == 0)) break;
        }
        // #end
        if (!tile.any(mine.worth != kKept)) return kNoSlot;
        const uint32_t least = least_position(tile, mine);
        // TODO(learner): the lane whose offer that is tries to claim the slot, and
        // moves the key in if it could. What do the others have to know? (about 9
        // lines)
        // #starter (void)least;
        // #starter (void)now;
        // #starter return kNoSlot;  // until then: delete it, or nobody tries again
        // #solution
        const int32_t slot =
            slot_of(bucket_at(table, key, least / 16), static_cast<int>(least % 16));
        bool is_mine = false;
        if (mine.position == least) {
            const Claim claim = make_claim(now, kNew, i);
            is_mine = try_claim(table, slot, mine.seen.claim, claim);
            if (is_mine) move_in(table, slot, key, mine.seen.count);
        }
        if (tile.any(is_mine)) return slot;
        // #end
    }
}
// #endregion v4-claim

// #region v4-claim-kernel
/// A tile has 16 keys; those that were not found get a slot, one after the other.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads
static __global__ void claim_v4_kernel(Table table,
                                       const uint64_t* keys,  // [n]
                                       int32_t* slots,        // [n]
                                       int64_t n) {
    const Tile tile = my_tile();
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    const int lane = static_cast<int>(tile.thread_rank());
    unsigned missing = tile.ballot(i < n && slots[i] == kNoSlot && keys[i] != kNoKey);
    while (missing != 0) {
        const int asks = __ffs(static_cast<int>(missing)) - 1;
        missing &= missing - 1;
        const int32_t slot =
            claim_by_lanes(tile, table, keys, i - lane + asks, table.state->clock);
        if (lane != asks) continue;
        slots[i] = slot;
        if (slot == kNoSlot) atomicAdd(&table.state->refused, 1ull);
    }
}

static void launch_claims(const Table& table,
                          const uint64_t* keys,
                          int32_t* slots,
                          int64_t n,
                          cudaStream_t stream) {
    claim_v4_kernel<<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(
        table, keys, slots, n);
    CUDA_CHECK_LAUNCH();
}
// #endregion v4-claim-kernel

// #region v4-launch
static void table_find_v4(const Table& table,
                          const uint64_t* keys,
                          int32_t* slots,
                          int64_t n,
                          cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, kThreads * kFlight);
    find_v4_kernel<false><<<blocks, kThreads, 0, stream>>>(table, keys, slots, n);
    CUDA_CHECK_LAUNCH();
}

static void table_insert_or_find_v4(const Table& table,
                                    const uint64_t* keys,
                                    const float* initial,
                                    int32_t* slots,
                                    int64_t n,
                                    cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, kThreads * kFlight);
    tick(table, stream);
    find_v4_kernel<true><<<blocks, kThreads, 0, stream>>>(table, keys, slots, n);
    CUDA_CHECK_LAUNCH();
    launch_claims(table, keys, slots, n, stream);
    write_new_rows(table, slots, initial, n, stream);
}
// #endregion v4-launch

// #region v2-lookup
/// lookup_v2: a few lanes share a row, in packs of V floats, and have four rows in
/// flight.
///
/// Launch   grid group_blocks(ceil_div(n, kFlight), groups.lanes), block kThreads
template <int V>
__global__ void lookup_v2_kernel(Table table,
                                 const int32_t* slots,  // [n]
                                 float* out,            // [n, cols]
                                 int64_t n,
                                 Groups groups) {
    const int64_t all = int64_t{gridDim.x} * kThreads / groups.lanes;
    const int64_t first = groups.number();
    const RowPack<V>* g_row[kFlight];  // null: no row
#pragma unroll
    for (int k = 0; k < kFlight; ++k) {
        const int64_t i = first + k * all;
        const int32_t slot = i < n ? slots[i] : kNoSlot;
        g_row[k] = is_slot(table, slot) ? packs_of<V>(row_of(table, slot)) : nullptr;
    }
    for (int64_t pack = groups.lane(); pack < groups.packs; pack += groups.lanes) {
        RowPack<V> r_pack[kFlight] = {};
#pragma unroll
        for (int k = 0; k < kFlight; ++k)
            if (g_row[k] != nullptr) r_pack[k] = g_row[k][pack];
#pragma unroll
        for (int k = 0; k < kFlight; ++k)
            if (first + k * all < n)
                packs_of<V>(out + (first + k * all) * table.cols)[pack] = r_pack[k];
    }
}

static void table_lookup_v2(const Table& table,
                            const int32_t* slots,
                            float* out,
                            int64_t n,
                            cudaStream_t stream) {
    with_packs(table, out, [&](Groups groups, auto v) {
        const int64_t quarter = wb::ceil_div(n, int64_t{kFlight});
        lookup_v2_kernel<v.value>
            <<<group_blocks(quarter, groups.lanes), kThreads, 0, stream>>>(
                table, slots, out, n, groups);
        CUDA_CHECK_LAUNCH();
    });
}
// #endregion v2-lookup

// #region v2-backward
/// backward_v2: the lanes that share a row read its gradient in packs. Each float is
/// still added on its own.
///
/// Launch   grid group_blocks(n, groups.lanes), block kThreads
template <int V>
__global__ void backward_v2_kernel(Table table,
                                   const int32_t* slots,  // [n]
                                   const float* grad,     // [n, cols]
                                   float scale,
                                   int64_t n,
                                   Groups groups) {
    const int64_t i = groups.number();
    if (i >= n || !is_slot(table, slots[i])) return;
    float* row = row_of(table, slots[i]);
    for (int64_t pack = groups.lane(); pack < groups.packs; pack += groups.lanes) {
        const auto g = packs_of<V>(grad + i * table.cols)[pack];
#pragma unroll
        for (int j = 0; j < V; ++j)
            atomicAdd(row + pack * V + j, scale * g.at[j]);
    }
}

static void table_backward_v2(const Table& table,
                              const int32_t* slots,
                              const float* grad,
                              float scale,
                              int64_t n,
                              cudaStream_t stream) {
    with_packs(table, grad, [&](Groups groups, auto v) {
        backward_v2_kernel<v.value>
            <<<group_blocks(n, groups.lanes), kThreads, 0, stream>>>(
                table, slots, grad, scale, n, groups);
        CUDA_CHECK_LAUNCH();
    });
}
// #endregion v2-backward

// #solution
#ifndef WB_VERSION_ONLY  // dynamic_embedding.cu has all versions, and the contract
// #end
// #region contract
void table_find(const Table& table,
                const uint64_t* keys,
                int32_t* slots,
                int64_t n,
                cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!Refused::find(table, keys, slots, n)) return;
    table_find_v4(table, keys, slots, n, stream);
}

void table_insert_or_find(const Table& table,
                          const uint64_t* keys,
                          const float* initial,
                          int32_t* slots,
                          int64_t n,
                          cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (!Refused::insert(table, keys, initial, slots, n)) return;
    table_insert_or_find_v4(table, keys, initial, slots, n, stream);
}

void table_lookup(const Table& table,
                  const int32_t* slots,
                  float* out,
                  int64_t n,
                  cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (!Refused::rows("table_lookup", "out", table, slots, out, n)) return;
    table_lookup_v2(table, slots, out, n, stream);
}

void table_backward(const Table& table,
                    const int32_t* slots,
                    const float* grad,
                    float scale,
                    int64_t n,
                    cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (!Refused::backward("table_backward", table, slots, grad, scale, n)) return;
    table_backward_v2(table, slots, grad, scale, n, stream);
}

#include "contract.h"
// #endregion contract
// #solution
#endif
// #end
