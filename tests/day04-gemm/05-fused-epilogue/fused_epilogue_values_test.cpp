// Grades day04-gemm/05-fused-epilogue: linear_act(): rounding, large and small z, NaN.
#include "layer.h"

using namespace fused_epilogue_grading;

namespace {

/// A layer of which z is what the test wants: x is one column, w a row of ones.
Call column_of(int64_t count, Activation activation) {
    Call c{count, 2, 1, activation, false};
    c.wants_z = true;
    return c;
}

Numbers with_z(const Call& c, const std::vector<float>& z) {
    return {z, all(c.N, 1.0f), all(c.N, 0.0f), all(c.M * c.N, 0.0f)};
}

}  // namespace

TEST_CASE("activations of all of the line") {
    // -24 to 24 in steps of 1/8: far enough for sigmoid to be 0 or 1.
    std::vector<float> z;
    for (int i = -192; i <= 192; ++i)
        z.push_back(static_cast<float>(i) / 8.0f);
    const auto activation = GENERATE(Activation::silu, Activation::gelu);
    const Call c = column_of(static_cast<int64_t>(z.size()), activation);
    grade_linear(c, with_z(c, z), ", z from -24 to 24");
}

TEST_CASE("large z: nothing overflows on the way") {
    const std::vector<float> z =
        stored({-30.0f,  -40.0f,  -60.0f,  -64.0f, -70.0f, -88.0f, -90.0f,
                -103.0f, -105.0f, -200.0f, -1e4f,  -1e10f, -1e20f, -3e38f,
                30.0f,   40.0f,   60.0f,   64.0f,  70.0f,  88.0f,  90.0f,
                103.0f,  105.0f,  200.0f,  1e4f,   1e10f,  1e20f,  3e38f});
    const auto activation = GENERATE(Activation::silu, Activation::gelu);
    const Call c = column_of(static_cast<int64_t>(z.size()), activation);
    grade_linear(c, with_z(c, z), ", z up to 3e38");
}

TEST_CASE("tiny z: half of it remains") {
    std::vector<float> z;
    for (int exponent = -1; exponent > -120; exponent -= 7)
        for (const float sign : {1.0f, -1.0f})
            z.push_back(sign * std::ldexp(1.5f, exponent));
    const auto activation = GENERATE(Activation::silu, Activation::gelu);
    const Call c = column_of(static_cast<int64_t>(z.size()), activation);
    grade_linear(c, with_z(c, z), ", z down to 2^-120");
}

TEST_CASE("z is rounded where it is stored, and nowhere else") {
    // Short sums, which are off by little: what is stored has the digits of a bf16, and
    // y is as near to act(z) as a bf16 can be. Many values, for some are lucky.
    Call c{64, 64, 3, GENERATE(Activation::none, Activation::silu, Activation::gelu)};
    c.wants_z = GENERATE(false, true);
    grade_linear_random(c, 3);
    c.residual = Residual::apart;
    grade_linear_random(c, 4);
}

TEST_CASE("a residual that nearly cancels act(z)") {
    // What is left are the digits that rounding before the sum would lose.
    Call c{48, 32, 2, Activation::silu};
    c.residual = GENERATE(Residual::apart, Residual::in_y);
    Numbers n = random_numbers(c, 5);
    const Layers layers = layers_of({c.M, c.N, c.K, c.activation}, n, false);
    for (size_t i = 0; i < n.residual.size(); ++i)
        n.residual[i] = -stored(static_cast<float>(layers.v.value[i]));
    grade_linear(c, n, ", the residual is -act(z), rounded");
}

TEST_CASE("a bias of many digits beside small sums") {
    Call c{32, 40, 4, Activation::silu};
    Numbers n = random_numbers(c, 6);
    for (size_t i = 0; i < n.bias.size(); ++i)
        n.bias[i] = stored(3.0f + static_cast<float>(i) / 64.0f);
    for (float& w : n.w)
        w = stored(w * 0.01f);
    c.wants_z = true;
    grade_linear(c, n, ", bias from 3, sums of a hundredth");
}

TEST_CASE("NaN and infinities stay in their row and column") {
    Call c{35, 37, 21, GENERATE(Activation::none, Activation::silu, Activation::gelu)};
    c.wants_z = true;
    c.residual = Residual::apart;
    Numbers n = {all(c.M * c.K, 0.25f),
                 all(c.N * c.K, 0.5f),
                 all(c.N, 0.5f),
                 all(c.M * c.N, 1.0f)};
    const auto in_x = [&](int64_t m, int64_t k) -> float& {
        return n.x[static_cast<size_t>(m * c.K + k)];
    };
    in_x(3, 20) = kNan;
    in_x(34, 0) = kInfinity;
    in_x(20, 7) = -kInfinity;  // z is -infinity: act is 0
    n.w[static_cast<size_t>(11 * c.K + 4)] = kNan;
    n.bias[30] = kInfinity;  // and NaN where it meets -infinity
    n.bias[36] = kNan;
    n.residual[static_cast<size_t>(5 * c.N + 6)] = kNan;
    n.residual[static_cast<size_t>(6 * c.N + 7)] = -kInfinity;
    grade_linear(c, n, ", NaN and infinities");
}

TEST_CASE("a NaN beside z that is far to the left") {
    // Two that share a reciprocal must not share their fate.
    std::vector<float> z = {kNan, -200.0f, 1.0f, -kInfinity, kInfinity, 2.0f};
    Call c{1, 24, 1, GENERATE(Activation::silu, Activation::gelu), true};
    Numbers n = {{0.0f}, all(c.N, 0.0f), {}, all(c.N, 0.0f)};
    for (int64_t i = 0; i < c.N; ++i)  // each beside each
        n.bias.push_back(
            z[static_cast<size_t>(i % 2 == 0 ? i / 2 % 6 : (i / 2 + i / 12 + 1) % 6)]);
    grade_linear(c, n, ", bias of NaN, infinities and others in turn");
}
