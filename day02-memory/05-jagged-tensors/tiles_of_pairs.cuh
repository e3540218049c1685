/// tiles_of_pairs.cuh: jagged_concat_v4 and jagged_split_v4, which use row_by_warp() as
/// dense_to_jagged_v4 does. Included by jagged_tensors_fast.cu, below its kernels.
/// There is nothing to write here.
#pragma once

#include <wb/check.h>
#include <wb/launch.h>

#include "given.h"
#include "words.h"

// #region concat-v4
/// jagged_concat_v4: the block's words of the result, each from a or from b.
///
/// Launch   grid ceil_div(num_words, kTile), at least 1, block kThreads, shared memory
///          of two rows
template <class Word, class Offset>
__global__ void jagged_concat_v4_kernel(const Word* a,  // [a_total, words]
                                        const Word* b,  // [b_total, words]
                                        PairRows<Offset> rows,
                                        Word* values,     // [num_words]
                                        Offset* offsets,  // [num_rows + 1]
                                        int64_t num_words,
                                        const JaggedStatus* status) {
    if (status->fault != 0) return;
    const int64_t thread = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    for (int64_t r = thread; r <= rows.num_rows; r += int64_t{gridDim.x} * kThreads) {
        offsets[r] = rows.a_offsets[r] + rows.b_offsets[r];
    }
    const Tile tile = tile_of_block(rows);
    Word r_words[kLoads] = {};
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
        const int64_t i = tile.first + k * kThreads + threadIdx.x;
        if (i >= num_words) break;
        const int64_t row = row_of(rows, tile.first_row, tile.last_row + 1, i);
        // All entries of b before this row lie before word i, and none of this row if
        // the word is one of a.
        const int64_t b_before = rows.b_offsets[row] * rows.words;
        const int64_t a_end = rows.a_offsets[row + 1] * rows.words;
        r_words[k] = i - b_before < a_end ? a[i - b_before] : b[i - a_end];
    }
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
        const int64_t i = tile.first + k * kThreads + threadIdx.x;
        if (i < num_words) values[i] = r_words[k];
    }
}
// #endregion concat-v4

static void jagged_concat_v4(const bf16* a,
                             wb::Offsets a_offsets,
                             const bf16* b,
                             wb::Offsets b_offsets,
                             bf16* values,
                             wb::OffsetsOut offsets,
                             const PairShape& shape,
                             JaggedStatus* status,
                             cudaStream_t stream) {
    const int width = word_width(shape.dim, {a, b, values});
    with_words(width, a_offsets, b_offsets, [&](auto word, auto* a_rows, auto* b_rows) {
        check_offsets(a_rows, b_rows, shape, status, stream);
        using Word = decltype(word);
        const int64_t words = shape.dim / elements_of(word);
        const int64_t num_words = (shape.a_total + shape.b_total) * words;
        const unsigned blocks = wb::grid_size(num_words > 0 ? num_words : 1, kTile);
        jagged_concat_v4_kernel<<<blocks, kThreads, 0, stream>>>(
            reinterpret_cast<const Word*>(a),
            reinterpret_cast<const Word*>(b),
            rows_of(a_rows, b_rows, shape.num_rows, words),
            reinterpret_cast<Word*>(values),
            like(a_rows, offsets),
            num_words,
            status);
    });
    CUDA_CHECK_LAUNCH();
}

// #region split-v4
/// jagged_split_v4: the block's words of the tensor with the rows of both, each to a or
/// to b.
///
/// Launch   grid ceil_div(num_words, kTile), block kThreads, shared memory of two rows
template <class Word, class Offset>
__global__ void jagged_split_v4_kernel(const Word* values,  // [num_words]
                                       PairRows<Offset> rows,
                                       Word* a,  // [a_total, words]
                                       Word* b,  // [b_total, words]
                                       int64_t num_words,
                                       const JaggedStatus* status) {
    if (status->fault != 0) return;
    Word r_words[kLoads] = {};
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
        const int64_t i = int64_t{blockIdx.x} * kTile + k * kThreads + threadIdx.x;
        if (i < num_words) r_words[k] = values[i];
    }
    // The words are on their way; where they go to is found out in the meantime.
    const Tile tile = tile_of_block(rows);
#pragma unroll
    for (int k = 0; k < kLoads; ++k) {
        const int64_t i = tile.first + k * kThreads + threadIdx.x;
        if (i >= num_words) break;
        const int64_t row = row_of(rows, tile.first_row, tile.last_row + 1, i);
        const int64_t b_before = rows.b_offsets[row] * rows.words;
        const int64_t a_end = rows.a_offsets[row + 1] * rows.words;
        if (i - b_before < a_end)
            a[i - b_before] = r_words[k];
        else
            b[i - a_end] = r_words[k];
    }
}
// #endregion split-v4

static void jagged_split_v4(const bf16* values,
                            wb::Offsets a_offsets,
                            wb::Offsets b_offsets,
                            bf16* a,
                            bf16* b,
                            const PairShape& shape,
                            JaggedStatus* status,
                            cudaStream_t stream) {
    const int width = word_width(shape.dim, {a, b, values});
    with_words(width, a_offsets, b_offsets, [&](auto word, auto* a_rows, auto* b_rows) {
        check_offsets(a_rows, b_rows, shape, status, stream);
        using Word = decltype(word);
        const int64_t words = shape.dim / elements_of(word);
        const int64_t num_words = (shape.a_total + shape.b_total) * words;
        if (num_words == 0) return;
        const unsigned blocks = wb::grid_size(num_words, kTile);
        jagged_split_v4_kernel<<<blocks, kThreads, 0, stream>>>(
            reinterpret_cast<const Word*>(values),
            rows_of(a_rows, b_rows, shape.num_rows, words),
            reinterpret_cast<Word*>(a),
            reinterpret_cast<Word*>(b),
            num_words,
            status);
        CUDA_CHECK_LAUNCH();
    });
}
