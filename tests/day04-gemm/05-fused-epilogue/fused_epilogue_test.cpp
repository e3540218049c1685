// Grades day04-gemm/05-fused-epilogue: linear_act(): sizes, edges, what is there and
// what is not.
#include "layer.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>

using namespace fused_epilogue_grading;

TEST_CASE("one tile, and what one dimension more or less changes") {
    const auto size = GENERATE(as<int64_t>(), 1, 2, 7, 8, 9, 15, 17, 31, 32, 33);
    Call c{size, 16, 16};
    c.wants_z = true;
    c.residual = Residual::apart;
    grade_linear_random(c);
    std::swap(c.M, c.N);
    grade_linear_random(c);
    std::swap(c.N, c.K);
    grade_linear_random(c);
}

TEST_CASE("whole numbers: without an activation y is exact") {
    const auto size = GENERATE(0, 1, 2);
    Call c{size == 0 ? 16 : 33, size == 1 ? 65 : 48, size == 2 ? 70 : 21};
    c.activation = Activation::none;
    c.residual = Residual::apart;
    c.wants_z = true;
    grade_linear(c, whole_numbers(c), ", whole numbers", true);
}

TEST_CASE("K = 0: the activation of the bias alone") {
    Call c{20, 33, 0};
    c.residual = GENERATE(Residual::none, Residual::in_y);
    c.wants_z = true;
    grade_linear_random(c);
    c.activation = Activation::gelu;
    c.has_bias = false;
    grade_linear_random(c);
}

TEST_CASE("each dimension is a prime number") {
    Call c{67, 131, 37};
    c.activation = GENERATE(Activation::silu, Activation::gelu);
    c.residual = Residual::apart;
    c.wants_z = true;
    grade_linear_random(c);
}

TEST_CASE("more than one block in each direction") {
    Call c{129, 257, 40};
    c.wants_z = true;
    c.residual = GENERATE(Residual::apart, Residual::in_y);
    grade_linear_random(c);
}

TEST_CASE("long rows of x: the ring of stages goes round several times") {
    const int64_t K = GENERATE(as<int64_t>(), 96, 128, 160, 291);
    grade_linear_random({17, 40, K});
}

TEST_CASE("each dimension past 4096, with gaps between rows", "[long]") {
    for (const auto& [M, N, K] :
         {std::tuple{4131, 3, 5}, std::tuple{3, 4131, 5}, std::tuple{3, 5, 4131}}) {
        Call c{M, N, K};
        c.gap_x = 3;
        c.gap_w = 5;
        c.gap_y = 2;
        c.residual = Residual::apart;
        c.wants_z = true;
        grade_linear_random(c);
    }
}

TEST_CASE("edges meet: sizes, gaps, where matrices begin, what is there") {
    static const auto cases = wb::testing::Covering()
                                  .factor("activation", {"none", "silu", "gelu"})
                                  .factor("bias", {"no", "at 0", "at 1", "at 2"})
                                  .factor("residual", {"no", "apart", "in y"})
                                  .factor("z", {"no", "yes"})
                                  .factor("M", {1, 16, 63, 65, 130})
                                  .factor("N", {1, 2, 8, 33, 64, 130})
                                  .factor("K", {1, 8, 31, 32, 40, 72})
                                  .factor("gap of x", {0, 1, 8})
                                  .factor("gap of w", {0, 1, 8})
                                  .factor("gap of y", {0, 1, 2, 6, 8})
                                  .factor("x from", {0, 1, 8})
                                  .factor("w from", {0, 1, 8})
                                  .factor("y from", {0, 1, 2, 8})
                                  .triples("activation", "bias", "residual")
                                  .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_linear_random({c["M"],
                                 c["N"],
                                 c["K"],
                                 static_cast<Activation>(c["activation"]),
                                 c["bias"] > 0,
                                 static_cast<Residual>(c["residual"]),
                                 c.words("z") == "yes",
                                 c["gap of x"],
                                 c["gap of w"],
                                 c["gap of y"],
                                 c["x from"],
                                 c["w from"],
                                 c["y from"],
                                 std::max(c["bias"] - 1, int64_t{0})});
        }
}

TEST_CASE("a block of whole tiles, as a fast path wants them") {
    // Rows at multiples of 16 bytes; then with an edge in one dimension.
    Call c = GENERATE(Call{128, 128, 32}, Call{136, 136, 32}, Call{128, 128, 40});
    c.wants_z = true;
    c.residual = Residual::apart;
    c.activation = Activation::none;
    grade_linear(c, whole_numbers(c), ", whole numbers", true);
}

TEST_CASE("one thing alone is not what a fast path wants") {
    // All is a multiple of 16 bytes; then all but one.
    const Call right{
        20, 40, 40, Activation::silu, true, Residual::none, true, 8, 8, 8, 8, 8, 8, 8};
    grade_linear_random(right);
    const auto but = [&](int64_t Call::*member, int64_t value) {
        Call c = right;
        c.*member = value;
        grade_linear_random(c);
    };
    but(&Call::gap_x, 4);
    but(&Call::gap_w, 4);
    but(&Call::gap_y, 4);
    but(&Call::x_from, 4);
    but(&Call::w_from, 4);
    but(&Call::y_from, 4);
    but(&Call::bias_from, 4);
    Call c = right;
    c.N = 36;  // and rows as long as before
    c.gap_y = 12;
    grade_linear_random(c);
    c = right;
    c.K = 36;
    c.gap_x = 12;
    c.gap_w = 12;
    grade_linear_random(c);
    c = right;
    c.activation = Activation::none;
    grade_linear_random(c);
    c.residual = Residual::in_y;
    c.wants_z = false;
    grade_linear_random(c);
}

TEST_CASE("linear_act: calls have nothing in common") {
    wb::testing::expect_independent(
        [] {
            grade_linear_random({20, 40, 24}, 1);
        },
        [] {
            grade_linear_random({70, 18, 50, Activation::gelu, false}, 2);
        });
}
