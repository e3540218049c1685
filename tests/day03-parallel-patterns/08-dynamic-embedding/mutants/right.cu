// The right functions that the .diff files edit.
#include "dynamic_embedding.h"

#include <cuda_fp16.h>
#include <wb/check.h>

#include "claims.cuh"
#include "refused.h"
#include "rows.cuh"

__device__ inline int64_t home(const Table& table, uint64_t key) {
    const uint64_t hash = hash_of(key);
    return static_cast<int64_t>((hash >> 32) * table.num_buckets >> 32);
}

__device__ inline int64_t bucket_of(const Table& table, uint64_t key, int64_t step) {
    return (home(table, key) + step) % table.num_buckets;
}

__device__ inline int32_t search(const Table& table, uint64_t key) {
    for (int64_t step = 0; step < table.window; ++step) {
        const int64_t bucket = bucket_of(table, key, step);
        for (int place = 0; place < kPlaces; ++place) {
            if (table.buckets[bucket].digests[place] == 255) return kNoSlot;
            if (table.buckets[bucket].digests[place] != digest_of(key)) continue;
            if (table.buckets[bucket].keys[place] == key) return slot_of(bucket, place);
        }
    }
    return kNoSlot;
}

__device__ inline uint64_t worth_of(const Table& table,
                                    Claim claim,
                                    uint32_t count,
                                    uint64_t now) {
    if (claim == 0) return 0;
    if (table.policy == Policy::none) return kKept;
    if (clock_of(claim) >= now) return kKept;
    const uint64_t often = table.policy == Policy::lfu ? count : 0;
    return often << 32 | clock_of(claim);
}

__global__ void find_all(
    Table table, const uint64_t* keys, int32_t* slots, int64_t n, bool inserts) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= n) return;
    const uint64_t key = keys[i];
    slots[i] = is_reserved(table, key) ? kNoSlot : search(table, key);
    if (!inserts || slots[i] == kNoSlot) return;
    const Claim claim = make_claim(table.state->clock, 0, i);
    ClaimRef(table.claims[slots[i]]).store(claim, cuda::memory_order_relaxed);
    atomicAdd(&table.counts[slots[i]], 1u);
}

__device__ inline int32_t claim_slot(const Table& table,
                                     const uint64_t* keys,
                                     int64_t i,
                                     uint64_t now) {
    const uint64_t key = keys[i];
    for (;;) {
        int32_t best = kNoSlot;
        uint64_t least = kKept;
        Claim best_claim = 0;
        uint32_t best_count = 0;
        for (int64_t step = 0; step < table.window && least > 0; ++step) {
            for (int place = 0; place < kPlaces && least > 0; ++place) {
                const int32_t slot = slot_of(bucket_of(table, key, step), place);
                const uint32_t count =
                    CountRef(table.counts[slot]).load(cuda::memory_order_acquire);
                const Claim claim = load_claim(table, slot);
                const bool is_new = clock_of(claim) == now && (claim & kNew) != 0;
                if (is_new && keys[index_of(claim)] == key) {
                    CountRef(table.counts[slot])
                        .fetch_add(1, cuda::memory_order_release);
                    return slot;
                }
                const uint64_t worth = worth_of(table, claim, count, now);
                if (worth >= least) continue;
                best = slot;
                least = worth;
                best_claim = claim;
                best_count = count;
            }
        }
        if (best == kNoSlot) return kNoSlot;
        if (!try_claim(table, best, best_claim, make_claim(now, kNew, i))) continue;
        Bucket& bucket = table.buckets[best / kPlaces];
        bucket.keys[best % kPlaces] = key;
        bucket.digests[best % kPlaces] = digest_of(key);
        CountRef(table.counts[best])
            .fetch_add(1u - best_count, cuda::memory_order_release);
        return best;
    }
}

__global__ void claim_all(Table table,
                          const uint64_t* keys,
                          int32_t* slots,
                          int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= n || slots[i] != kNoSlot || keys[i] == kNoKey) return;
    slots[i] = claim_slot(table, keys, i, table.state->clock);
    if (slots[i] == kNoSlot) atomicAdd(&table.state->refused, 1ull);
}

__global__ void write_rows(Table table,
                           const int32_t* slots,
                           const float* initial,
                           int64_t n) {
    const int64_t element = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (element >= n * table.cols) return;
    const int64_t i = element / table.cols;
    const int64_t col = element % table.cols;
    const int32_t slot = slots[i];
    if (slot == kNoSlot) return;
    if (table.claims[slot] != make_claim(table.state->clock, kNew, i)) return;
    const float zero = 0.0f;
    row_of(table, slot)[col] = initial == nullptr ? zero : initial[element];
}

__global__ void read_rows(Table table, const int32_t* slots, float* out, int64_t n) {
    const int64_t element = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (element >= n * table.cols) return;
    const int32_t slot = slots[element / table.cols];
    const int64_t col = element % table.cols;
    out[element] = is_slot(table, slot) ? row_of(table, slot)[col] : 0.0f;
}

__global__ void add_rows(
    Table table, const int32_t* slots, const float* grad, float scale, int64_t n) {
    const int64_t element = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (element >= n * table.cols) return;
    const int32_t slot = slots[element / table.cols];
    if (!is_slot(table, slot)) return;
    atomicAdd(row_of(table, slot) + element % table.cols, scale * grad[element]);
}

void table_find(const Table& table,
                const uint64_t* keys,
                int32_t* slots,
                int64_t n,
                cudaStream_t stream) {
    if (!Refused::find(table, keys, slots, n)) return;
    find_all<<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(
        table, keys, slots, n, false);
    CUDA_CHECK_LAUNCH();
}

void table_insert_or_find(const Table& table,
                          const uint64_t* keys,
                          const float* initial,
                          int32_t* slots,
                          int64_t n,
                          cudaStream_t stream) {
    if (!Refused::insert(table, keys, initial, slots, n)) return;
    const unsigned blocks = wb::grid_size(n, kThreads);
    tick(table, stream);
    find_all<<<blocks, kThreads, 0, stream>>>(table, keys, slots, n, true);
    CUDA_CHECK_LAUNCH();
    claim_all<<<blocks, kThreads, 0, stream>>>(table, keys, slots, n);
    CUDA_CHECK_LAUNCH();
    write_rows<<<wb::grid_size(n * table.cols, kThreads), kThreads, 0, stream>>>(
        table, slots, initial, n);
    CUDA_CHECK_LAUNCH();
}

void table_lookup(const Table& table,
                  const int32_t* slots,
                  float* out,
                  int64_t n,
                  cudaStream_t stream) {
    if (!Refused::rows("table_lookup", "out", table, slots, out, n)) return;
    read_rows<<<wb::grid_size(n * table.cols, kThreads), kThreads, 0, stream>>>(
        table, slots, out, n);
    CUDA_CHECK_LAUNCH();
}

void table_backward(const Table& table,
                    const int32_t* slots,
                    const float* grad,
                    float scale,
                    int64_t n,
                    cudaStream_t stream) {
    if (!Refused::backward("table_backward", table, slots, grad, scale, n)) return;
    add_rows<<<wb::grid_size(n * table.cols, kThreads), kThreads, 0, stream>>>(
        table, slots, grad, scale, n);
    CUDA_CHECK_LAUNCH();
}

#include "contract.h"
