/// wb/bench/random_numbers.h: inputs of 16-bit types, standard normal like the floats.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <wb/bench/bench.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace wb::bench {

/// narrow[i] = wide[i] rounded to half, or to bfloat16, on the device. Waits for it.
/// @param narrow  room for n 16-bit numbers
void round_to_16_bits(const float* wide, void* narrow, int64_t n, bool bfloat16);

/// Standard normal numbers of T (float, half or bfloat16) on the device, different at
/// each call.
template <class T>
Array<T> random_numbers(Bench& bench, int64_t count) {
    if constexpr (std::is_same_v<T, float>) {
        return bench.random_normal(count);
    } else {
        constexpr int64_t kAtOnce = int64_t{1} << 26;  // as floats: 268 MB
        constexpr bool kBfloat16 = std::is_same_v<T, __nv_bfloat16>;
        static_assert(kBfloat16 || std::is_same_v<T, __half>);
        Array<T> result(count);
        for (int64_t first = 0; first < count; first += kAtOnce) {
            const int64_t n = std::min(count - first, kAtOnce);
            const auto wide = bench.random_normal(n);
            round_to_16_bits(wide.data(), result.data() + first, n, kBfloat16);
        }
        return result;
    }
}

}  // namespace wb::bench
