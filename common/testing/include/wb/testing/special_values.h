/// wb/testing/special_values.h: numbers at which shortcuts show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace wb::testing {

/// Each of these with each of them: zeros of both signs, subnormal numbers and those
/// that are nearly so, ordinary and large ones, infinities and NaN. What IEEE 754 says
/// of them holds on the CPU and on a GPU, unless somebody flushes, clamps or omits.
inline std::pair<std::vector<float>, std::vector<float>> special_pairs() {
    using Limits = std::numeric_limits<float>;
    std::vector<float> values = {0.0f,
                                 1.0f,
                                 1e20f,
                                 5e-38f,
                                 Limits::min(),
                                 1e-40f,
                                 Limits::denorm_min(),
                                 Limits::max(),
                                 Limits::infinity()};
    for (std::size_t i = 0, count = values.size(); i < count; ++i)
        values.push_back(-values[i]);
    values.push_back(Limits::quiet_NaN());
    std::pair<std::vector<float>, std::vector<float>> pairs;
    for (const float a : values)
        for (const float b : values) {
            pairs.first.push_back(a);
            pairs.second.push_back(b);
        }
    return pairs;
}

/// Bits of floats, for what must keep each: zeros of both signs, subnormal numbers,
/// infinities, NaN of many kinds, quiet and signalling, and what is near these.
inline std::vector<std::uint32_t> special_bits(std::size_t count) {
    std::vector<std::uint32_t> bits = {0x00000000u,
                                       0x80000000u,
                                       0x00000001u,
                                       0x807FFFFFu,
                                       0x7F800000u,
                                       0xFF800000u,
                                       0x7FC00000u,
                                       0x7F800001u,
                                       0xFFC00123u,
                                       0xFFA00000u,
                                       0x7FFFFFFFu};
    const std::size_t kinds = bits.size();
    while (bits.size() < count)
        bits.push_back(bits[bits.size() % kinds] ^
                       static_cast<std::uint32_t>(bits.size()));
    bits.resize(count);
    return bits;
}

}  // namespace wb::testing
