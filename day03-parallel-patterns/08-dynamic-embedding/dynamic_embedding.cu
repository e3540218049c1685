// dynamic_embedding.cu: a hash table of embedding rows. A call that inserts first looks
// for all keys, then gives slots to those that are not there, then writes their rows.
#include "dynamic_embedding.h"

#include <wb/check.h>
#include <wb/exercise.h>

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
        (void)table;
        (void)key;
        return kNoSlot;
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
        (void)key;
        (void)now;
        return kNoSlot;  // until then: delete it, or nobody tries again
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
    (void)slots;
    (void)out;
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
    (void)slots;
    (void)grad;
    (void)scale;
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

// #region contract
void table_find(const Table& table,
                const uint64_t* keys,
                int32_t* slots,
                int64_t n,
                cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!Refused::find(table, keys, slots, n)) return;
    table_find_v1(table, keys, slots, n, stream);
}

void table_insert_or_find(const Table& table,
                          const uint64_t* keys,
                          const float* initial,
                          int32_t* slots,
                          int64_t n,
                          cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one
    if (!Refused::insert(table, keys, initial, slots, n)) return;
    table_insert_or_find_v1(table, keys, initial, slots, n, stream);
}

void table_lookup(const Table& table,
                  const int32_t* slots,
                  float* out,
                  int64_t n,
                  cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one
    if (!Refused::rows("table_lookup", "out", table, slots, out, n)) return;
    table_lookup_v1(table, slots, out, n, stream);
}

void table_backward(const Table& table,
                    const int32_t* slots,
                    const float* grad,
                    float scale,
                    int64_t n,
                    cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one
    if (!Refused::backward("table_backward", table, slots, grad, scale, n)) return;
    table_backward_v1(table, slots, grad, scale, n, stream);
}

#include "contract.h"
// #endregion contract
