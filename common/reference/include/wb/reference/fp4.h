/// CPU reference of weights in FP4: E2M1 with scales of a row, of 32 weights and of 16.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace wb::reference {

/// What 4 bits mean.
inline double e2m1_value(int q) {
    static const double values[8] = {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0};
    return q % 16 < 8 ? values[q % 8] : -values[q % 8];
}

/// What a byte of E4M3 means: NaN for 0x7F and 0xFF.
inline double e4m3_value(int b) {
    const int exponent = b / 8 % 16;
    const double sign = b % 256 < 128 ? 1.0 : -1.0;
    if (b % 128 == 127) return std::numeric_limits<double>::quiet_NaN();
    if (exponent == 0) return sign * std::ldexp(b % 8, -9);
    return sign * std::ldexp(8 + b % 8, exponent - 10);
}

/// What a byte of E8M0 means: NaN for 255.
inline double e8m0_value(int b) {
    return b == 255 ? std::numeric_limits<double>::quiet_NaN()
                    : std::ldexp(1.0, b - 127);
}

namespace detail {

/// The code of 0 to last whose value is nearest to x >= 0; of two the even one. Values
/// rise, and one beyond the last is the last.
template <class Value>
int nearest_code(double x, int last, Value value) {
    int best = 0;
    for (int code = 1; code <= last; ++code) {
        const double nearer = std::abs(x - value(best)) - std::abs(x - value(code));
        if (nearer > 0.0 || (nearer == 0.0 && code % 2 == 0)) best = code;
    }
    return best;
}

}  // namespace detail

/// Rounds to E2M1; a NaN is 0.
inline int to_e2m1(double x) {
    if (std::isnan(x)) return 0;
    return detail::nearest_code(std::abs(x), 7, e2m1_value) + (std::signbit(x) ? 8 : 0);
}

/// Rounds x >= 0 to E4M3.
inline int to_e4m3(double x) {
    return detail::nearest_code(x, 126, e4m3_value);
}

enum class Fp4Kind { channel, mx, nvfp4 };

/// W [N, K] in 4 bits.
struct Fp4Matrix {
    int64_t N;
    int64_t K;
    Fp4Kind kind;
    float global_scale = 1.0f;         // of nvfp4
    std::vector<uint8_t> values;       // [N, K / 2]
    std::vector<float> float_scales;   // [N], of channel
    std::vector<uint8_t> byte_scales;  // [N, K / group], of the others

    int64_t group() const {
        return kind == Fp4Kind::channel ? K : kind == Fp4Kind::mx ? 32 : 16;
    }
    int code(int64_t n, int64_t k) const {
        const int byte = values[static_cast<std::size_t>(n * (K / 2) + k / 2)];
        return k % 2 == 0 ? byte % 16 : byte / 16;
    }
    void set_code(int64_t n, int64_t k, int q) {
        uint8_t& byte = values[static_cast<std::size_t>(n * (K / 2) + k / 2)];
        const int other = k % 2 == 0 ? byte / 16 * 16 : byte % 16;
        byte = static_cast<uint8_t>(other + (k % 2 == 0 ? q : 16 * q));
    }
    /// Without the rounding of any product: 4 + 24 bits fit into a double.
    double scale(int64_t n, int64_t k) const {
        const auto place = static_cast<std::size_t>(n * (K / group()) + k / group());
        if (kind == Fp4Kind::channel) return double{float_scales[place]};
        if (kind == Fp4Kind::mx) return e8m0_value(byte_scales[place]);
        return e4m3_value(byte_scales[place]) * double{global_scale};
    }
    double weight(int64_t n, int64_t k) const {
        return e2m1_value(code(n, k)) * scale(n, k);
    }
};

/// One of all zeros, for the caller to fill.
inline Fp4Matrix empty_fp4(int64_t N, int64_t K, Fp4Kind kind) {
    Fp4Matrix m = {N, K, kind, 1.0f, {}, {}, {}};
    m.values.resize(static_cast<std::size_t>(N * K / 2));
    const auto scales = static_cast<std::size_t>(K == 0 ? 0 : N * (K / m.group()));
    if (kind == Fp4Kind::channel)
        m.float_scales.resize(scales);
    else
        m.byte_scales.resize(scales);
    return m;
}

/// The global scale with which the largest scale of nvfp4 is E4M3's largest: the
/// largest magnitude of W, over 6 * 448; 1 for zeros.
inline float fp4_global_scale(const std::vector<float>& w) {
    float largest = 0.0f;
    for (const float x : w)
        largest = std::max(largest, std::abs(x));
    return largest > 0.0f ? largest / 2688.0f : 1.0f;
}

/// Quantises W [N, K]. Quotients are rounded to float once, which of two floats a
/// double does without a second rounding that could be seen.
inline Fp4Matrix fp4_quantized(const std::vector<float>& w,
                               int64_t N,
                               int64_t K,
                               Fp4Kind kind,
                               float global_scale) {
    Fp4Matrix m = empty_fp4(N, K, kind);
    m.global_scale = global_scale;
    for (int64_t first = 0; first < N * K; first += m.group()) {
        const int64_t n = first / K;
        const auto place = static_cast<std::size_t>(first / m.group());
        double largest = 0.0;
        bool is_finite = true;
        for (int64_t i = first; i < first + m.group(); ++i) {
            const double x = w[static_cast<std::size_t>(i)];
            is_finite = is_finite && std::isfinite(x);
            largest = std::max(largest, std::abs(x));
        }
        double scale = static_cast<float>(largest / 6.0);
        if (kind == Fp4Kind::mx) {
            int exponent = 0;
            (void)std::frexp(largest, &exponent);  // largest = [0.5, 1) 2^exponent
            const int byte =
                largest == 0.0 ? 0 : std::clamp(exponent - 1 - 2 + 127, 0, 254);
            m.byte_scales[place] = static_cast<uint8_t>(is_finite ? byte : 255);
            scale = e8m0_value(byte);
        } else if (kind == Fp4Kind::nvfp4) {
            const double wanted = static_cast<float>(scale / double{global_scale});
            const int byte = to_e4m3(wanted);
            m.byte_scales[place] = static_cast<uint8_t>(is_finite ? byte : 0x7F);
            scale = static_cast<float>(e4m3_value(byte) * double{global_scale});
        } else {
            m.float_scales[place] = is_finite ? static_cast<float>(scale)
                                              : std::numeric_limits<float>::quiet_NaN();
        }
        for (int64_t i = first; i < first + m.group(); ++i) {
            const double x = w[static_cast<std::size_t>(i)];
            const double quotient = !is_finite || scale == 0.0
                                        ? 0.0
                                        : double{static_cast<float>(x / scale)};
            m.set_code(n, i % K, to_e2m1(quotient));
        }
    }
    return m;
}

}  // namespace wb::reference
