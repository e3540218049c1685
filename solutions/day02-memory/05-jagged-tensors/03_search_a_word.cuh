// 03_search_a_word.cuh: jagged_to_dense_v3 and dense_to_jagged_v3, a thread for each
// word of the output, which finds out by itself in which row it is.
#pragma once

/// jagged_to_dense_v3: rows of dense are of one length, so that a division finds them.
///
/// Launch   grid ceil_div(num_words, kThreads), block kThreads, no shared memory
template <class Word, class Offset>
__global__ void jagged_to_dense_v3_kernel(const Word* values,  // [total, words]
                                          Rows<Offset> rows,
                                          Word* dense,        // [num_words]
                                          int64_t row_words,  // of a row of dense
                                          int64_t num_words,
                                          const JaggedStatus* status) {
    if (status->fault != 0) return;
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= num_words) return;
    const int64_t row = i / row_words;
    const int64_t from = rows.start(row) + (i - row * row_words);
    dense[i] = from < rows.start(row + 1) ? values[from] : Word{};
}

// #region v3
/// dense_to_jagged_v3: each thread searches the row of its word among all rows.
///
/// Launch   grid ceil_div(num_words, kThreads), block kThreads, no shared memory
template <class Word, class Offset>
__global__ void dense_to_jagged_v3_kernel(const Word* dense,  // [num_rows, row_words]
                                          Rows<Offset> rows,
                                          Word* values,       // [num_words]
                                          int64_t row_words,  // of a row of dense
                                          int64_t num_words,
                                          const JaggedStatus* status) {
    if (status->fault != 0) return;
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= num_words) return;
    const int64_t row = row_of(rows, 0, rows.num_rows, i);
    const int64_t place = i - rows.start(row);
    values[i] = place < row_words ? dense[row * row_words + place] : Word{};
}
// #endregion v3

static void jagged_to_dense_v3(const bf16* values,
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
        const unsigned blocks = wb::grid_size(num_words, kThreads);
        jagged_to_dense_v3_kernel<<<blocks, kThreads, 0, stream>>>(
            reinterpret_cast<const Word*>(values),
            rows_of(typed, shape.num_rows, words),
            reinterpret_cast<Word*>(dense),
            row_words,
            num_words,
            status);
    });
    CUDA_CHECK_LAUNCH();
}
WB_RUNG(jagged_to_dense, jagged_to_dense_v3, "a division a word");

static void dense_to_jagged_v3(const bf16* dense,
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
        const unsigned blocks = wb::grid_size(shape.total * words, kThreads);
        dense_to_jagged_v3_kernel<<<blocks, kThreads, 0, stream>>>(
            reinterpret_cast<const Word*>(dense),
            rows_of(typed, shape.num_rows, words),
            reinterpret_cast<Word*>(values),
            shape.max_length * words,
            shape.total * words,
            status);
    });
    CUDA_CHECK_LAUNCH();
}
WB_RUNG(dense_to_jagged, dense_to_jagged_v3, "a search a word");
