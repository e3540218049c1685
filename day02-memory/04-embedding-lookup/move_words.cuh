/// move_words.cuh: the launches of gather_v4, whose blocks call move_words(). Included
/// by embedding_lookup_fast.cu, below that function. There is nothing to write here.
#pragma once

#include <wb/check.h>
#include <wb/launch.h>

#include "lookup.cuh"

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
