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
    // #solution
    int64_t r_row[kWords];
    unsigned r_place[kWords];  // in the row
    int64_t r_index[kWords];
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
        const unsigned place = first_word + i * kThreads + threadIdx.x;
        r_row[i] = first_row + place / words;
        r_place[i] = place % words;
        r_index[i] = r_row[i] < lookup.count ? lookup.indices[r_row[i]] : 0;
    }
    int64_t r_source[kWords];  // word of the table, or -1
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
        r_source[i] = -1;
        if (r_row[i] >= lookup.count) continue;
        if (is_row(lookup, r_index[i])) {
            r_source[i] = r_index[i] * words + r_place[i];
        } else if (r_place[i] == 0) {
            count_bad(lookup);
        }
    }
    Word r_word[kWords];
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
        if (r_source[i] >= 0) r_word[i] = table[r_source[i]];
    }
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
        if (r_source[i] >= 0) out[first + i * kThreads + threadIdx.x] = r_word[i];
    }
    // #end
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
            // #solution
            int64_t r_index[kBagRows];
            bool r_is_used[kBagRows];
            Pack<T, V> r_row[kBagRows];
#pragma unroll
            for (int k = 0; k < kBagRows; ++k)
                r_index[k] = i + k < end ? lookup.indices[i + k] : 0;
#pragma unroll
            for (int k = 0; k < kBagRows; ++k) {
                const bool is_there = i + k < end;
                const bool is_right = is_row(lookup, r_index[k]);
                if (is_there && !is_right && pack == 0) count_bad(lookup);
                r_is_used[k] = is_there && is_right && r_index[k] != bags.padding;
            }
#pragma unroll
            for (int k = 0; k < kBagRows; ++k) {
                if (r_is_used[k]) r_row[k] = table[r_index[k] * packs + pack];
            }
#pragma unroll
            for (int k = 0; k < kBagRows; ++k) {
                if (!r_is_used[k]) continue;
                ++used;
#pragma unroll
                for (int v = 0; v < V; ++v)
                    r_sum[v] += static_cast<float>(r_row[k].at[v]);
            }
            // #end
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
    // #solution
    const bool has_begun_before = is_first && row == share.row_before;
    const bool goes_on = i == kShare - 1 && row == share.row_behind;
    Pack<float, V>* partial = partials.rows + 2 * share.number * packs + pack;
    if (has_begun_before) {
        partial[0] = r_sum;
        if (goes_on) partial[packs] = {};
    } else if (goes_on) {
        partial[packs] = r_sum;
    } else {
        grad_table[int64_t{row} * packs + pack] = r_sum;
    }
    // #end
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
    // #solution
    Pack<float, V> r_sum = {};
    bool is_first = true;
    for (int round = 0; round < kShare; round += kGradRows) {
        Pack<float, V> r_row[kGradRows];
#pragma unroll
        for (int k = 0; k < kGradRows; ++k) {
            const int64_t from = __shfl_sync(wb::kAllLanes, share.position, round + k);
            const bool is_used = (share.used >> (round + k) & 1u) != 0;
            r_row[k] = {};
            if (is_used && pack < packs) r_row[k] = rows[from * packs + pack];
        }
#pragma unroll
        for (int k = 0; k < kGradRows; ++k) {
            const int i = round + k;
#pragma unroll
            for (int v = 0; v < V; ++v)
                r_sum.at[v] += r_row[k].at[v];
            if ((share.ends >> i & 1u) == 0) continue;
            const int32_t row = __shfl_sync(wb::kAllLanes, share.row, i);
            if (row < num_rows && pack < packs)
                store_sum(
                    r_sum, share, row, i, is_first, grad_table, partials, packs, pack);
            r_sum = {};
            is_first = false;
        }
    }
    // #end
}
// #endregion v4-add

#include "sums_of_sums.cuh"

// #solution
#ifndef WB_VERSION_ONLY  // embedding_lookup.cu has all versions, and the contract
// #end
// #region contract
void embedding(const float* table,
               float* out,
               const Lookup& lookup,
               cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the first TODO is written
    if (!check_embedding("embedding", table, out, lookup)) return;
    embedding_v4(table, out, lookup, stream);
}

void embedding_u16(const uint16_t* table,
                   uint16_t* out,
                   const Lookup& lookup,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (!check_embedding("embedding_u16", table, out, lookup)) return;
    embedding_u16_v4(table, out, lookup, stream);
}

void embedding_bag(const float* table,
                   float* out,
                   const Lookup& lookup,
                   const Bags& bags,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // these three, when the second one is
    if (!check_bags("embedding_bag", table, out, lookup, bags)) return;
    embedding_bag_v4(table, out, lookup, bags, stream);
}

void embedding_bag_fp16(const __half* table,
                        __half* out,
                        const Lookup& lookup,
                        const Bags& bags,
                        cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();
    if (!check_bags("embedding_bag_fp16", table, out, lookup, bags)) return;
    embedding_bag_fp16_v4(table, out, lookup, bags, stream);
}

void embedding_bag_bf16(const __nv_bfloat16* table,
                        __nv_bfloat16* out,
                        const Lookup& lookup,
                        const Bags& bags,
                        cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();
    if (!check_bags("embedding_bag_bf16", table, out, lookup, bags)) return;
    embedding_bag_bf16_v4(table, out, lookup, bags, stream);
}

void embedding_backward(const float* grad_out,
                        float* grad_table,
                        const Lookup& lookup,
                        int64_t padding,
                        cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one, when the last one is
    if (!check_backward(grad_out, grad_table, lookup, padding)) return;
    embedding_backward_v4(grad_out, grad_table, lookup, padding, stream);
}
// #endregion contract
// #solution
#endif
// #end
