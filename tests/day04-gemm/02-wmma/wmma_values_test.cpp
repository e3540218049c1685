// Grades day04-gemm/02-wmma: rounding, large and tiny numbers, NaN.
#include "grading.h"

#include <algorithm>

using namespace wmma_grading;

namespace {

/// `count` numbers, all of them this one.
std::vector<float> all(int64_t count, float value) {
    return std::vector<float>(static_cast<size_t>(count), value);
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
    const Call c{16, 16, GENERATE(as<int64_t>(), 64, 256)};
    grade(c, {positive(c.M * c.K, 1), positive(c.K * c.N, 2)}, ", all positive");
}

TEST_CASE("every digit of the factors counts") {
    // 2^bits - 1 times 1: exact in any order of addition, and another number if a
    // factor has lost its last digit. Its neighbours differ, so that sums do, too.
    const Call c{18, 20, 40};
    const auto factors = [&](int bits) {
        const auto most = static_cast<float>((1 << bits) - 1);
        Factors f = {all(c.M * c.K, most), all(c.K * c.N, 1.0f)};
        for (size_t i = 0; i < f.a.size(); i += 3)
            f.a[i] = -most + 2.0f;
        return f;
    };
    grade_type<__half>(
        c, factors(Format<__half>::kBits), ", 11 digits in each number", true);
    grade_type<__nv_bfloat16>(
        c, factors(Format<__nv_bfloat16>::kBits), ", 8 digits in each number", true);
    grade_type<float>(
        c, factors(Format<float>::kBits), ", 11 digits in each number", true);
}

TEST_CASE("TF32 is rounded to the nearest, and away from 0") {
    // 1 + i / 8 of a unit of TF32 beyond it: below a half goes down, the rest goes up.
    // Sums of two such numbers are exact.
    const bool in_b = GENERATE(false, true);
    const Call c{16, 24, 8};
    Factors f = {all(c.M * c.K, 0.0f), all(c.K * c.N, 0.0f)};
    auto& rounded = in_b ? f.b : f.a;
    auto& other = in_b ? f.a : f.b;
    std::fill(other.begin(), other.end(), 1.0f);
    for (size_t i = 0; i < rounded.size(); ++i) {
        const auto eighths = static_cast<float>(i % 16);
        const float value = 1.0f + eighths * 0x1p-13f;
        rounded[i] = i % 3 == 0 ? -value : value;
    }
    grade_type<float>(c, f, in_b ? ", rounded numbers in B" : ", in A", true);
}

TEST_CASE("sums beyond the largest half") {
    const Call c{17, 16, 48};
    const Factors f = {all(c.M * c.K, 240.0f), all(c.K * c.N, -160.0f)};
    grade(c, f, ", C is -1843200", true);
}

TEST_CASE("factors at the ends of what fp16 can say") {
    // The largest half, and halves below the smallest normal one, whose products with
    // large numbers are not small at all.
    const Call c{16, 17, 32};
    Factors f = {all(c.M * c.K, 65504.0f), all(c.K * c.N, 1.0f)};
    for (size_t i = 1; i < f.a.size(); i += 2)
        f.a[i] = 0x1p-24f;
    for (size_t i = 0; i < f.b.size(); ++i)
        f.b[i] = i / static_cast<size_t>(c.N) % 2 == 1 ? 32768.0f : 0.0f;
    grade_type<__half>(c, f, ", 2^-24 * 2^15", true);
    for (size_t i = 0; i < f.b.size(); ++i)
        f.b[i] = i / static_cast<size_t>(c.N) % 2 == 1 ? 0.0f : 2.0f;
    grade_type<__half>(c, f, ", 65504 * 2", true);
}

TEST_CASE("bf16 and TF32 reach as far as a float") {
    const Call c{16, 16, 24};
    const Factors f = {all(c.M * c.K, 0x1p60f), all(c.K * c.N, 0x1p62f)};
    grade_type<__nv_bfloat16>(c, f, ", 24 * 2^122", true);
    grade_type<float>(c, f, ", 24 * 2^122", true);
}

TEST_CASE("NaN and infinities stay in their row and column") {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const Call c{35, 37, 21};
    Factors f = {all(c.M * c.K, 1.0f), all(c.K * c.N, 2.0f)};
    const auto in_a = [&](int64_t m, int64_t k) -> float& {
        return f.a[static_cast<size_t>(m * c.K + k)];
    };
    const auto in_b = [&](int64_t k, int64_t n) -> float& {
        return f.b[static_cast<size_t>(k * c.N + n)];
    };
    in_a(3, 20) = kNan;
    in_a(34, 0) = kInfinity;
    in_a(20, 7) = -kInfinity;
    in_b(20, 36) = kInfinity;  // meets the NaN, and 1 elsewhere
    in_b(4, 11) = kNan;
    grade(c, f, ", NaN and infinities in three rows and two columns");
}

TEST_CASE("a NaN may have any bits that TF32 has") {
    // Of those whose lower bits are all set, rounding as of a number makes a zero.
    const Call c{17, 20, 9};
    Factors f = {all(c.M * c.K, 1.0f), all(c.K * c.N, 2.0f)};
    f.a[4] = std::bit_cast<float>(0x7FFFFFFFu);
    f.a[static_cast<size_t>(16 * c.K)] = std::bit_cast<float>(0xFFFFFFFFu);
    f.b[7] = std::bit_cast<float>(0x7F802000u);
    f.b[static_cast<size_t>(c.K * c.N - 1)] = std::bit_cast<float>(0xFFFFF000u);
    grade(c, f, ", NaN of all kinds");
}

TEST_CASE("an infinity in a column that is not the last of K") {
    // The columns behind K, which fill the last fragment, are zeros in A and in B: an
    // infinity times what stands there must not be added.
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const Call c{16, 16, GENERATE(as<int64_t>(), 5, 17, 33), 3, 0, 0};
    Factors f = {all(c.M * c.K, 1.0f), all(c.K * c.N, 1.0f)};
    f.a[static_cast<size_t>(c.K - 1)] = kInfinity;
    grade(c, f, ", A[0, K - 1] is infinite");
}
