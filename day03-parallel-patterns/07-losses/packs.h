/// packs.h: given with "Go faster": loads and stores of one or of four floats, and
/// which of them an array allows. There is nothing to write here.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "given.h"

// #region pack
/// V neighbouring elements that are loaded and stored at once: V is 1, or 4 where an
/// address is a multiple of 16.
template <class T, int V>
struct Pack {
    static_assert(sizeof(T) == 4 && (V == 1 || V == 4), "4 or 16 bytes");
    T value[V];

    static __device__ __forceinline__ Pack load(const T* from) {
        Pack pack;
        if constexpr (V == 4) {
            const uint4 words = *reinterpret_cast<const uint4*>(from);
            pack.set(0, words.x);
            pack.set(1, words.y);
            pack.set(2, words.z);
            pack.set(3, words.w);
        } else {
            pack.value[0] = *from;
        }
        return pack;
    }
    static __device__ __forceinline__ Pack filled(T with) {
        Pack pack;
#pragma unroll
        for (int i = 0; i < V; ++i)
            pack.value[i] = with;
        return pack;
    }
    __device__ __forceinline__ void store(T* to) const {
        if constexpr (V == 4)
            *reinterpret_cast<uint4*>(to) =
                make_uint4(bits(0), bits(1), bits(2), bits(3));
        else
            *to = value[0];
    }

 private:
    __device__ __forceinline__ void set(int i, uint32_t word) {
        if constexpr (std::is_integral_v<T>)
            value[i] = static_cast<T>(word);
        else
            value[i] = __uint_as_float(word);
    }
    __device__ __forceinline__ uint32_t bits(int i) const {
        if constexpr (std::is_integral_v<T>)
            return static_cast<uint32_t>(value[i]);
        else
            return __float_as_uint(value[i]);
    }
};
// #endregion pack

// #region aligned
/// Whether all of these addresses are multiples of 16; a null pointer is.
template <class... Pointers>
bool are_aligned(Pointers... pointers) {
    return ((reinterpret_cast<uintptr_t>(pointers) % 16 == 0) && ...);
}

/// Calls f(std::integral_constant<int, V>) with V = 4 if that is possible, else with 1.
template <class F>
void with_width(bool is_possible, F f) {
    if (is_possible)
        f(std::integral_constant<int, 4>());
    else
        f(std::integral_constant<int, 1>());
}
// #endregion aligned
