// Grades day04-gemm/05-fused-epilogue: linear_act_backward().
#include "backward.h"

#include <wb/testing/covering.h>
#include <wb/testing/independent_calls.h>

using namespace fused_epilogue_grading;

TEST_CASE("backward: one tile, and what one dimension more or less changes") {
    const auto size = GENERATE(as<int64_t>(), 1, 7, 8, 9, 16, 31, 33);
    grade_backward({size, 16, 16});
    grade_backward({16, size, 16, Activation::gelu});
    grade_backward({16, 16, size});
}

TEST_CASE("backward: more than one block in each direction") {
    grade_backward({129, 40, 257});
    grade_backward({197, 33, 130, Activation::gelu});
}

TEST_CASE("backward: sizes that TMA takes, past one tile in each direction") {
    const BackwardCall silu{136, 72, 272};
    const BackwardCall gelu{264, 24, 136, Activation::gelu, true, 8, 8, 8, 8, 8, 8};
    grade_backward(GENERATE_COPY(silu, gelu));
}

TEST_CASE("backward: one thing alone is not what a fast path wants") {
    const BackwardCall right{20, 40, 40, Activation::silu, true, 8, 8, 8, 8, 8, 8};
    grade_backward(right);
    const auto but = [&](int64_t BackwardCall::*member, int64_t value) {
        BackwardCall c = right;
        c.*member = value;
        grade_backward(c);
    };
    but(&BackwardCall::gap_z, 4);
    but(&BackwardCall::gap_w, 4);
    but(&BackwardCall::gap_dy, 4);
    but(&BackwardCall::z_from, 4);
    but(&BackwardCall::w_from, 4);
    but(&BackwardCall::dy_from, 4);
    BackwardCall c = right;
    c.K = 36;  // and rows as long as before
    c.gap_z = 12;
    c.gap_w = 12;
    grade_backward(c);
    c = right;
    c.N = 36;
    c.gap_dy = 12;
    grade_backward(c);
    c = right;
    c.wants_dbias = false;
    grade_backward(c);
}

TEST_CASE("backward: long rows of dy") {
    grade_backward({17, GENERATE(as<int64_t>(), 96, 128, 291), 40});
}

TEST_CASE("backward: edges meet") {
    static const auto cases = wb::testing::Covering()
                                  .factor("activation", {"none", "silu", "gelu"})
                                  .factor("dbias", {"yes", "no"})
                                  .factor("M", {1, 16, 63, 65, 130})
                                  .factor("N", {0, 1, 31, 32, 40})
                                  .factor("K", {1, 2, 8, 33, 64, 130})
                                  .factor("gap of z", {0, 1, 2, 6, 8})
                                  .factor("gap of w", {0, 1, 8})
                                  .factor("gap of dy", {0, 1, 8})
                                  .factor("z from", {0, 1, 2, 8})
                                  .factor("w from", {0, 1, 8})
                                  .factor("dy from", {0, 1, 8})
                                  .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            grade_backward({c["M"],
                            c["N"],
                            c["K"],
                            static_cast<Activation>(c["activation"]),
                            c.words("dbias") == "yes",
                            c["gap of z"],
                            c["gap of w"],
                            c["gap of dy"],
                            c["z from"],
                            c["w from"],
                            c["dy from"]});
        }
}

TEST_CASE("backward: slopes of all of the line, and far beyond it") {
    std::vector<float> z;
    for (int i = -128; i <= 128; ++i)
        z.push_back(static_cast<float>(i) / 8.0f);
    for (const float far :
         {20.0f, 30.0f, 40.0f, 64.0f, 89.0f, 200.0f, 1e5f, 1e15f, 3e38f, kInfinity})
        for (const float sign : {1.0f, -1.0f})
            z.push_back(stored(sign * far));
    const auto activation = GENERATE(Activation::silu, Activation::gelu);
    const BackwardCall c{static_cast<int64_t>(z.size()), 1, 2, activation};
    BackwardNumbers n = {all(c.M, 1.0f), all(c.K, 1.0f), {}};
    for (const float value : z)
        n.z.insert(n.z.end(), 2, value);
    grade_backward(c, n, ", z from -16 to 16, and up to infinity");
}

TEST_CASE("backward: NaN stays in its row, and goes to the sums of its column") {
    const BackwardCall c{40, 5, 20, GENERATE(Activation::none, Activation::silu)};
    BackwardNumbers n = random_numbers(c, 3);
    n.dy[7 * 5 + 2] = kNan;
    grade_backward(c, n, ", a NaN in dy");
    n = random_numbers(c, 3);
    if (c.activation == Activation::silu) n.z[9 * 20 + 19] = kNan;
    n.w[2 * 20 + 5] = kNan;
    grade_backward(c, n, ", a NaN in w, and one in z");
}

TEST_CASE("backward: an infinity in w is one in dbias") {
    // Rows that fill the last tile have no dy: 0 times infinity is not added.
    const BackwardCall c{40, 8, 16, GENERATE(Activation::none, Activation::silu)};
    BackwardNumbers n = random_numbers(c, 3);
    for (float& dy : n.dy)
        dy = stored(std::abs(dy) + 1.0f);
    for (float& z : n.z)
        z = std::abs(z);
    n.w[2 * 16 + 5] = kInfinity;
    n.w[1 * 16 + 8] = kInfinity;
    grade_backward(c, n, ", dy and z are positive, infinities in w");
}

TEST_CASE("backward: dbias is the sum of what was not rounded yet") {
    // 130 rows whose dz is 1 + 2^-8: each would be rounded to 1, and so would 129 of
    // 130 of the rest.
    const BackwardCall c{130, 2, 24, Activation::none};
    BackwardNumbers n = {all(c.M * c.N, 1.0f), all(c.N * c.K, 1.0f), {}};
    for (size_t i = 24; i < 48; ++i)
        n.w[i] = 0x1p-8f;
    n.z = all(c.M * c.K, 0.0f);
    grade_backward(c, n, ", each dz is 1 + 2^-8");
}

TEST_CASE("backward: calls have nothing in common") {
    wb::testing::expect_independent(
        [] {
            grade_backward({20, 24, 40}, 1);
        },
        [] {
            grade_backward({70, 50, 18, Activation::gelu}, 2);
        });
}
