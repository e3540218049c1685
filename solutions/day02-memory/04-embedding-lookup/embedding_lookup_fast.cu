// embedding_lookup_fast.cu: gathers with several loads under way, and a backward pass
// that adds up rows in a fixed order.
#include "embedding_lookup.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>
#include <wb/scratch.h>

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

// #region v4-kernel
/// gather_v4: the words of all rows are one long array. A block moves kWords * kThreads
/// of them, whatever the length of a row.
///
/// @tparam Word  of 2, 4, 8 or 16 bytes; a row is a whole number of them
///
/// Launch   grid ceil_div(count * words, kWords * kThreads), block kThreads
template <class Word>
__global__ void gather_v4_kernel(const Word* table,  // [num_rows, words]
                                 Word* out,          // [count, words]
                                 Lookup lookup,
                                 unsigned words) {  // of a row
    const int64_t first = int64_t{blockIdx.x} * (kWords * kThreads);
    // A division of 64 bits, once a block: the hardware has none, it takes 100 steps.
    const int64_t first_row = first / words;
    const auto first_word = static_cast<unsigned>(first % words);
    move_words(table, out, lookup, words, first, first_row, first_word);
}
// #endregion v4-kernel

// #region v4-launch
template <class Word>
static void launch_gather_v4(const void* table,
                             void* out,
                             const Lookup& lookup,
                             int64_t row_bytes,
                             cudaStream_t stream) {
    const int64_t words = row_bytes / static_cast<int64_t>(sizeof(Word));
    const unsigned blocks = wb::grid_size(lookup.count * words, kWords * kThreads);
    gather_v4_kernel<<<blocks, kThreads, 0, stream>>>(static_cast<const Word*>(table),
                                                      static_cast<Word*>(out),
                                                      lookup,
                                                      static_cast<unsigned>(words));
    CUDA_CHECK_LAUNCH();
}

/// Moves rows of any number of bytes in the widest words that fit.
static void gather_v4(const void* table,
                      void* out,
                      const Lookup& lookup,
                      int64_t row_bytes,
                      cudaStream_t stream) {
    const int word = word_bytes(table, out, row_bytes);
    if (word == 16)
        return launch_gather_v4<uint4>(table, out, lookup, row_bytes, stream);
    if (word == 8)
        return launch_gather_v4<uint2>(table, out, lookup, row_bytes, stream);
    if (word == 4)
        return launch_gather_v4<uint32_t>(table, out, lookup, row_bytes, stream);
    launch_gather_v4<uint16_t>(table, out, lookup, row_bytes, stream);
}
// #endregion v4-launch

static void embedding_v4(const float* table,
                         float* out,
                         const Lookup& lookup,
                         cudaStream_t stream) {
    gather_v4(table, out, lookup, lookup.cols * int64_t{sizeof(float)}, stream);
}

static void embedding_u16_v4(const uint16_t* table,
                             uint16_t* out,
                             const Lookup& lookup,
                             cudaStream_t stream) {
    gather_v4(table, out, lookup, lookup.cols * int64_t{sizeof(uint16_t)}, stream);
}

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

template <class T, int V>
static void launch_bag_v4(const T* table,
                          T* out,
                          const Lookup& lookup,
                          const Bags& bags,
                          cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(bags.num_bags, kWarps);
    bag_v4_kernel<T, V>
        <<<blocks, kThreads, 0, stream>>>(reinterpret_cast<const Pack<T, V>*>(table),
                                          reinterpret_cast<Pack<T, V>*>(out),
                                          lookup,
                                          bags,
                                          static_cast<int>(lookup.cols / V));
    CUDA_CHECK_LAUNCH();
}

/// 16 bytes a load where rows and addresses allow it, else an element.
template <class T>
static void bag_v4(const T* table,
                   T* out,
                   const Lookup& lookup,
                   const Bags& bags,
                   cudaStream_t stream) {
    constexpr int kWide = 16 / sizeof(T);
    if (word_bytes(table, out, lookup.cols * int64_t{sizeof(T)}) == 16)
        return launch_bag_v4<T, kWide>(table, out, lookup, bags, stream);
    launch_bag_v4<T, 1>(table, out, lookup, bags, stream);
}

static void embedding_bag_v4(const float* table,
                             float* out,
                             const Lookup& lookup,
                             const Bags& bags,
                             cudaStream_t stream) {
    bag_v4(table, out, lookup, bags, stream);
}

static void embedding_bag_fp16_v4(const __half* table,
                                  __half* out,
                                  const Lookup& lookup,
                                  const Bags& bags,
                                  cudaStream_t stream) {
    bag_v4(table, out, lookup, bags, stream);
}

static void embedding_bag_bf16_v4(const __nv_bfloat16* table,
                                  __nv_bfloat16* out,
                                  const Lookup& lookup,
                                  const Bags& bags,
                                  cudaStream_t stream) {
    bag_v4(table, out, lookup, bags, stream);
}

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

// #region v4-backward
/// sum_shares_v4: each warp has an equal share, 32 summands in sorted order. It writes
/// the sum of a run of equal rows to the table if the whole run is in its share.
///
/// @tparam V  floats of a load; a row is a whole number of them
///
/// Launch   grid ceil_div(shares, kWarps), block kThreads
template <int V>
__global__ void sum_shares_v4_kernel(Summands<Pack<float, V>> in,
                                     Pack<float, V>* grad_table,  // [num_rows, packs]
                                     Partials<Pack<float, V>> partials,
                                     int32_t num_rows,
                                     int packs) {
    if (warp_of_grid() * kShare >= in.count) return;  // the whole warp
    const Share share = share_of_warp(in, num_rows);
    name_partials(share, partials, num_rows);
    for (int first = 0; first < packs; first += wb::kWarpSize)
        add_share(share,
                  in.rows,
                  grad_table,
                  partials,
                  num_rows,
                  packs,
                  first + lane_of_warp());
}
// #endregion v4-backward

// #region v4-levels
/// Sums of sums: the partial sums of a level are the summands of the next one, until
/// one warp is enough. There are a sixteenth of them each time.
template <int V>
static void launch_backward_v4(const float* grad_out,
                               float* grad_table,
                               const Lookup& lookup,
                               int64_t padding,
                               cudaStream_t stream) {
    using Packed = Pack<float, V>;
    const int packs = static_cast<int>(lookup.cols / V);
    const RowSort sort(lookup, padding, stream);
    const SortedRows sorted = sort.result();
    auto* table = reinterpret_cast<Packed*>(grad_table);
    const unsigned zero_blocks = wb::grid_size(lookup.num_rows, kThreads);
    zero_rows_kernel<V>
        <<<zero_blocks, kThreads, 0, stream>>>(table, sorted, lookup.num_rows, packs);
    CUDA_CHECK_LAUNCH();

    // Levels take turns with two pieces of memory.
    const int64_t most = 2 * wb::ceil_div(lookup.count, int64_t{kShare});
    const int64_t then = 2 * wb::ceil_div(most, int64_t{kShare});
    const wb::Scratch<Packed> rows((most + then) * packs, stream);
    const wb::Scratch<int32_t> belongs(most + then, stream);
    Partials<Packed> partials = {rows.data(), belongs.data()};
    Partials<Packed> others = {rows.data() + most * packs, belongs.data() + most};
    Summands<Packed> summands = {reinterpret_cast<const Packed*>(grad_out),
                                 sorted.rows,
                                 sorted.positions,
                                 lookup.count};
    for (;;) {
        const int64_t shares = wb::ceil_div(summands.count, int64_t{kShare});
        sum_shares_v4_kernel<V><<<wb::grid_size(shares, kWarps), kThreads, 0, stream>>>(
            summands, table, partials, static_cast<int32_t>(lookup.num_rows), packs);
        CUDA_CHECK_LAUNCH();
        if (shares == 1) return;
        summands = {partials.rows, partials.belongs, nullptr, 2 * shares};
        const Partials<Packed> free = others;
        others = partials;
        partials = free;
    }
}
// #endregion v4-levels

static void embedding_backward_v4(const float* grad_out,
                                  float* grad_table,
                                  const Lookup& lookup,
                                  int64_t padding,
                                  cudaStream_t stream) {
    const int64_t row_bytes = lookup.cols * int64_t{sizeof(float)};
    if (lookup.count == 0) {
        CUDA_CHECK(cudaMemsetAsync(grad_table, 0, lookup.num_rows * row_bytes, stream));
        return;
    }
    if (word_bytes(grad_out, grad_table, row_bytes) == 16)
        return launch_backward_v4<4>(grad_out, grad_table, lookup, padding, stream);
    launch_backward_v4<1>(grad_out, grad_table, lookup, padding, stream);
}

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
