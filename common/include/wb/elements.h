/// wb/elements.h: elements of three types as floats, one by one or 16 bytes at a time.
///
///     const auto r_x = wb::Elements<T, wb::kPerVector<T>>::load(x + first);
///     float r_values[wb::kPerVector<T>];
///     r_x.unpack(r_values);
///
/// What is loaded stays as it is in memory until it is used: eight bf16 have four
/// registers, as floats they have eight.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <wb/ptx/load.h>

#include <cstdint>
#include <type_traits>

namespace wb {

/// Elements of 16 bytes, the most that one load can bring.
template <class T>
inline constexpr int kPerVector = 16 / int{sizeof(T)};

// #region numbers
/// An element as a float, which every fp16 and every bf16 is.
__device__ __forceinline__ float to_float(float value) {
    return value;
}
__device__ __forceinline__ float to_float(__half value) {
    return __half2float(value);
}
__device__ __forceinline__ float to_float(__nv_bfloat16 value) {
    return __bfloat162float(value);
}

/// A float as an element, rounded to the nearest.
template <class T>
__device__ __forceinline__ T to_element(float value) {
    if constexpr (std::is_same_v<T, float>)
        return value;
    else if constexpr (std::is_same_v<T, __half>)
        return __float2half(value);
    else
        return __float2bfloat16(value);
}
// #endregion numbers

// #region elements
/// Neighbouring elements: 16 bytes of them, at an address that is a multiple of 16, or
/// a single one at any address.
template <class T, int kCount>
struct Elements {
    static_assert(kCount == kPerVector<T>, "16 bytes, or one element");
    uint4 words;

    static __device__ __forceinline__ Elements load(const T* from) {
        return {*reinterpret_cast<const uint4*>(from)};
    }
    /// What is read once and written by nobody: it passes the L1 cache by.
    static __device__ __forceinline__ Elements stream(const T* from) {
        return {ptx::load_streaming(from)};
    }
    __device__ __forceinline__ void store(T* to) const {
        *reinterpret_cast<uint4*>(to) = words;
    }
    __device__ __forceinline__ void unpack(float (&values)[kCount]) const {
        const uint32_t word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if constexpr (std::is_same_v<T, float>) {
                values[i] = __uint_as_float(word[i]);
            } else if constexpr (std::is_same_v<T, __half>) {
                values[2 * i] = __half2float(__ushort_as_half(word[i] & 0xFFFFu));
                values[2 * i + 1] = __half2float(__ushort_as_half(word[i] >> 16));
            } else {  // a bf16 is the upper half of a float
                values[2 * i] = __uint_as_float(word[i] << 16);
                values[2 * i + 1] = __uint_as_float(word[i] & 0xFFFF0000u);
            }
        }
    }
    static __device__ __forceinline__ Elements pack(const float (&values)[kCount]) {
        uint32_t word[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if constexpr (std::is_same_v<T, float>)
                word[i] = __float_as_uint(values[i]);
            else
                word[i] = bits(values[2 * i]) | bits(values[2 * i + 1]) << 16;
        }
        return {make_uint4(word[0], word[1], word[2], word[3])};
    }

 private:
    /// The 16 bits of a rounded number.
    static __device__ __forceinline__ uint32_t bits(float value) {
        if constexpr (std::is_same_v<T, __half>)
            return __half_as_ushort(__float2half(value));
        else
            return __bfloat16_as_ushort(__float2bfloat16(value));
    }
};

template <class T>
struct Elements<T, 1> {
    T element;

    static __device__ __forceinline__ Elements load(const T* from) { return {*from}; }
    static __device__ __forceinline__ Elements stream(const T* from) { return {*from}; }
    __device__ __forceinline__ void store(T* to) const { *to = element; }
    __device__ __forceinline__ void unpack(float (&values)[1]) const {
        values[0] = to_float(element);
    }
    static __device__ __forceinline__ Elements pack(const float (&values)[1]) {
        return {to_element<T>(values[0])};
    }
};
// #endregion elements

}  // namespace wb
