// embedding_lookup_fast.cu: gathers with several loads under way, and a backward pass
// that adds up rows in a fixed order. The launches are in files of their own.
#include "embedding_lookup.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>

#include "lookup.cuh"
#include "row_sort.cuh"
#include "shares.cuh"

/// Words that each thread of gather_v4 moves.
constexpr int kWords = 4;

/// Rows that a warp has under way in a bag, and in the backward pass.
constexpr int kBagRows = 4;
constexpr int kGradRows = 8;
static_assert(kShare % kGradRows == 0, "a share is a whole number of rounds");

// #region v4-words
/// Moves kWords words of out, of which the first is number `first`. It is word
/// `first_word` of row `first_row`.
template <class Word>
__device__ void move_words(const Word* table,  // [num_rows, words]
                           Word* out,          // [count, words]
                           const Lookup& lookup,
                           unsigned words,
                           int64_t first,
                           int64_t first_row,
                           unsigned first_word) {
    // TODO(learner): this thread's words are first + i * kThreads + threadIdx.x, for
    // kWords values of i: find the row and the place in it of each, in 32 bits from
    // first_word on. Load all indices; look at them, and let one thread of a row whose
    // index is bad count it; load all words into registers; store them: four loops, for
    // a load does not overtake an atomic addition (about 32 lines)
}
// #endregion v4-words

#include "move_words.cuh"

// #region v4-bag
/// bag_v4: a warp for each bag. A lane has V neighbouring columns, and kBagRows rows
/// under way.
///
/// @tparam T  float, __half or __nv_bfloat16
/// @tparam V  elements of a load; a row is a whole number of them
///
/// Launch   grid ceil_div(num_bags, kWarps), block kThreads
template <class T, int V>
__global__ void bag_v4_kernel(const Pack<T, V>* table,  // [num_rows, packs]
                              Pack<T, V>* out,          // [num_bags, packs]
                              Lookup lookup,
                              Bags bags,
                              int packs) {  // of a row
    const int64_t bag = warp_of_grid();
    if (bag >= bags.num_bags) return;
    const int lane = lane_of_warp();
    const int64_t begin = bags.offsets[bag];
    const int64_t end = bags.offsets[bag + 1];
    if (begin < 0 || begin > end || end > lookup.count) {
        if (lane == 0) count_bad(lookup);
        return;
    }
    for (int pack = lane; pack < packs; pack += wb::kWarpSize) {
        float r_sum[V] = {};
        int64_t used = 0;
        for (int64_t i = begin; i < end; i += kBagRows) {
            // TODO(learner): load kBagRows indices, fewer at the end; look at them, and
            // count the bad ones where pack is 0; load the packs of all rows that are
            // used; add them up. No load may wait for an addition (about 24 lines)
        }
        Pack<T, V> result;
        const bool is_mean = bags.pool == Pool::mean && used > 0;
#pragma unroll
        for (int v = 0; v < V; ++v)
            result.at[v] = static_cast<T>(is_mean ? r_sum[v] / static_cast<float>(used)
                                                  : r_sum[v]);
        out[bag * packs + pack] = result;
    }
}
// #endregion v4-bag

#include "bags_of_packs.cuh"

// #region v4-store
/// Writes this lane's pack of the sum of a run, which ends at summand i of the share.
/// @param is_first  whether it is the share's first run
template <int V>
__device__ void store_sum(const Pack<float, V>& r_sum,
                          const Share& share,
                          int32_t row,
                          int i,
                          bool is_first,
                          Pack<float, V>* grad_table,  // [num_rows, packs]
                          const Partials<Pack<float, V>>& partials,
                          int packs,
                          int pack) {
    // TODO(learner): a run that is complete goes to its row of grad_table. One that
    // began in an earlier share goes to the share's first partial sum, one that goes on
    // in the next share to the second. A run that does both fills both: the sum first,
    // zeros second (about 13 lines)
}
// #endregion v4-store

// #region v4-add
/// Adds up this lane's pack of all summands of a share, run by run.
template <int V>
__device__ void add_share(const Share& share,
                          const Pack<float, V>* rows,  // [*, packs] the summands
                          Pack<float, V>* grad_table,  // [num_rows, packs]
                          const Partials<Pack<float, V>>& partials,
                          int32_t num_rows,
                          int packs,
                          int pack) {  // may be >= packs: nothing to do for this lane
    // TODO(learner): kGradRows summands at a time: load all of them that are used, then
    // add them. Lane i knows the position and the row of summand i: __shfl_sync() gives
    // them to all lanes, so no lane may stay away. Where `ends` has a bit, store_sum(),
    // if the row is one, and begin a new sum (about 24 lines)
}
// #endregion v4-add

#include "sums_of_sums.cuh"

// #region contract
void embedding(const float* table,
               float* out,
               const Lookup& lookup,
               cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the first TODO is written
    if (!check_embedding("embedding", table, out, lookup)) return;
    embedding_v4(table, out, lookup, stream);
}

void embedding_u16(const uint16_t* table,
                   uint16_t* out,
                   const Lookup& lookup,
                   cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one
    if (!check_embedding("embedding_u16", table, out, lookup)) return;
    embedding_u16_v4(table, out, lookup, stream);
}

void embedding_bag(const float* table,
                   float* out,
                   const Lookup& lookup,
                   const Bags& bags,
                   cudaStream_t stream) {
    WB_NOT_SOLVED();  // these three, when the second one is
    if (!check_bags("embedding_bag", table, out, lookup, bags)) return;
    embedding_bag_v4(table, out, lookup, bags, stream);
}

void embedding_bag_fp16(const __half* table,
                        __half* out,
                        const Lookup& lookup,
                        const Bags& bags,
                        cudaStream_t stream) {
    WB_NOT_SOLVED();
    if (!check_bags("embedding_bag_fp16", table, out, lookup, bags)) return;
    embedding_bag_fp16_v4(table, out, lookup, bags, stream);
}

void embedding_bag_bf16(const __nv_bfloat16* table,
                        __nv_bfloat16* out,
                        const Lookup& lookup,
                        const Bags& bags,
                        cudaStream_t stream) {
    WB_NOT_SOLVED();
    if (!check_bags("embedding_bag_bf16", table, out, lookup, bags)) return;
    embedding_bag_bf16_v4(table, out, lookup, bags, stream);
}

void embedding_backward(const float* grad_out,
                        float* grad_table,
                        const Lookup& lookup,
                        int64_t padding,
                        cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one, when the last one is
    if (!check_backward(grad_out, grad_table, lookup, padding)) return;
    embedding_backward_v4(grad_out, grad_table, lookup, padding, stream);
}
// #endregion contract
