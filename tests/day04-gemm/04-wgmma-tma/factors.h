// Calls of the chapter's functions, their factors, and what C has to be.
#pragma once

#include "wgmma_tma.h"

#include <wb/reference/gemm.h>
#include <wb/testing/bounds.h>
#include <wb/testing/random.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "../laid_out.h"

namespace wgmma_tma_grading {

using gemm_grading::laid_out;
using gemm_grading::rounded_by;

/// What the tests know of a type of factors. kUnit is of the accumulator: what an
/// addition may lose of the largest number that takes part.
template <class T>
struct Format;
template <>
struct Format<__half> {
    using CType = __half;
    static constexpr const char* kFunction = "wgmma_tma_fp16";
    static constexpr double kUnit = 0x1p-23;
    static constexpr double kRoundC = 0x1p-11;
    static constexpr double kSmallestC = 0x1p-24;
};
template <>
struct Format<__nv_bfloat16> {
    using CType = __nv_bfloat16;
    static constexpr const char* kFunction = "wgmma_tma_bf16";
    static constexpr double kUnit = 0x1p-23;
    static constexpr double kRoundC = 0x1p-8;
    static constexpr double kSmallestC = 0x1p-133;
};
template <>
struct Format<__nv_fp8_e4m3> {
    using CType = __nv_bfloat16;
    static constexpr const char* kFunction = "wgmma_tma_fp8";
    static constexpr double kUnit = 0x1p-13;
    static constexpr double kRoundC = 0x1p-8;
    static constexpr double kSmallestC = 0x1p-133;
};

/// A number as a T has it.
template <class T>
float round_to(double x) {
    return static_cast<float>(static_cast<T>(static_cast<float>(x)));
}

/// One launch. Gaps and first elements are counted in units of 16 bytes.
struct Call {
    int64_t M;
    int64_t N;
    int64_t K;
    bool transpose_b = false;
    int64_t gap_a = 0;  ///< between the end of a row, rounded up, and the next
    int64_t gap_b = 0;
    int64_t gap_c = 0;
    int64_t a_from = 0;
    int64_t b_from = 0;
    int64_t c_from = 0;

    int64_t rows_of_b() const { return transpose_b ? N : K; }
    int64_t columns_of_b() const { return transpose_b ? K : N; }

    template <class T>
    wb::GemmShape shape() const {
        return {M,
                N,
                K,
                false,
                transpose_b,
                ld<T>(K, gap_a),
                ld<T>(columns_of_b(), gap_b),
                ld<typename Format<T>::CType>(N, gap_c)};
    }
    template <class T>
    static int64_t units(int64_t count) {
        return count * int64_t{16 / sizeof(T)};
    }
    std::string text() const {
        std::string text = "M = " + std::to_string(M) + ", N = " + std::to_string(N) +
                           ", K = " + std::to_string(K);
        if (transpose_b) text += ", B as [N, K]";
        const auto add = [&](const char* what, int64_t value) {
            if (value != 0) text += what + std::to_string(value) + " * 16 B";
        };
        add(", gaps in A of ", gap_a);
        add(", gaps in B of ", gap_b);
        add(", gaps in C of ", gap_c);
        add(", A from ", a_from);
        add(", B from ", b_from);
        add(", C from ", c_from);
        return text;
    }

 private:
    template <class T>
    static int64_t ld(int64_t columns, int64_t gap) {
        constexpr int64_t kUnit = 16 / sizeof(T);
        return (columns + kUnit - 1) / kUnit * kUnit + gap * kUnit;
    }
};

/// The factors without gaps, of any float: each type rounds them. And the scales, which
/// only FP8 has.
struct Factors {
    std::vector<float> a;  ///< [M, K]
    std::vector<float> b;  ///< as it is stored
    std::vector<float> scale_a;
    std::vector<float> scale_b;
};

/// Scales that are powers of two: a product with them is exact.
inline std::vector<float> powers_of_two(int64_t count, int64_t first) {
    std::vector<float> scales;
    for (int64_t i = 0; i < count; ++i)
        scales.push_back(std::ldexp(1.0f, static_cast<int>((first + 5 * i) % 7 - 3)));
    return scales;
}

inline Factors random_factors(const Call& c, uint64_t seed) {
    Factors f = {wb::testing::random_normal(c.M * c.K, 4 * seed),
                 wb::testing::random_normal(c.K * c.N, 4 * seed + 1),
                 wb::testing::random_normal(c.M, 4 * seed + 2),
                 wb::testing::random_normal(c.N, 4 * seed + 3)};
    return f;
}

/// The same, a sixteenth as large: no sum is past the largest half.
inline Factors small_factors(const Call& c, uint64_t seed) {
    Factors f = random_factors(c, seed);
    for (float& a : f.a)
        a /= 16.0f;
    for (float& b : f.b)
        b /= 16.0f;
    return f;
}

/// Whole numbers from -3 to 3. Sums of some hundred products are exact in any
/// accumulator, in any order.
inline Factors whole_numbers(const Call& c, uint64_t seed = 1) {
    wb::testing::Random random(seed);
    const auto some = [&](int64_t count) {
        std::vector<float> values;
        for (int64_t i = 0; i < count; ++i)
            values.push_back(std::floor(static_cast<float>(random.uniform() * 7.0)) -
                             3.0f);
        return values;
    };
    return {
        some(c.M * c.K), some(c.K * c.N), powers_of_two(c.M, 1), powers_of_two(c.N, 2)};
}

/// What C must be, and how far from it a kernel may be.
struct Expected {
    std::vector<double> c;
    std::vector<double> bounds;
};

/// Products of two factors are exact. Tensor cores add a few of them at a time to a
/// sum, at one exponent, the largest, and cut off what lies behind their digits: each
/// of K + 1 terms may lose a unit of that largest one, and so may each sum when it is
/// brought to as many digits again. Two products with scales and rounding to C's type
/// come behind it.
///
/// @param is_exact  the sum is: only the rounding to C's type is left, and all have to
///                  make it in the same way
template <class T>
Expected expected_of(const Call& c, const Factors& f, bool is_exact) {
    using F = Format<T>;
    constexpr bool kScaled = sizeof(T) == 1;
    const std::vector<float> nothing(static_cast<size_t>(c.M * c.N));
    const auto exact = wb::reference::gemm(c.template shape<T>().packed(),
                                           1.0,
                                           rounded_by(round_to<T>, f.a),
                                           rounded_by(round_to<T>, f.b),
                                           0.0,
                                           nothing);
    Expected expected;
    const double relative =
        wb::testing::gamma(2.0 * static_cast<double>(c.K) + 2.0, F::kUnit);
    for (size_t i = 0; i < exact.c.size(); ++i) {
        const size_t m = i / static_cast<size_t>(c.N);
        const size_t n = i % static_cast<size_t>(c.N);
        const double scale = kScaled ? double{f.scale_a[m]} * f.scale_b[n] : 1.0;
        const double value = exact.c[i] * scale;
        if (is_exact || !std::isfinite(value)) {
            expected.c.push_back(double{round_to<typename F::CType>(value)});
            expected.bounds.push_back(0.0);
            continue;
        }
        double bound = relative * exact.magnitude[i] * std::abs(scale);
        if (kScaled) bound += wb::testing::float_bound(3.0, std::abs(value) + bound);
        bound += F::kRoundC * (std::abs(value) + bound) + F::kSmallestC;
        expected.c.push_back(value);
        expected.bounds.push_back(bound + wb::testing::kSmallestFloat);
    }
    return expected;
}

}  // namespace wgmma_tma_grading
