// Grades day05-quantization/04-fp4-linear: rounding, large and tiny numbers, NaN.
#include "grading.h"

using namespace fp4_grading;

namespace {

/// All weights are 6 scales of 2^exponent (nvfp4: the float is the power).
Fp4Matrix equal_weights(const Call& c, int exponent) {
    Fp4Matrix w = wb::reference::empty_fp4(c.N, c.K, c.kind());
    std::fill(w.values.begin(), w.values.end(), uint8_t{0x77});
    std::fill(w.float_scales.begin(), w.float_scales.end(), std::ldexp(1.0f, exponent));
    const int byte = c.scales == Fp4Scales::mx ? exponent + 127 : 0x38;
    std::fill(w.byte_scales.begin(), w.byte_scales.end(), static_cast<uint8_t>(byte));
    if (c.scales == Fp4Scales::nvfp4) w.global_scale = std::ldexp(1.0f, exponent);
    return w;
}

std::vector<__half> equal_x(const Call& c, float value) {
    return std::vector<__half>(at(c.M * c.K), static_cast<__half>(value));
}

/// Whether a column is NaN or infinite depends on the order of terms: what the kernel
/// has is right, if it is no number.
void grade_spoiled(const Call& c,
                   const Fp4Matrix& w,
                   const std::vector<int64_t>& spoiled) {
    const auto x = whole_x(c);
    const Expected right = expected_of(c, exact_weights(c, 1), x, bias_of(c), true);
    for (const auto& [name, idea, launcher] :
         wb::implementations("fp4_linear", fp4_linear)) {
        Grader grade(name, c.text() + ", a scale that is no number");
        Expected expected = right;
        const Fp4Weights tensors = tensors_of(grade, w);
        const __half* const d_x = grade.input("x", x);
        __half* const d_y = grade.output<__half>("y", {c.M, c.N});
        grade.run([&, launcher = launcher](cudaStream_t stream) {
            launcher(c.shape(), c.activation, tensors, d_x, nullptr, d_y, stream);
        });
        const auto got = grade.read("y");
        for (const int64_t n : spoiled)
            for (int64_t m = 0; m < c.M; ++m) {
                const double y = got[at(m * c.N + n)];
                expected.y[at(m * c.N + n)] = std::isfinite(y) ? double{kNan} : y;
            }
        grade.expect(
            "y", expected.y, [&](int64_t i) { return expected.bounds[at(i)]; });
    }
}

}  // namespace

TEST_CASE("a long sum of positive numbers keeps the digits of a float") {
    // Halves would stop counting at 2048.
    const Fp4Scales scales = any_scales();
    const Call c{GENERATE(as<int64_t>(), 1, 9), 8, 1024, scales};
    auto x = equal_x(c, 1.0f);
    for (int64_t i = 1; i < c.M * c.K; i += 3)
        x[at(i)] = static_cast<__half>(0x1.004p-1f);
    grade_linear(c, equal_weights(c, -1), x, ", all positive");
}

TEST_CASE("scales keep the digits of a float") {
    // A scale of 24 bits: rounded to half, or to bfloat16, all terms are off one way.
    const Call c{2, 8, 64, GENERATE(Fp4Scales::channel, Fp4Scales::nvfp4)};
    Fp4Matrix w = equal_weights(c, 0);
    std::fill(w.float_scales.begin(), w.float_scales.end(), 0x1.0017p-3f);
    if (c.scales == Fp4Scales::nvfp4) w.global_scale = 0x1.0017p-3f;
    auto x = equal_x(c, 1.0f);
    for (int64_t i = 0; i < c.M * c.K; i += 2)
        x[at(i)] = static_cast<__half>(-1.0f);
    x[at(7)] = static_cast<__half>(1.25f);
    x[at(c.K + 8)] = static_cast<__half>(-0.5f);
    grade_linear(c, w, x, ", a scale of 24 bits");
    grade_linear(c, w, equal_x(c, 1.0f), ", a scale of 24 bits, no sign");
}

TEST_CASE("terms that cancel, if no product was rounded before") {
    // 2 * 1.5 scale - 3 * 1 scale.
    const Call c{1, 64, 32, Fp4Scales::channel};
    Fp4Matrix w = random_weights(c, 7);
    auto x = equal_x(c, 0.0f);
    x[0] = static_cast<__half>(2.0f);
    x[1] = static_cast<__half>(-3.0f);
    for (int64_t n = 0; n < c.N; ++n) {
        w.set_code(n, 0, 3);
        w.set_code(n, 1, 2);
    }
    grade_linear(c, w, x, ", 2 * 1.5 scale - 3 * scale");
}

TEST_CASE("sums that no half can hold, and scales that make them small") {
    const Fp4Scales scales = any_scales();
    const Call c{9, 8, 512, scales};
    grade_linear(
        c, equal_weights(c, -12), equal_x(c, 30000.0f), ", 3000 * 2^-12", true);
    grade_linear(c, equal_weights(c, 8), equal_x(c, 0x1p-14f), ", tiny x", true);
    grade_linear(c, equal_weights(c, -22), equal_x(c, 1.0f), ", tiny y", true);
}

TEST_CASE("scales of any size: only products must be numbers") {
    const Fp4Scales scales = any_scales();
    const int exponent = GENERATE(-127, -126, 100);
    const Call c{2, 8, 32, scales};
    // 2^100 scales are too large for a half; x of 0 still gives 0, whatever the sign.
    grade_linear(c, equal_weights(c, exponent), equal_x(c, 0.0f), ", x = 0", true);
    grade_linear(c, equal_weights(c, exponent), equal_x(c, 1.0f), ", x = 1", true);
}

TEST_CASE("activations of large and small sums") {
    const auto activation = GENERATE(Fp4Activation::silu, Fp4Activation::gelu);
    const Call c{16, 8, 32, Fp4Scales::channel, activation};
    std::vector<__half> x(at(c.M * c.K), static_cast<__half>(0.0f));
    const float values[16] = {0.0f,
                              1.0f,
                              -1.0f,
                              3.0f,
                              -3.0f,
                              6.0f,
                              -6.0f,
                              9.0f,
                              -9.0f,
                              15.0f,
                              -15.0f,
                              40.0f,
                              -40.0f,
                              5000.0f,
                              -5000.0f,
                              0.001f};
    for (int64_t m = 0; m < c.M; ++m)
        x[at(m * c.K + 3)] = static_cast<__half>(values[m]);
    Fp4Matrix w = equal_weights(c, 0);
    std::fill(w.values.begin(), w.values.end(), uint8_t{0x22});  // 1
    grade_linear(c, w, x, ", one product each");
}

TEST_CASE("infinities and NaN of x stay in their row") {
    const Fp4Scales scales = any_scales();
    const auto activation =
        GENERATE(Fp4Activation::none, Fp4Activation::silu, Fp4Activation::gelu);
    for (const int64_t M : {5, 12}) {
        const Call c{M, 16, 64, scales, activation};
        auto x = whole_x(c);
        x[at(c.K + 3)] = static_cast<__half>(kNan);
        x[at(3 * c.K + 40)] = static_cast<__half>(kInfinity);
        Fp4Matrix w = exact_weights(c, 1);
        for (int64_t n = 0; n < c.N; ++n)  // infinity times a number that is not 0
            w.set_code(n, 40, n % 2 == 0 ? 3 : 11);
        grade_linear(c, w, x, ", NaN in row 1, infinity in row 3", true);
    }
}

TEST_CASE("a scale that is NaN or infinite spoils its column of y, and no other") {
    const Fp4Scales scales = any_scales();
    const Call c{3, 24, 64, scales};
    Fp4Matrix w = exact_weights(c, 1);
    const int64_t of_row = scales == Fp4Scales::channel ? 1 : 64 / w.group();
    if (scales == Fp4Scales::channel) {
        w.float_scales[5] = kNan;
        w.float_scales[17] = kInfinity;
    } else {
        const uint8_t nan = scales == Fp4Scales::mx ? 0xFF : 0x7F;
        w.byte_scales[at(5 * of_row + of_row - 1)] = nan;
        w.byte_scales[at(17 * of_row)] = scales == Fp4Scales::mx ? nan : 0xFF;
    }
    grade_spoiled(c, w, {5, 17});
}

TEST_CASE("a bias that is NaN or infinite spoils its column of y, and no other") {
    Call c{GENERATE(as<int64_t>(), 3, 12), 16, 64, Fp4Scales::mx};
    c.activation =
        GENERATE(Fp4Activation::none, Fp4Activation::silu, Fp4Activation::gelu);
    c.has_bias = true;
    c.more_bias = GENERATE(kNan, kInfinity, -kInfinity);
    grade_linear(c,
                 exact_weights(c, 1),
                 whole_x(c),
                 ", bias " + std::to_string(c.more_bias) + " of column 5",
                 true);
}

TEST_CASE("scales of 0, and negative ones of E4M3") {
    const Call c{3, 8, 64, GENERATE(Fp4Scales::channel, Fp4Scales::nvfp4)};
    Fp4Matrix w = exact_weights(c, 1);
    for (int64_t i = 0; i < 8; i += 3) {
        if (c.scales == Fp4Scales::channel)
            w.float_scales[at(i)] = 0.0f;
        else
            w.byte_scales[at(i)] = i % 2 == 0 ? uint8_t{0} : uint8_t{0xB8};
    }
    grade_linear(c, w, whole_x(c), ", some scales are 0", true);
}
