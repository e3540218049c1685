// dynamic_embedding.cu: a hash table of embedding rows. A call that inserts first looks
// for all keys, then gives slots to those that are not there, then writes their rows.
// #solution
//
// v2 and v3 have a file each; v4 is in dynamic_embedding_fast.cu, the second stage.
//
// <Ladder of="table_find" at="1048576 keys, 7340032 slots, load 0.75, hits">
//        GB/s  idea                 what limits it
//   v1  1,380  a thread a key       up to 14 loads, one after the other
//   v2  1,100  16 lanes a bucket    lines in flight: two keys a warp
//   v3  1,950  digests before keys  two loads, one after the other
//   v4  1,550  four keys in flight  sectors of random lines
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-23
//
// <Ladder of="table_insert_or_find" at="1048576 keys, 7340032 slots, load 0.00, empty">
//        GB/s  idea                 what limits it
//   v1  1,470  a thread a key       up to 14 claims, one after the other
//   v2    898  16 lanes a bucket    lines in flight: two keys a warp
//   v3  1,010  digests before keys  as v2, for keys that are not there
//   v4  1,010  four keys in flight  as v2, for keys that are not there
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-23
//
// <Ladder of="table_lookup" at="1048576 of 1835008 x 64, hot">
//        GB/s  idea                 what limits it
//   v1  1,570  a thread an element  loads in flight
//   v2  3,300  four rows in flight  the speed of memory
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-23
//
// <Ladder of="table_backward" at="1048576 of 1835008 x 64, hot">
//        GB/s  idea                 what limits it
//   v1  2,150  a thread an element  atomic additions
//   v2  1,880  lanes share a row    atomic additions
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-23
// #end
#include "dynamic_embedding.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end

#include "claims.cuh"
#include "refused.h"
#include "rows.cuh"

// #region v1-search
/// v1: looks for a key in the buckets of its window, one place after the other.
struct SearchV1 {
    __device__ static int32_t slot_of_key(const Table& table, uint64_t key) {
        // TODO(learner): the buckets are bucket_at(table, key, step), step = 0, 1, ...
        // Places are filled from the first one on, and a bucket only after those in
        // front of it are full: which two things end the search early? The slot of a
        // place is slot_of(bucket, place) (about 8 lines)
        // #starter (void)table;
        // #starter (void)key;
        // #starter return kNoSlot;
        // #solution
        for (int64_t step = 0; step < table.window; ++step) {
            const int64_t bucket = bucket_at(table, key, step);
            for (int place = 0; place < kPlaces; ++place) {
                const uint64_t there = table.buckets[bucket].keys[place];
                if (there == key) return slot_of(bucket, place);
                if (there == kNoKey) return kNoSlot;
            }
        }
        return kNoSlot;
        // #end
    }
};
// #endregion v1-search

// #region v1-find-kernel
/// A thread a key.
///
/// @tparam Search  how
/// @tparam kTouch  the call inserts: keys that are found may not leave
///
/// Launch   grid ceil_div(n, kThreads), block kThreads
template <class Search, bool kTouch>
__global__ void find_kernel(Table table,
                            const uint64_t* keys,  // [n]
                            int32_t* slots,        // [n]
                            int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= n) return;
    const uint64_t key = keys[i];
    int32_t slot = kNoSlot;
    if (!is_reserved(table, key)) slot = Search::slot_of_key(table, key);
    slots[i] = slot;
    if (kTouch && slot != kNoSlot) touch(table, slot, table.state->clock, i);
}
// #endregion v1-find-kernel

// #region v1-claim
/// v1: gives a slot to key i of the call, which the table did not have before the call.
/// Returns it, or kNoSlot.
__device__ inline int32_t claim_v1(const Table& table,
                                   const uint64_t* keys,  // [n] of this call
                                   int64_t i,
                                   uint64_t now) {
    const uint64_t key = keys[i];
    for (;;) {
        // TODO(learner): look at all slots of the window, each as Seen seen(table,
        // slot). If this call has given one to the same key already, count_again() it,
        // and it is the answer. Else remember the one of least worth, the first of
        // equals; a free one, worth 0, ends the search. If none may be had, kNoSlot is
        // the answer. Else try to claim it: make_claim(now, kNew, i). If that works,
        // move_in(). If not, another thread was faster: what may it have inserted?
        // (about 22 lines)
        // #starter (void)key;
        // #starter (void)now;
        // #starter return kNoSlot;  // until then: delete it, or nobody tries again
        // #solution
        int32_t best = kNoSlot;
        uint64_t least = kKept;
        Seen seen_best;
        for (int64_t step = 0; step < table.window && least > 0; ++step) {
            const int64_t bucket = bucket_at(table, key, step);
            for (int place = 0; place < kPlaces && least > 0; ++place) {
                const int32_t slot = slot_of(bucket, place);
                const Seen seen(table, slot);
                if (seen.is_given_to(key, keys, now)) {
                    count_again(table, slot);
                    return slot;
                }
                const uint64_t worth = seen.worth(table.policy, now);
                if (worth >= least) continue;
                best = slot;
                least = worth;
                seen_best = seen;
            }
        }
        if (best == kNoSlot) return kNoSlot;
        if (try_claim(table, best, seen_best.claim, make_claim(now, kNew, i))) {
            move_in(table, best, key, seen_best.count);
            return best;
        }
        // #end
    }
}
// #endregion v1-claim

// #region v1-claim-kernel
/// A thread a key: those that were not found get a slot.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads
static __global__ void claim_v1_kernel(Table table,
                                       const uint64_t* keys,  // [n]
                                       int32_t* slots,        // [n]
                                       int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= n || slots[i] != kNoSlot || keys[i] == kNoKey) return;
    slots[i] = claim_v1(table, keys, i, table.state->clock);
    if (slots[i] == kNoSlot) atomicAdd(&table.state->refused, 1ull);
}
// #endregion v1-claim-kernel

// #region v1-launch
static void table_find_v1(const Table& table,
                          const uint64_t* keys,
                          int32_t* slots,
                          int64_t n,
                          cudaStream_t stream) {
    find_kernel<SearchV1, false>
        <<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(table, keys, slots, n);
    CUDA_CHECK_LAUNCH();
}

/// Three launches, so that each has what it needs: in the second, all keys that were
/// there are marked; in the third, all slots are given.
static void table_insert_or_find_v1(const Table& table,
                                    const uint64_t* keys,
                                    const float* initial,
                                    int32_t* slots,
                                    int64_t n,
                                    cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, kThreads);
    tick(table, stream);
    find_kernel<SearchV1, true><<<blocks, kThreads, 0, stream>>>(table, keys, slots, n);
    CUDA_CHECK_LAUNCH();
    claim_v1_kernel<<<blocks, kThreads, 0, stream>>>(table, keys, slots, n);
    CUDA_CHECK_LAUNCH();
    write_new_rows(table, slots, initial, n, stream);
}
// #endregion v1-launch

// #region v1-lookup
/// v1: a thread an element.
///
/// Launch   grid ceil_div(n * cols, kThreads), block kThreads
/// Traffic  reads n * (cols * 4 + 4) B, writes n * cols * 4 B
static __global__ void lookup_v1_kernel(Table table,
                                        const int32_t* slots,  // [n]
                                        float* out,            // [n, cols]
                                        int64_t n) {
    const int64_t element = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (element >= n * table.cols) return;
    // TODO(learner): which of the slots, and which column? row_of() is the row of what
    // is_slot(), and zero stands for what is none (about 4 lines)
    // #starter (void)slots;
    // #starter (void)out;
    // #solution
    const int32_t slot = slots[element / table.cols];
    const int64_t col = element % table.cols;
    out[element] = is_slot(table, slot) ? row_of(table, slot)[col] : 0.0f;
    // #end
}

static void table_lookup_v1(const Table& table,
                            const int32_t* slots,
                            float* out,
                            int64_t n,
                            cudaStream_t stream) {
    lookup_v1_kernel<<<wb::grid_size(n * table.cols, kThreads), kThreads, 0, stream>>>(
        table, slots, out, n);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-lookup

// #region v1-backward
/// v1: a thread an element. A slot that occurs more than once is added to by as many
/// threads.
///
/// Launch   grid ceil_div(n * cols, kThreads), block kThreads
static __global__ void backward_v1_kernel(Table table,
                                          const int32_t* slots,  // [n]
                                          const float* grad,     // [n, cols]
                                          float scale,
                                          int64_t n) {
    const int64_t element = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (element >= n * table.cols) return;
    // TODO(learner): as in lookup_v1_kernel(), but what is no slot is left out. Others
    // may add to the same float at the same time (about 4 lines)
    // #starter (void)slots;
    // #starter (void)grad;
    // #starter (void)scale;
    // #solution
    const int32_t slot = slots[element / table.cols];
    if (!is_slot(table, slot)) return;
    const int64_t col = element % table.cols;
    atomicAdd(row_of(table, slot) + col, scale * grad[element]);
    // #end
}

static void table_backward_v1(const Table& table,
                              const int32_t* slots,
                              const float* grad,
                              float scale,
                              int64_t n,
                              cudaStream_t stream) {
    backward_v1_kernel<<<wb::grid_size(n * table.cols, kThreads),
                         kThreads,
                         0,
                         stream>>>(table, slots, grad, scale, n);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-backward

// #solution
// v2 and v3 use parts of v4.
#define WB_VERSION_ONLY
#include "dynamic_embedding_fast.cu"

#include "02_lanes.cuh"
#include "03_digests.cuh"
#include "versions.cuh"

// #end
// #region contract
void table_find(const Table& table,
                const uint64_t* keys,
                int32_t* slots,
                int64_t n,
                cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!Refused::find(table, keys, slots, n)) return;
    // #solution
    table_find_v4(table, keys, slots, n, stream);
    // #end
    // #starter table_find_v1(table, keys, slots, n, stream);
}

void table_insert_or_find(const Table& table,
                          const uint64_t* keys,
                          const float* initial,
                          int32_t* slots,
                          int64_t n,
                          cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (!Refused::insert(table, keys, initial, slots, n)) return;
    // #solution
    table_insert_or_find_v4(table, keys, initial, slots, n, stream);
    // #end
    // #starter table_insert_or_find_v1(table, keys, initial, slots, n, stream);
}

void table_lookup(const Table& table,
                  const int32_t* slots,
                  float* out,
                  int64_t n,
                  cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (!Refused::rows("table_lookup", "out", table, slots, out, n)) return;
    // #solution
    table_lookup_v2(table, slots, out, n, stream);
    // #end
    // #starter table_lookup_v1(table, slots, out, n, stream);
}

void table_backward(const Table& table,
                    const int32_t* slots,
                    const float* grad,
                    float scale,
                    int64_t n,
                    cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (!Refused::backward("table_backward", table, slots, grad, scale, n)) return;
    // #solution
    table_backward_v2(table, slots, grad, scale, n, stream);
    // #end
    // #starter table_backward_v1(table, slots, grad, scale, n, stream);
}

#include "contract.h"
// #endregion contract
