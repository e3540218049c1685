/// vectors.h: given with "Go faster": where the whole 16-byte vectors of a row are.
/// There is nothing to write here. How such a vector becomes floats and back is in
/// <wb/elements.h>.
#pragma once

#include <cuda_runtime.h>
#include <wb/elements.h>

#include <cstdint>

#include "rows.h"

using wb::kPerVector;

// #region slice
/// `count` neighbouring elements, as 16-byte vectors. A row may begin at any element:
/// up to kPerVector - 1 elements stand before its first vector, and as many behind its
/// last one. These are its edges.
template <class T>
struct Slice {
    const T* x;
    T* y;
    int count;
    int head;      ///< elements before the first vector
    int vectors;   ///< whole ones
    int edges;     ///< elements that are in none of them
    bool aligned;  ///< a vector of x is a vector of y

    __device__ __forceinline__ Slice(const T* begin_x, T* begin_y, int64_t elements)
        : x(begin_x), y(begin_y), count(static_cast<int>(elements)) {
        const auto from = reinterpret_cast<uintptr_t>(x);
        const int missing = static_cast<int>(-from % 16 / sizeof(T));
        head = min(missing, count);
        vectors = (count - head) / kPerVector<T>;
        edges = count - vectors * kPerVector<T>;
        aligned = (from - reinterpret_cast<uintptr_t>(y)) % 16 == 0;
    }

    /// The place of edge i, for i in [0, edges): first those of the head.
    __device__ __forceinline__ int edge(int i) const {
        return i < head ? i : count - edges + i;
    }
    /// The first element of vector v.
    __device__ __forceinline__ int first(int v) const {
        return head + v * kPerVector<T>;
    }
};
// #endregion slice

// #region vector
/// 16 bytes, as they are in memory: four floats, or eight bf16.
template <class T>
using Vector = wb::Elements<T, kPerVector<T>>;

/// A vector of elements that count for nothing.
template <class T>
__device__ __forceinline__ Vector<T> nothing() {
    const uint32_t word = sizeof(T) == 4 ? 0xFF800000u : 0xFF80FF80u;  // -inf
    return {make_uint4(word, word, word, word)};
}
// #endregion vector
