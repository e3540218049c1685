/// wb/ptx/pack.h: two floats in one register, as tensor cores take 16-bit numbers.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace wb::ptx {

/// Two floats, each rounded to T, in one register; `low` in its lower half.
///
/// @tparam T  __half or __nv_bfloat16
template <class T>
__device__ __forceinline__ uint32_t pack(float low, float high) {
    uint32_t bits;
    if constexpr (std::is_same_v<T, __half>) {
        const __half2 pair = __floats2half2_rn(low, high);
        memcpy(&bits, &pair, sizeof(bits));
    } else {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
        memcpy(&bits, &pair, sizeof(bits));
    }
    return bits;
}

}  // namespace wb::ptx
