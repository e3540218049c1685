// Grades day04-gemm/04-wgmma-tma: rounding, large and tiny numbers, scales, NaN.
#include "grading.h"

using namespace wgmma_tma_grading;

namespace {

/// `count` numbers, all of them this one.
std::vector<float> all(int64_t count, float value) {
    return std::vector<float>(static_cast<size_t>(count), value);
}

Factors constant(const Call& c, float a, float b) {
    return {all(c.M * c.K, a), all(c.K * c.N, b), all(c.M, 1.0f), all(c.N, 1.0f)};
}

/// Positive numbers of [1, 2): their sum is as large as the sum of their magnitudes.
std::vector<float> positive(int64_t count, uint64_t seed) {
    wb::testing::Random random(seed);
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i)
        values.push_back(static_cast<float>(1.0 + random.uniform()));
    return values;
}

}  // namespace

TEST_CASE("a long sum of positive numbers keeps the digits of a float") {
    const Call c{16, 16, GENERATE(as<int64_t>(), 64, 256), true};
    const Factors f = {positive(c.M * c.K, 1),
                       positive(c.K * c.N, 2),
                       positive(c.M, 3),
                       positive(c.N, 4)};
    grade_type<__half>(c, f, ", all positive");
    grade_type<__nv_bfloat16>(c, f, ", all positive");
    grade_type<__nv_fp8_e4m3>(c, f, ", all positive");
}

TEST_CASE("a sum of several parts of K keeps the digits of a float") {
    // Parts that were rounded to C's type before they are added would lose them.
    const Call c{16, 40, 1600, true};
    grade_type<__half>(c, small_factors(c, 3), ", seed 3");
    grade_type<__nv_bfloat16>(c, random_factors(c, 3), ", seed 3");
    grade_type<__nv_fp8_e4m3>(c, random_factors(c, 3), ", seed 3");
    // The sum is 9: two large halves cancel.
    Factors f = constant(c, 1.0f, 1.0f);
    for (size_t i = 0; i < f.a.size(); ++i) {
        const size_t k = i % static_cast<size_t>(c.K);
        f.a[i] = k < 797 ? 31.0f : k < 1594 ? -31.0f : 1.5f;
    }
    grade_type<__half>(c, f, ", the sum is 9", true);
    grade_type<__nv_bfloat16>(c, f, ", the sum is 9", true);
}

TEST_CASE("a small difference of large sums") {
    // A sum in C's type, or in halves, would be 0, or nothing like it.
    const Call c{8, 24, 130, true};
    Factors f = constant(c, 1.0f, 1.0f);
    for (size_t i = 0; i < f.a.size(); ++i) {
        const size_t k = i % static_cast<size_t>(c.K);
        f.a[i] = k < 64 ? 28.0f : k < 128 ? -28.0f : 0.25f;
    }
    for (float& b : f.b)
        b = 12.0f;
    grade_type<__half>(c, f, ", the sum is 6", true);
    grade_type<__nv_bfloat16>(c, f, ", the sum is 6", true);
    f.scale_a = all(c.M, 0.5f);
    grade_type<__nv_fp8_e4m3>(c, f, ", the sum is 6, scaled by a half", true);
}

TEST_CASE("every digit of the factors counts") {
    // The largest odd numbers of 11, 8 and 4 digits, times 1; their neighbours differ.
    const Call c{24, 16, 40, true};
    const auto factors = [&](int bits) {
        const auto most = static_cast<float>((1 << bits) - 1);
        Factors f = constant(c, most, 1.0f);
        for (size_t i = 0; i < f.a.size(); i += 2)
            f.a[i] = -most + 2.0f;
        return f;
    };
    grade_type<__half>(c, factors(11), ", 11 digits in each number", true);
    grade_type<__nv_bfloat16>(c, factors(8), ", 8 digits in each number", true);
    grade_type<__nv_fp8_e4m3>(c, factors(4), ", 4 digits in each number", true);
}

TEST_CASE("C is rounded to the nearest, half-way cases to even") {
    // 257 and 259 in bf16, 2049 and 2051 in half: half-way between two numbers.
    const Call c{16, 8, 2, true};
    const auto sums = [&](float large) {
        Factors f = constant(c, large, 1.0f);
        for (size_t m = 0; m < static_cast<size_t>(c.M); ++m)
            f.a[2 * m + 1] = m % 2 == 0 ? 1.0f : 3.0f;
        return f;
    };
    grade_type<__nv_bfloat16>(c, sums(256.0f), ", 257 and 259", true);
    grade_type<__half>(c, sums(2048.0f), ", 2049 and 2051", true);
    grade_type<__nv_fp8_e4m3>(c, sums(256.0f), ", 257 and 259", true);
}

TEST_CASE("sums beyond the largest half are infinite, and only there") {
    const Call c{16, 24, 48};
    const Factors f = constant(c, 240.0f, -160.0f);
    grade_type<__half>(c, f, ", the sum is -1843200", true);
    grade_type<__nv_bfloat16>(c, f, ", the sum is -1843200", true);
}

TEST_CASE("bf16 reaches as far as a float") {
    const Call c{16, 16, 24};
    grade_type<__nv_bfloat16>(c, constant(c, 0x1p60f, 0x1p62f), ", 24 * 2^122", true);
}

TEST_CASE("scales are of their row and column, any float") {
    Call c{72, 88, 40, true};
    Factors f = whole_numbers(c);
    for (size_t m = 0; m < f.scale_a.size(); ++m)
        f.scale_a[m] = std::ldexp(m % 3 == 0 ? -1.0f : 1.0f, static_cast<int>(m) - 30);
    for (size_t n = 0; n < f.scale_b.size(); ++n)
        f.scale_b[n] = std::ldexp(1.0f, 40 - static_cast<int>(n));
    f.scale_a[5] = 0.0f;
    grade_type<__nv_fp8_e4m3>(c, f, ", scales from 2^-47 to 2^40, and 0", true);
}

TEST_CASE("NaN and infinities stay in their row and column") {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const Call c{72, 136, 21};
    Factors f = constant(c, 1.0f, 2.0f);
    const auto in_a = [&](int64_t m, int64_t k) -> float& {
        return f.a[static_cast<size_t>(m * c.K + k)];
    };
    const auto in_b = [&](int64_t k, int64_t n) -> float& {
        return f.b[static_cast<size_t>(k * c.N + n)];
    };
    in_a(3, 20) = kNan;
    in_a(70, 0) = kInfinity;
    in_a(20, 7) = -kInfinity;
    in_b(20, 135) = kInfinity;  // meets the NaN, and 1 elsewhere
    in_b(4, 11) = kNan;
    grade_type<__half>(c, f, ", NaN and infinities in three rows and two columns");
    grade_type<__nv_bfloat16>(c, f, ", NaN and infinities in three rows");
}

TEST_CASE("NaN in FP8, and in a scale") {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    const Call c{72, 136, 21, true};
    Factors f = constant(c, 1.0f, 2.0f);
    f.a[static_cast<size_t>(3 * c.K + 20)] = kNan;
    f.b[static_cast<size_t>(133 * c.K + 4)] = kNan;
    f.scale_a[66] = kNan;
    f.scale_b[9] = std::numeric_limits<float>::infinity();
    grade_type<__nv_fp8_e4m3>(c, f, ", NaN in two rows and a column");
}

TEST_CASE("an infinity in the last column of K") {
    // The columns behind K, which fill the last stage, are zeros in A and in B: an
    // infinity times what stands there must not be added.
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const Call c{16, 16, GENERATE(as<int64_t>(), 5, 17, 63, 65), GENERATE(false, true)};
    Factors f = constant(c, 1.0f, 1.0f);
    f.a[static_cast<size_t>(c.K - 1)] = kInfinity;
    grade_type<__half>(c, f, ", A[0, K - 1] is infinite");
    grade_type<__nv_bfloat16>(c, f, ", A[0, K - 1] is infinite");
}
