/// claims.cuh: of whom a slot is, in one word, and where its row is. There is nothing
/// to write here.
#pragma once

#include <wb/launch.h>

#include <cuda/atomic>

#include <cstdint>

#include "../../day02-memory/04-embedding-lookup/lookup.h"  // kThreads
#include "dynamic_embedding.h"

// #region claim
/// A claim: bits 63 to 32 are the clock of the call that used the slot last. Below
/// them, bit 31 says that this call gave the slot to a new key, and bits 30 to 0 which
/// of the call's keys that is. 0: the slot is free.
///
/// All of it is written, and read, with one instruction. If you see that a slot is
/// claimed, you know the key, too: it is in `keys` of this call, which does not change.
/// The key in the bucket may come later: nobody reads it before the next launch.
using Claim = uint64_t;

constexpr Claim kNew = Claim{1} << 31;
constexpr Claim kIndexMask = kNew - 1;

/// No key of a call has this index.
constexpr Claim kNobody = kIndexMask;

__device__ inline Claim make_claim(uint64_t clock, Claim is_new, int64_t i) {
    return clock << 32 | is_new | static_cast<Claim>(i);
}
__device__ inline uint64_t clock_of(Claim claim) {
    return claim >> 32;
}
__device__ inline int64_t index_of(Claim claim) {
    return static_cast<int64_t>(claim & kIndexMask);
}
// #endregion claim

// #region atomics
using ClaimRef = cuda::atomic_ref<uint64_t, cuda::thread_scope_device>;
using CountRef = cuda::atomic_ref<uint32_t, cuda::thread_scope_device>;

__device__ inline Claim load_claim(const Table& table, int64_t slot) {
    return ClaimRef(table.claims[slot]).load(cuda::memory_order_relaxed);
}

/// Whether the slot was still as `seen` says, and now has this claim.
__device__ inline bool try_claim(const Table& table,
                                 int64_t slot,
                                 Claim seen,
                                 Claim claim) {
    return ClaimRef(table.claims[slot])
        .compare_exchange_strong(seen, claim, cuda::memory_order_relaxed);
}
// #endregion atomics

// #region order
/// What a slot is worth: the least has to leave first. A free slot is worth 0, and
/// kKept is what may not leave.
constexpr uint64_t kKept = ~uint64_t{0};

/// A slot as a thread that looks for one sees it.
struct Seen {
    Claim claim = 0;
    uint32_t count = 0;

    Seen() = default;

    /// The count is read first. Once a slot is claimed its count changes; if you read
    /// the changed one, acquire and release see to it that you read the claim, too.
    __device__ Seen(const Table& table, int64_t slot) {
        if (table.policy == Policy::lfu)
            count = CountRef(table.counts[slot]).load(cuda::memory_order_acquire);
        claim = load_claim(table, slot);
    }

    __device__ uint64_t worth(Policy policy, uint64_t now) const {
        if (claim == 0) return 0;
        if (policy == Policy::none || clock_of(claim) >= now) return kKept;
        return uint64_t{count} << 32 | clock_of(claim);
    }

    /// Whether this call has given the slot to the same key.
    __device__ bool is_given_to(uint64_t key,
                                const uint64_t* keys,  // of this call
                                uint64_t now) const {
        return clock_of(claim) == now && (claim & kNew) != 0 &&
               keys[index_of(claim)] == key;
    }
};

/// A key occurs once more in the call that has given it this slot.
__device__ inline void count_again(const Table& table, int64_t slot) {
    if (table.policy == Policy::lfu)
        CountRef(table.counts[slot]).fetch_add(1, cuda::memory_order_release);
}
// #endregion order

// #region places
/// The bucket at step 0 to window - 1 of a key's search.
__device__ inline int64_t bucket_at(const Table& table, uint64_t key, int64_t step) {
    const int64_t bucket = home_of(key, table.num_buckets) + step;
    return bucket < table.num_buckets ? bucket : bucket - table.num_buckets;
}

__device__ inline int32_t slot_of(int64_t bucket, int place) {
    return static_cast<int32_t>(bucket * kPlaces + place);
}

/// Whether that is a slot: kNoSlot is none.
__device__ inline bool is_slot(const Table& table, int32_t slot) {
    return slot >= 0 && slot < table.num_buckets * kPlaces;
}

/// The row of a slot, in GPU memory or in host memory.
__device__ inline float* row_of(const Table& table, int32_t slot) {
    const int64_t bucket = slot / kPlaces;
    const int place = slot % kPlaces;
    const int hot = table.hot_places;
    if (place < hot) return table.hot + (bucket * hot + place) * table.cols;
    return table.cold + (bucket * (kPlaces - hot) + place - hot) * table.cols;
}

/// Writes a new key into its slot, which a claim of this thread has made its own.
///
/// @param before  how often the key was used that had the slot before
__device__ inline void move_in(const Table& table,
                               int64_t slot,
                               uint64_t key,
                               uint32_t before) {
    Bucket& bucket = table.buckets[slot / kPlaces];
    bucket.keys[slot % kPlaces] = key;
    bucket.digests[slot % kPlaces] = digest_of(key);
    // Others may have counted their uses by now: hence an addition, to 1 and theirs.
    if (table.policy == Policy::lfu)
        CountRef(table.counts[slot]).fetch_add(1u - before, cuda::memory_order_release);
}
// #endregion places

// #region touch
/// What a call that inserts does with a key that is there: it cannot leave any more.
__device__ inline void touch(const Table& table,
                             int32_t slot,
                             uint64_t now,
                             int64_t i) {
    const Claim seen = load_claim(table, slot);
    if (clock_of(seen) != now)
        ClaimRef(table.claims[slot])
            .store(make_claim(now, 0, i), cuda::memory_order_relaxed);
    if (table.policy == Policy::lfu) atomicAdd(&table.counts[slot], 1u);
}

/// Counts a key that is kNoKey. @return whether it is one
__device__ inline bool is_reserved(const Table& table, uint64_t key) {
    if (key != kNoKey) return false;
    atomicAdd(&table.state->reserved, 1ull);
    return true;
}
// #endregion touch
