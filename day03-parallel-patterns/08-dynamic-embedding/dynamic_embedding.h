/// dynamic_embedding.h: the contract of this exercise: a hash table of embedding rows.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

// #region table
/// Keys of a bucket. With their digests they fill a cache line of 128 bytes.
constexpr int kPlaces = 14;

/// The key that none may have: it stands for a place without a key.
constexpr uint64_t kNoKey = ~uint64_t{0};

/// The slot of a key that the table does not hold.
constexpr int32_t kNoSlot = -1;

/// One cache line. Its places are filled from the first one on.
struct alignas(128) Bucket {
    uint8_t digests[16];     ///< digest_of() each key; 255 where there is no key
    uint64_t keys[kPlaces];  ///< kNoKey where there is no key
};

/// Which key has to leave if there is no place for a new one.
enum class Policy {
    none,  ///< none: the new key is refused
    lru,   ///< the one that was used (inserted or found) least recently
    lfu    ///< the one that was used least often; of these the least recent
};

/// Counters in device memory.
struct TableState {
    unsigned long long clock;     ///< calls that inserted, so far: below 2^32
    unsigned long long refused;   ///< keys for which there was no slot
    unsigned long long reserved;  ///< keys that were kNoKey
};

/// A table. Slot s is place s % kPlaces of bucket s / kPlaces. A key may be in any of
/// `window` buckets: its home, home_of() it, and those behind it, the first one after
/// the last. table_memory.h makes and empties one.
struct Table {
    Bucket* buckets;    ///< [num_buckets] device memory
    uint64_t* claims;   ///< [num_buckets * kPlaces] device: whose a slot is, claims.cuh
    uint32_t* counts;   ///< [num_buckets * kPlaces] device: uses, if policy is lfu
    float* hot;         ///< [num_buckets * hot_places, cols] device memory
    float* cold;        ///< the rows of all other places: pinned, mapped host memory
    TableState* state;  ///< [1] device memory
    int64_t num_buckets;  ///< 1 to 2^27
    int64_t cols;         ///< of a row, 1 to 2^20
    int hot_places;       ///< so many first places have hot rows: 0 to kPlaces
    int64_t window;       ///< 1 to num_buckets
    Policy policy;
};
// #endregion table

// #region hash
/// 64 bits of which each depends on all bits of the key: the last steps of MurmurHash3
/// (A. Appleby, public domain).
__host__ __device__ inline uint64_t hash_of(uint64_t key) {
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdull;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53ull;
    key ^= key >> 33;
    return key;
}

/// The bucket of a key, from the upper half of its hash.
__host__ __device__ inline int64_t home_of(uint64_t key, int64_t num_buckets) {
    const uint64_t upper = hash_of(key) >> 32;
    return static_cast<int64_t>(upper * static_cast<uint64_t>(num_buckets) >> 32);
}

/// A byte that says which keys cannot be meant, from the lower half: 0 to 254.
__host__ __device__ inline uint8_t digest_of(uint64_t key) {
    return static_cast<uint8_t>(static_cast<uint32_t>(hash_of(key)) % 255);
}
// #endregion hash

// Everywhere:
//
// n        0 to 2^31 - 1. If it is 0 nothing is done, and nothing is launched
// stream   where the work is queued; the functions return without waiting. Calls with
//          one table must be in order: on one stream, or with events between them
// kNoKey   in keys: slots[i] is kNoSlot, and TableState::reserved becomes one more
// Throws   wb::InvalidArgument for a negative size or one out of range, a product past
//          2^63, a null, host or misaligned pointer, `cold` that is no pinned memory,
//          and arrays that overlap
//
// check_table() in table_memory.h waits, and throws if keys were refused or reserved.

/// slots[i] = the slot of keys[i], or kNoSlot. Changes no slot, nor when or how often
/// it was used.
///
/// @param keys   [n] device memory, any order, any number of times the same
/// @param slots  [n] device memory, written
void table_find(const Table& table,
                const uint64_t* keys,
                int32_t* slots,
                int64_t n,
                cudaStream_t stream);

/// The same, and a key that is not there gets a slot: the first free place of its
/// window. If there is none, it takes the slot of the key that policy names, of equals
/// the first one of the window, but of none that this call found or inserted: all slots
/// of a call are valid after it. If there is no such key either, nothing is written,
/// slots[i] is kNoSlot, and TableState::refused becomes one more. The row of a key that
/// had to leave is gone.
///
/// A key that occurs k times gets one slot, and was used k times. Which of several new
/// keys gets which slot, and which are refused, may change from call to call.
///
/// @param initial  [n, cols] device memory: the row of a new key, of any of its i; or
///                 null: zeros
void table_insert_or_find(const Table& table,
                          const uint64_t* keys,
                          const float* initial,
                          int32_t* slots,
                          int64_t n,
                          cudaStream_t stream);

/// out[i, :] = the row of slots[i], hot or cold, bit by bit; zeros if it is no slot.
///
/// @param slots  [n] device memory
/// @param out    [n, cols] device memory, written
void table_lookup(const Table& table,
                  const int32_t* slots,
                  float* out,
                  int64_t n,
                  cudaStream_t stream);

/// The row of slots[i] += scale * grad[i, :], for each i whose slots[i] is a slot; the
/// step of an optimiser if scale is -1 times the learning rate.
///
/// @param grad   [n, cols] device memory
/// @param scale  finite
///
/// Numbers  sums in float, in any order, which may change from call to call
/// Error    gamma(k + 1) * (|row| + |scale| * sum of |grad|) for k summands
void table_backward(const Table& table,
                    const int32_t* slots,
                    const float* grad,
                    float scale,
                    int64_t n,
                    cudaStream_t stream);

/// The same with the same bits in each call: the gradients of a slot are added up in
/// the order of i, and the row gets scale times their sum.
void table_backward_sorted(const Table& table,
                           const int32_t* slots,
                           const float* grad,
                           float scale,
                           int64_t n,
                           cudaStream_t stream);

/// Writes all keys with their rows and scores, in any order.
///
/// @param keys    [capacity] device memory, of which *num are written
/// @param scores  [capacity] device memory: uses * 2^32 + the clock of the last use.
///                Uses are counted for Policy::lfu, and 0 for others
/// @param rows    [capacity, cols] device memory
/// @param num     [1] device memory: how many keys the table holds
///
/// where capacity is num_buckets * kPlaces
void table_export(const Table& table,
                  uint64_t* keys,
                  uint64_t* scores,
                  float* rows,
                  int64_t* num,
                  cudaStream_t stream);

/// Inserts keys as table_insert_or_find(), and gives them these rows and scores, also
/// those that are there already. Of a key that occurs more than once, one i counts.
/// The clock becomes the latest one of the scores, if that is later.
void table_import(const Table& table,
                  const uint64_t* keys,
                  const uint64_t* scores,
                  const float* rows,
                  int64_t n,
                  cudaStream_t stream);
