/// bits.h: floats and their bits.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

/// The bits of a float, and the float of some bits.
inline uint32_t bits_of_float(float x) {
    uint32_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline float float_of_bits(uint32_t bits) {
    float x = 0.0f;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

/// "1.5 (0x3FC00000)".
inline std::string with_bits(float x) {
    char text[48];
    std::snprintf(
        text, sizeof text, "%.9g (0x%08X)", static_cast<double>(x), bits_of_float(x));
    return text;
}
