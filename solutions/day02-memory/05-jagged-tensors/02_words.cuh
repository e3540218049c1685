// 02_words.cuh: jagged_to_dense_v2 and dense_to_jagged_v2, one block a row, in the
// widest words that fit: bf16x2 where an entry has an even number of elements.
#pragma once

// #region v2
/// jagged_to_dense_v2: v1 with words in place of elements.
///
/// Launch   grid num_rows, block kThreads, no shared memory
/// @tparam Word  4 or 16 bytes, or the 2 of one element
template <class Word, class Offset>
__global__ void jagged_to_dense_v2_kernel(const Word* values,     // [total, words]
                                          const Offset* offsets,  // [num_rows + 1]
                                          Word* dense,  // [num_rows, max_length, words]
                                          int64_t max_length,
                                          int64_t words,  // of an entry
                                          const JaggedStatus* status) {
    if (status->fault != 0) return;
    const int64_t row = blockIdx.x;
    const int64_t first = offsets[row];
    const int64_t row_words = (int64_t{offsets[row + 1]} - first) * words;
    for (int64_t i = threadIdx.x; i < max_length * words; i += kThreads) {
        dense[row * max_length * words + i] =
            i < row_words ? values[first * words + i] : Word{};
    }
}
// #endregion v2

/// dense_to_jagged_v2: the same of dense_to_jagged_v1.
template <class Word, class Offset>
__global__ void dense_to_jagged_v2_kernel(const Word* dense,  // [num_rows, max_length,
                                                              //  words]
                                          const Offset* offsets,  // [num_rows + 1]
                                          Word* values,           // [total, words]
                                          int64_t max_length,
                                          int64_t words,  // of an entry
                                          const JaggedStatus* status) {
    if (status->fault != 0) return;
    const int64_t row = blockIdx.x;
    const int64_t first = offsets[row];
    const int64_t row_words = (int64_t{offsets[row + 1]} - first) * words;
    for (int64_t i = threadIdx.x; i < row_words; i += kThreads) {
        values[first * words + i] =
            i < max_length * words ? dense[row * max_length * words + i] : Word{};
    }
}

static void jagged_to_dense_v2(const bf16* values,
                               wb::Offsets offsets,
                               bf16* dense,
                               const JaggedShape& shape,
                               JaggedStatus* status,
                               cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(shape.num_rows);
    const int width = word_width(shape.dim, {values, dense});
    with_words(width, offsets, [&](auto word, const auto* typed) {
        check_offsets(typed, shape, status, stream);
        using Word = decltype(word);
        jagged_to_dense_v2_kernel<<<blocks, kThreads, 0, stream>>>(
            reinterpret_cast<const Word*>(values),
            typed,
            reinterpret_cast<Word*>(dense),
            shape.max_length,
            shape.dim / elements_of(word),
            status);
    });
    CUDA_CHECK_LAUNCH();
}
WB_RUNG(jagged_to_dense, jagged_to_dense_v2, "words of several elements");

static void dense_to_jagged_v2(const bf16* dense,
                               wb::Offsets offsets,
                               bf16* values,
                               const JaggedShape& shape,
                               JaggedStatus* status,
                               cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(shape.num_rows);
    const int width = word_width(shape.dim, {values, dense});
    with_words(width, offsets, [&](auto word, const auto* typed) {
        check_offsets(typed, shape, status, stream);
        using Word = decltype(word);
        dense_to_jagged_v2_kernel<<<blocks, kThreads, 0, stream>>>(
            reinterpret_cast<const Word*>(dense),
            typed,
            reinterpret_cast<Word*>(values),
            shape.max_length,
            shape.dim / elements_of(word),
            status);
    });
    CUDA_CHECK_LAUNCH();
}
WB_RUNG(dense_to_jagged, dense_to_jagged_v2, "words of several elements");
