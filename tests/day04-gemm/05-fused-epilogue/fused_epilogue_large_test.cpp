// Grades day04-gemm/05-fused-epilogue: matrices of more elements than 32 bits count.
#include "layer.h"

#include <wb/check.h>
#include <wb/testing/fail.h>
#include <wb/testing/large.h>

#include <cstring>

using namespace fused_epilogue_grading;

namespace {

#ifndef SIMT_CPU
using wb::testing::LargeArrays;

void set(Bf16* element, float value) {
    const auto narrow = static_cast<Bf16>(value);
    CUDA_CHECK(cudaMemcpy(element, &narrow, sizeof narrow, cudaMemcpyHostToDevice));
}

/// The float whose upper half is this bf16, and whose lower one is 0: what two
/// neighbours are, of which the first is 0.
double upper(float value) {
    return double{stored(value)};
}

/// The float whose upper byte is this e4m3, and whose others are 0.
double upper_byte(float value) {
    const auto bits = uint32_t{__nv_fp8_e4m3(value).__x} << 24;
    float result;
    std::memcpy(&result, &bits, sizeof result);
    return double{result};
}

constexpr int64_t kM = (int64_t{1} << 16) + 16;  ///< rows of
constexpr int64_t kN = (int64_t{1} << 15) + 16;  ///< more than 2^31 elements
constexpr int64_t kK = 8;
constexpr int64_t kApart = (int64_t{1} << 31) + 8;

/// Rows and columns that are not 0, and where they meet.
struct Crossing {
    std::vector<int64_t> rows = {0, (int64_t{1} << 16) + 3, kM - 1};
    std::vector<int64_t> columns = {3, 4095, kN - 1};
    static float of_row(int64_t m) { return static_cast<float>(m % 8 + 1); }

    /// x [M, K] is 0 but for column 2 of these rows, w [N, K] likewise.
    void fill(Bf16* x, Bf16* w) const {
        for (const int64_t m : rows)
            set(x + m * kK + 2, of_row(m));
        for (const int64_t n : columns)
            set(w + n * kK + 2, 2.0f);
    }
};
#endif

/// In the simulator, a case must grade something before it is skipped.
void grade_little() {
    grade_linear_random({1, 1, 1});
}

}  // namespace

TEST_CASE("y of more than 2^31 elements", "[large][serial]") {
    grade_little();
#ifdef SIMT_CPU
    WB_SKIP("2^31 sums are too much for the simulator");
#else
    LargeArrays large((kM * kK + kN * kK) / 2, kM * kN / 2);
    if (!large.has_memory()) WB_SKIP("needs 20 GB of free GPU memory");
    auto* const x = reinterpret_cast<Bf16*>(large.x);
    auto* const w = x + kM * kK;
    const Crossing crossing;
    crossing.fill(x, w);
    const LinearInput in = {
        {kM, kN, kK, kK, kK, kN}, Activation::none, x, w, nullptr, nullptr};
    std::vector<int64_t> places;
    std::vector<double> expected;
    for (const int64_t m : crossing.rows)
        for (const int64_t n : crossing.columns) {
            places.push_back((m * kN + n) / 2);
            expected.push_back(upper(2.0f * Crossing::of_row(m)));
        }
    places.push_back(kM * kN / 4);  // where nothing meets
    expected.push_back(0.0);
    for (const auto& [name, idea, launcher] :
         wb::implementations("linear_act", &linear_act))
        large.expect(
            name, "2^31 elements and more", places, expected, [&](auto stream) {
                launcher(in, reinterpret_cast<Bf16*>(large.y), nullptr, stream);
            });
#endif
}

TEST_CASE("fp8: y of more than 2^31 elements", "[large][serial]") {
    grade_little();
#ifdef SIMT_CPU
    WB_SKIP("2^31 sums are too much for the simulator");
#else
    LargeArrays large((kM * kK + kN * kK) / 2 + 2, kM * kN / 4);
    if (!large.has_memory()) WB_SKIP("needs 20 GB of free GPU memory");
    auto* const x = reinterpret_cast<Bf16*>(large.x + 2);
    auto* const w = x + kM * kK;
    large.set(0, 4.0f);
    const Crossing crossing;
    crossing.fill(x, w);
    const LinearInput in = {
        {kM, kN, kK, kK, kK, kN}, Activation::none, x, w, nullptr, nullptr};
    std::vector<int64_t> places;
    std::vector<double> expected;
    for (const int64_t m : crossing.rows)
        for (const int64_t n : crossing.columns) {
            places.push_back((m * kN + n) / 4);
            expected.push_back(upper_byte(8.0f * Crossing::of_row(m)));
        }
    for (const auto& [name, idea, launcher] :
         wb::implementations("linear_act_fp8", &linear_act_fp8))
        large.expect(
            name, "2^31 elements and more", places, expected, [&](auto stream) {
                launcher(in,
                         large.x,
                         reinterpret_cast<__nv_fp8_e4m3*>(large.y),
                         large.x + 1,
                         stream);
            });
#endif
}

TEST_CASE("backward: dz of more than 2^31 elements", "[large][serial]") {
    grade_little();
#ifdef SIMT_CPU
    WB_SKIP("2^31 sums are too much for the simulator");
#else
    // dy is [M, 8], w is [8, N'] with N' = kN, and z is all 0, where silu' is a half.
    LargeArrays large((kM * kK + kN * kK + kM * kN) / 2, kM * kN / 2);
    if (!large.has_memory()) WB_SKIP("needs 25 GB of free GPU memory");
    auto* const dy = reinterpret_cast<Bf16*>(large.x);
    auto* const w = dy + kM * kK;
    const Crossing crossing;
    for (const int64_t m : crossing.rows)
        set(dy + m * kK + 2, Crossing::of_row(m));
    for (const int64_t n : crossing.columns)
        set(w + 2 * kN + n, 4.0f);
    const LinearGradient in = {
        {kM, kK, kN, kN, kN, kK}, Activation::silu, dy, w, w + kK * kN};
    std::vector<int64_t> places;
    std::vector<double> expected;
    for (const int64_t m : crossing.rows)
        for (const int64_t n : crossing.columns) {
            places.push_back((m * kN + n) / 2);
            expected.push_back(upper(2.0f * Crossing::of_row(m)));
        }
    for (const auto& [name, idea, launcher] :
         wb::implementations("linear_act_backward", &linear_act_backward))
        large.expect(
            name, "2^31 elements and more", places, expected, [&](auto stream) {
                launcher(in, reinterpret_cast<Bf16*>(large.y), nullptr, stream);
            });
#endif
}

TEST_CASE("rows of x and of w that are 2^31 elements apart", "[large][serial]") {
    grade_little();
#ifdef SIMT_CPU
    WB_SKIP("2^31 numbers are too much for the simulator");
#else
    // Two rows of each, one behind the other.
    LargeArrays large(kApart + 2 * kK, 16);
    if (!large.has_memory()) WB_SKIP("needs 10 GB of free GPU memory");
    auto* const x = reinterpret_cast<Bf16*>(large.x);
    auto* const w = x + kApart + kK;
    set(x + 3, 5.0f);
    set(x + kApart + 4, 7.0f);
    set(w + kApart + 3, 2.0f);
    set(w + kApart + 4, 3.0f);
    const LinearInput in = {
        {2, 2, kK, kApart, kApart, 2}, Activation::none, x, w, nullptr, nullptr};
    for (const auto& [name, idea, launcher] :
         wb::implementations("linear_act", &linear_act))
        large.expect(name,
                     "ldx = ldw = 2^31 + 8",
                     {0, 1},
                     {upper(10.0f), upper(21.0f)},
                     [&](auto stream) {
                         launcher(
                             in, reinterpret_cast<Bf16*>(large.y), nullptr, stream);
                     });
#endif
}
