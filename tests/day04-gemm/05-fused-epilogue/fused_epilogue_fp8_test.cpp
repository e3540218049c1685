// Grades day04-gemm/05-fused-epilogue: linear_act_fp8(): outputs of 8 bits, and the
// largest of them.
#include "fp8.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>

using namespace fused_epilogue_grading;

TEST_CASE("fp8: sizes and tails") {
    const auto size = GENERATE(as<int64_t>(), 1, 7, 8, 9, 31, 33, 65);
    grade_fp8({size, 20, 16}, 8.0f);
    grade_fp8({20, size, 16}, 8.0f);
    grade_fp8({130, 136, size, Activation::gelu}, 8.0f);
}

TEST_CASE("fp8: sizes that TMA takes, past one tile in each direction") {
    // Chapter 04's kernel has 256 rows and 256 columns a cluster, and 64 of K a step.
    const auto [M, N, K] = GENERATE(table<int64_t, int64_t, int64_t>(
        {{1, 16, 8}, {9, 48, 72}, {65, 80, 16}, {260, 32, 8}, {20, 272, 136}}));
    const auto activation = GENERATE(Activation::none, Activation::gelu);
    Call c{M, N, K, activation, M != 9, M == 65 ? Residual::apart : Residual::none};
    grade_fp8(c, 8.0f);
    c.gap_y = 16;
    c.y_from = 16;
    grade_fp8(c, 30.0f);
}

TEST_CASE("fp8: edges meet") {
    static const auto cases = wb::testing::Covering()
                                  .factor("activation", {"none", "silu", "gelu"})
                                  .factor("bias", {"no", "at 0", "at 1", "at 2"})
                                  .factor("residual", {"no", "apart"})
                                  .factor("M", {1, 63, 65, 130})
                                  .factor("N", {1, 8, 33, 64, 130, 136})
                                  .factor("K", {0, 1, 32, 40})
                                  .factor("gap of y", {0, 1, 2, 6, 8, 16})
                                  .factor("y from", {0, 1, 2, 8, 16})
                                  .factor("scale", {-2, 1, 30, 4000})
                                  .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            Call call{c["M"],
                      c["N"],
                      c["K"],
                      static_cast<Activation>(c["activation"]),
                      c["bias"] > 0,
                      static_cast<Residual>(c["residual"])};
            call.gap_y = c["gap of y"];
            call.y_from = c["y from"];
            call.bias_from = std::max(c["bias"] - 1, int64_t{0});
            grade_fp8(call, static_cast<float>(c["scale"]));
        }
}

TEST_CASE("fp8: the largest is anywhere, and of either sign") {
    // In each row and column in turn; nothing else comes near.
    const bool suits_tma = GENERATE(false, true);
    Call c{130, suits_tma ? 80 : 66, suits_tma ? 8 : 1, Activation::none, false};
    const auto [row, col] = GENERATE(table<int64_t, int64_t>(
        {{0, 0}, {129, 65}, {64, 33}, {17, 1}, {127, 64}, {128, 8}}));
    Numbers n = {all(c.M * c.K, 0.0f),
                 all(c.N * c.K, 0.0f),
                 all(c.N, 0.0f),
                 all(c.M * c.N, 0.0f)};
    n.x[static_cast<size_t>(row * c.K)] = row % 2 == 0 ? 3.0f : -3.0f;
    n.w[static_cast<size_t>(col * c.K)] = 5.0f;
    grade_fp8(c, n, 1.0f, ", 15 in one place");
}

TEST_CASE("fp8: amax is of numbers before the scale, and before they are rounded") {
    const int64_t K = GENERATE(2, 8);
    Call c{16, 32, K, Activation::silu};
    grade_fp8(c, GENERATE(0.001f, 1000.0f));
}

TEST_CASE("fp8: what is too large becomes 448") {
    Call c{40, GENERATE(as<int64_t>(), 24, 32), 8, Activation::none};
    grade_fp8(c, GENERATE(1e3f, 1e30f));
}

TEST_CASE("fp8: small numbers down to the smallest, and 0") {
    Call c{4, 64, 1, Activation::none, false};
    Numbers n = {all(c.M, 1.0f), {}, {}, {}};
    n.x[1] = -1.0f;
    for (int i = 0; i < 64; ++i)
        n.w.push_back(static_cast<float>(i) / 4.0f * 0x1p-9f);
    n.bias = all(c.N, 0.0f);
    n.residual = all(c.M * c.N, 0.0f);
    grade_fp8(c, n, GENERATE(1.0f, 0.5f, 8.0f), ", quarters of the smallest");
    grade_fp8(c, n, 0.0f, ", a scale of 0");
}

TEST_CASE("fp8: a scale that is infinite or NaN, and 0 times infinity") {
    const int64_t K = GENERATE(3, 8);
    Call c{20, K == 3 ? 27 : 48, K, Activation::none, false};
    Numbers n = random_numbers(c, 1);
    std::fill_n(n.x.begin(), K, 0.0f);  // a row of zeros
    n.x[static_cast<size_t>(5 * K)] = kInfinity;
    for (const float scale : {kInfinity, -kInfinity, kNan, 0.0f})
        grade_fp8(c, n, scale, ", a row of zeros, an infinity in x");
}

TEST_CASE("fp8: NaN stays NaN, infinity is 448, and amax knows") {
    // With 27 or 48 columns the last ones of a tile do not exist: infinity times
    // nothing there is no NaN of amax's.
    const bool suits_tma = GENERATE(false, true);
    const int64_t K = suits_tma ? 8 : 5;
    Call c{20, suits_tma ? 48 : 27, K, Activation::silu};
    Numbers n = random_numbers(c, 1);
    for (float& w : n.w)
        w = std::abs(w);
    const Numbers positive = n;
    n.x[static_cast<size_t>(3 * K + 1)] = kInfinity;
    grade_fp8(c, n, 2.0f, ", an infinity in x");
    n.x[static_cast<size_t>(7 * K + 2)] = kNan;
    grade_fp8(c, n, 2.0f, ", a NaN and an infinity in x");
    n = positive;
    n.bias[23] = -kInfinity;
    grade_fp8(c, n, 2.0f, ", a bias of -infinity");
    n.bias[23] = kNan;
    grade_fp8(c, n, 2.0f, ", a bias of NaN");
}

TEST_CASE("fp8: calls have nothing in common") {
    wb::testing::expect_independent(
        [] {
            grade_fp8({20, 40, 24}, 8.0f);
        },
        [] {
            grade_fp8({70, 18, 50, Activation::gelu, false}, 0.5f);
        });
}
