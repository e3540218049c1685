/// words.h: jagged tensors in words of several elements. There is nothing to write.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "given.h"

// #region rows
/// The rows of a jagged tensor whose entries are `words` words each.
template <class Offset>
struct Rows {
    const Offset* offsets;  // [num_rows + 1]
    int64_t num_rows;
    int64_t words;  // of an entry

    /// The first word of row r; for r = num_rows, the number of all words.
    __device__ int64_t start(int64_t r) const { return offsets[r] * words; }
};

/// The rows of two jagged tensors, of which each row of one stands before that of the
/// other.
template <class Offset>
struct PairRows {
    const Offset* a_offsets;  // [num_rows + 1]
    const Offset* b_offsets;  // [num_rows + 1]
    int64_t num_rows;
    int64_t words;  // of an entry

    __device__ int64_t start(int64_t r) const {
        return (int64_t{a_offsets[r]} + b_offsets[r]) * words;
    }
};
// #endregion rows

template <class Offset>
Rows<Offset> rows_of(const Offset* offsets, int64_t num_rows, int64_t words) {
    return {offsets, num_rows, words};
}

template <class Offset>
PairRows<Offset> rows_of(const Offset* a_offsets,
                         const Offset* b_offsets,
                         int64_t num_rows,
                         int64_t words) {
    return {a_offsets, b_offsets, num_rows, words};
}

template <class Word>
constexpr int64_t elements_of(Word) {
    return sizeof(Word) / sizeof(bf16);
}

/// The bytes of the widest word for entries of dim elements in arrays that begin at
/// these addresses: 16, 4 or 2.
inline int word_width(int64_t dim, std::initializer_list<const bf16*> arrays) {
    for (const int width : {16, 4}) {
        bool fits = dim * int64_t{sizeof(bf16)} % width == 0;
        for (const bf16* array : arrays)
            fits = fits && reinterpret_cast<uintptr_t>(array) % width == 0;
        if (fits) return width;
    }
    return sizeof(bf16);
}

/// Calls f(word) with a word of so many bytes.
template <class F>
void with_word(int width, F f) {
    if (width == 16)
        f(uint4{});
    else if (width == 4)
        f(uint32_t{});
    else
        f(uint16_t{});
}

/// Calls f(word, offsets), with a word of so many bytes, and a pointer to the type of
/// the offsets.
template <class F>
void with_words(int width, wb::Offsets offsets, F f) {
    with_word(width, [&](auto word) {
        with_offsets(offsets, [&](const auto* typed) { f(word, typed); });
    });
}

/// The same for two arrays of offsets of one type: f(word, a_offsets, b_offsets).
template <class F>
void with_words(int width, wb::Offsets a_offsets, wb::Offsets b_offsets, F f) {
    with_word(width, [&](auto word) {
        with_offsets(
            a_offsets, b_offsets, [&](const auto* a_typed, const auto* b_typed) {
                f(word, a_typed, b_typed);
            });
    });
}
