// jagged_tensors_fast.cu: blocks that have as much to do each, whatever the rows are.
// jagged_offsets_v2 is in tiled_offsets.cuh; v4 of concat and split, which need two
// tensors, in tiles_of_pairs.cuh.
#include "jagged_tensors.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>

#include "given.h"
#include "tiled_offsets.cuh"
#include "words.h"

using wb::kWarpSize;

/// Words that a thread loads before it stores the first one.
constexpr int kLoads = 4;

/// Words of a block: 16 KB, where a word has 16 bytes.
constexpr int kTile = kThreads * kLoads;

// #region row-of
/// The row in [low, high) in which a word is, by halving. Some rows may be empty: it is
/// the last of those that begin at or before the word.
///
/// @param rows  start(low) <= word < start(high)
template <class AnyRows>
__device__ int64_t
row_of(const AnyRows& rows, int64_t low, int64_t high, int64_t word) {
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (rows.start(middle) <= word)
            low = middle;
        else
            high = middle;
    }
    return low;
}
// #endregion row-of

// #region row-by-warp
/// The same among all rows, by a warp: in each step the lanes look at 32 places that
/// divide what is left into parts. A word behind all others is taken for one of the
/// last row. All lanes of the warp must call it, with one word.
template <class AnyRows>
__device__ int64_t row_by_warp(const AnyRows& rows, int64_t word) {
    // TODO(learner): begin with all rows: start(low) <= word < start(high). While there
    // is more than one row left, divide them into 32 parts of `step` rows, rounded up.
    // Each lane looks whether the part behind its own begins below high, and at or
    // before the word. __ballot_sync() tells all lanes how many do: so many parts are
    // passed. What is left is one part, or the rest of it. Return low (about 11 lines)
    return 0;
}
// #endregion row-by-warp

// #region tile
/// Where a block's words are.
struct Tile {
    int64_t first;      // of the block's words
    int64_t first_row;  // the row of that word
    int64_t last_row;   // the row of the block's last word, or the last of all
};

/// Warp 0 searches the row of the first word, warp 1 that of the last one. All threads
/// of the block must call it.
template <class AnyRows>
__device__ Tile tile_of_block(const AnyRows& rows) {
    __shared__ int64_t s_rows[2];
    const int64_t first = int64_t{blockIdx.x} * kTile;
    const int64_t last = first + kTile - 1;
    const int warp = threadIdx.x / kWarpSize;
    if (warp < 2) {
        const int64_t row = row_by_warp(rows, warp == 0 ? first : last);
        if (threadIdx.x % kWarpSize == 0) s_rows[warp] = row;
    }
    __syncthreads();
    return {first, s_rows[0], s_rows[1]};
}
// #endregion tile

// #region from-dense-v4
/// dense_to_jagged_v4: a block has kTile words of the output. It searches the rows of
/// the first and of the last of them once; its threads search among the few in between.
///
/// Launch   grid ceil_div(num_words, kTile), block kThreads, shared memory of two rows
template <class Word, class Offset>
__global__ void dense_to_jagged_v4_kernel(const Word* dense,  // [num_rows, row_words]
                                          Rows<Offset> rows,
                                          Word* values,       // [num_words]
                                          int64_t row_words,  // of a row of dense
                                          int64_t num_words,
                                          const JaggedStatus* status) {
    if (status->fault != 0) return;
    // TODO(learner): take the block's tile. This thread's words are tile.first +
    // threadIdx.x, and every kThreads further on; kLoads of them, as far as there are
    // num_words. Find the row of each with row_of(): `low` is tile.first_row, and
    // `high`, the first row that it cannot be, is tile.last_row + 1. Find its place in
    // the row. Load it into a register if dense has that place; else it is Word{}.
    // Store all of them after the last load (about 17 lines)
}
// #endregion from-dense-v4

static void dense_to_jagged_v4(const bf16* dense,
                               wb::Offsets offsets,
                               bf16* values,
                               const JaggedShape& shape,
                               JaggedStatus* status,
                               cudaStream_t stream) {
    const int width = word_width(shape.dim, {values, dense});
    with_words(width, offsets, [&](auto word, const auto* typed) {
        check_offsets(typed, shape, status, stream);
        if (shape.total == 0) return;
        using Word = decltype(word);
        const int64_t words = shape.dim / elements_of(word);
        const unsigned blocks = wb::grid_size(shape.total * words, kTile);
        dense_to_jagged_v4_kernel<<<blocks, kThreads, 0, stream>>>(
            reinterpret_cast<const Word*>(dense),
            rows_of(typed, shape.num_rows, words),
            reinterpret_cast<Word*>(values),
            shape.max_length * words,
            shape.total * words,
            status);
        CUDA_CHECK_LAUNCH();
    });
}

// #region to-dense-v4
/// jagged_to_dense_v4: a block has kTile words of dense, in rows of one length: one
/// division of 64 bits finds the row of its first word, the others are near.
///
/// Launch   grid ceil_div(num_words, kTile), block kThreads, no shared memory
template <class Word, class Offset>
__global__ void jagged_to_dense_v4_kernel(const Word* values,  // [total, words]
                                          Rows<Offset> rows,
                                          Word* dense,        // [num_words]
                                          int64_t row_words,  // of a row of dense
                                          int64_t num_words,
                                          const JaggedStatus* status) {
    if (status->fault != 0) return;
    const int64_t first = int64_t{blockIdx.x} * kTile;
    const int64_t first_row = first / row_words;
    const int64_t first_place = first - first_row * row_words;
    Word r_words[kLoads] = {};
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
        const int i = k * kThreads + threadIdx.x;
        if (first + i >= num_words) break;
        int64_t row = first_row;
        int64_t place = first_place + i;
        if (row_words >= kTile) {  // the block's words are in two rows at most
            if (place >= row_words) {
                ++row;
                place -= row_words;
            }
        } else {  // both are small numbers
            const unsigned rows_on =
                static_cast<unsigned>(place) / static_cast<unsigned>(row_words);
            row += rows_on;
            place -= rows_on * row_words;
        }
        const int64_t from = rows.start(row) + place;
        if (from < rows.start(row + 1)) r_words[k] = values[from];
    }
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
        const int64_t i = first + k * kThreads + threadIdx.x;
        if (i < num_words) dense[i] = r_words[k];
    }
}
// #endregion to-dense-v4

static void jagged_to_dense_v4(const bf16* values,
                               wb::Offsets offsets,
                               bf16* dense,
                               const JaggedShape& shape,
                               JaggedStatus* status,
                               cudaStream_t stream) {
    const int width = word_width(shape.dim, {values, dense});
    with_words(width, offsets, [&](auto word, const auto* typed) {
        check_offsets(typed, shape, status, stream);
        using Word = decltype(word);
        const int64_t words = shape.dim / elements_of(word);
        const int64_t row_words = shape.max_length * words;
        const int64_t num_words = shape.num_rows * row_words;
        const unsigned blocks = wb::grid_size(num_words, kTile);
        jagged_to_dense_v4_kernel<<<blocks, kThreads, 0, stream>>>(
            reinterpret_cast<const Word*>(values),
            rows_of(typed, shape.num_rows, words),
            reinterpret_cast<Word*>(dense),
            row_words,
            num_words,
            status);
    });
    CUDA_CHECK_LAUNCH();
}

#include "tiles_of_pairs.cuh"

// #region contract
void jagged_offsets(const int32_t* lengths,
                    wb::OffsetsOut offsets,
                    int64_t num_rows,
                    JaggedStatus* status,
                    cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line too: its kernel is given
    check_jagged_offsets(lengths, offsets, num_rows, status);
    jagged_offsets_v2(lengths, offsets, num_rows, status, stream);
}

void jagged_to_dense(const bf16* values,
                     wb::Offsets offsets,
                     bf16* dense,
                     const JaggedShape& shape,
                     JaggedStatus* status,
                     cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line too: its kernel is given
    if (!check_conversion("jagged_to_dense", values, offsets, dense, shape, status) ||
        shape.max_length == 0)
        return;
    jagged_to_dense_v4(values, offsets, dense, shape, status, stream);
}

void dense_to_jagged(const bf16* dense,
                     wb::Offsets offsets,
                     bf16* values,
                     const JaggedShape& shape,
                     JaggedStatus* status,
                     cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when both TODOs are written
    if (!check_conversion("dense_to_jagged", values, offsets, dense, shape, status))
        return;
    dense_to_jagged_v4(dense, offsets, values, shape, status, stream);
}

void jagged_concat(const bf16* a,
                   wb::Offsets a_offsets,
                   const bf16* b,
                   wb::Offsets b_offsets,
                   bf16* values,
                   wb::OffsetsOut offsets,
                   const PairShape& shape,
                   JaggedStatus* status,
                   cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one: its kernel needs row_by_warp(), too
    if (!check_concat(a, a_offsets, b, b_offsets, values, offsets, shape, status))
        return;
    jagged_concat_v4(
        a, a_offsets, b, b_offsets, values, offsets, shape, status, stream);
}

void jagged_split(const bf16* values,
                  wb::Offsets a_offsets,
                  wb::Offsets b_offsets,
                  bf16* a,
                  bf16* b,
                  const PairShape& shape,
                  JaggedStatus* status,
                  cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one
    if (!check_split(values, a_offsets, b_offsets, a, b, shape, status)) return;
    jagged_split_v4(values, a_offsets, b_offsets, a, b, shape, status, stream);
}
// #endregion contract
