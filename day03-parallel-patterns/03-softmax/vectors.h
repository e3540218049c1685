/// vectors.h: given with "Go faster": where the whole 16-byte vectors of a row are, and
/// how such a vector becomes floats and back. There is nothing to write here.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "rows.h"

/// Elements of 16 bytes.
template <class T>
inline constexpr int kPerVector = 16 / int{sizeof(T)};

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
struct Vector {
    uint4 words;

    /// Elements that count for nothing.
    static __device__ __forceinline__ Vector nothing() {
        const uint32_t word = sizeof(T) == 4 ? 0xFF800000u : 0xFF80FF80u;  // -inf
        return {make_uint4(word, word, word, word)};
    }
    static __device__ __forceinline__ Vector load(const T* from) {
        return {*reinterpret_cast<const uint4*>(from)};
    }
    __device__ __forceinline__ void store(T* to) const {
        *reinterpret_cast<uint4*>(to) = words;
    }

    __device__ __forceinline__ void unpack(float (&values)[kPerVector<T>]) const {
        const uint32_t word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if constexpr (sizeof(T) == 4) {
                values[i] = __uint_as_float(word[i]);
            } else {  // a bf16 is the upper half of a float
                values[2 * i] = __uint_as_float(word[i] << 16);
                values[2 * i + 1] = __uint_as_float(word[i] & 0xFFFF0000u);
            }
        }
    }
    static __device__ __forceinline__ Vector
    pack(const float (&values)[kPerVector<T>]) {
        uint32_t word[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if constexpr (sizeof(T) == 4) {
                word[i] = __float_as_uint(values[i]);
            } else {
                const uint32_t low =
                    __bfloat16_as_ushort(__float2bfloat16(values[2 * i]));
                const uint32_t high =
                    __bfloat16_as_ushort(__float2bfloat16(values[2 * i + 1]));
                word[i] = low | high << 16;
            }
        }
        return {make_uint4(word[0], word[1], word[2], word[3])};
    }
};
// #endregion vector
