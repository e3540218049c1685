// Grades day05-quantization/03-layernorm-gptq-qkv: large means, small variances, NaN.
#include "grading.h"

using namespace qkv_grading;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("a mean that is large beside the standard deviation") {
    // Squares are 4 million, and their sum has lost what the variance is: Welford's
    // method has not.
    const Call c{1, GENERATE(as<int64_t>(), 2, 10), 128, 64, neither};
    Rows r = random_rows(c, 5, 2050.0);
    grade_qkv(c, random_weights(c, 5), r, ", mean 2050");
    if (c.seq > 2) return;
    for (int64_t i = 0; i < c.rows() * c.hidden; ++i)
        r.x[at(i)] = half_of(30000.0 + (i % 7 == 0 ? 32.0 : 0.0));
    grade_qkv(c, random_weights(c, 6), r, ", mean 30000");
}

TEST_CASE("statistics keep the digits of a float") {
    // Normalised, rows are 1 and -1, though their squares have more digits than a half.
    // With what is added, 1 is near the middle of two halves, from where an rstd that
    // is off by a hundred thousandth goes to the other side.
    const Call c{1, 2, wb::testing::is_watched() ? 72 : 384, -1, bias_only};
    Rows r = whole_rows(c, 3);
    for (int64_t i = 0; i < c.rows() * c.hidden; ++i) {
        const bool is_low = r.x[at(i)] < half_of(i < c.hidden ? 0.0 : 1024.0);
        r.x[at(i)] = half_of(is_low ? -0x1.554p0 : 0x1.554p0);
    }
    for (int64_t k = 0; k < c.hidden; ++k)
        r.bias[at(k)] = half_of(k % 2 == 0 ? 0.49 * 0x1p-10 : 0.51 * 0x1p-10);
    grade_qkv(c, exact_weights(c, 3), r, ", 1 and nearly half a digit", true);
}

TEST_CASE("eps counts where the variance is small, and is taken as it is given") {
    const Call c{1, 3, 64, 32};
    Rows r = whole_rows(c, 2);
    // 1 / sqrt(3 + 1) is 1 / 2, of rows of 1.732 and -1.732; here: variance 1, eps 3.
    for (__half& x : r.x)
        x = half_of(static_cast<float>(x) > 100.0f
                        ? 0.0
                        : static_cast<double>(static_cast<float>(x)));
    r.eps = 3.0f;
    grade_qkv(c, random_weights(c, 2), r, ", eps is 3");
    for (__half& x : r.x)
        x = half_of(static_cast<float>(x) * 0x1p-12);
    r.eps = 1e-6f;
    grade_qkv(c, random_weights(c, 3), r, ", eps is larger than the variance");
}

TEST_CASE("a row of equal elements is the bias") {
    const Call c{1, 9, 32};
    Rows r = whole_rows(c, 1);
    for (__half& x : r.x)
        x = half_of(96.0);
    for (int64_t k = 0; k < c.hidden; ++k)
        r.bias[at(k)] = half_of(static_cast<double>(k % 5) - 2.0);
    r.eps = 1e-5f;
    grade_qkv(c, exact_weights(c, 1), r, ", x is 96", true);
}

TEST_CASE("a long sum of positive numbers keeps the digits of a float") {
    // Halves would stop counting at 2048.
    const int64_t hidden = wb::testing::is_watched() ? 128 : 256;
    const Call c{GENERATE(as<int64_t>(), 1, 9), 1, hidden, 128};
    Rows r = whole_rows(c, 1);
    for (int64_t k = 0; k < c.hidden; ++k)
        r.bias[at(k)] = half_of(16.0 + static_cast<double>(k % 3));
    grade_qkv(c, equal_weights(c, 0x1.7ACp-1f), r, ", all positive", true);
}

TEST_CASE("sums that are small beside their terms") {
    // h is 301 or 299, and as many weights are positive as negative.
    const Call c{3, 1, 256, 64, bias_only};
    Rows r = whole_rows(c, 1);
    for (__half& bias : r.bias)
        bias = half_of(300.0);
    GptqWeights w = equal_weights(c, 0.125f);
    for (int64_t n = 0; n < w.N; ++n)
        for (int64_t k = n % 2; k < w.K; k += 2)
            w.set_number(k, n, 1);  // -4 scales
    grade_qkv(c, w, r, ", terms cancel in part", true);
}

TEST_CASE("a sum beyond the largest half is infinite") {
    const Call c{1, 1, 64, 32, bias_only};
    Rows r = whole_rows(c, 1);
    for (__half& bias : r.bias)
        bias = half_of(512.0);
    grade_qkv(c, equal_weights(c, 16.0f), r, ", y is beyond 65504", true);
}

TEST_CASE("sums below the smallest normal half keep what digits there are") {
    const Call c{1, 3, 64, 32};
    GptqWeights w = random_weights(c, 3);
    for (__half& scale : w.scales)
        scale = static_cast<__half>(0x1p-22f);
    grade_qkv(c, w, random_rows(c, 4), ", scales of 2^-22");
}

TEST_CASE("NaN and infinities of x stay in their row") {
    const Call c{1, GENERATE(as<int64_t>(), 4, 20, 66), 40};
    Rows r = whole_rows(c, 1);
    r.x[at(39)] = static_cast<__half>(kInfinity);
    r.x[at(2 * c.hidden)] = static_cast<__half>(kNan);
    Expected expected = expected_of(c, exact_weights(c, 1), r, true);
    for (const int64_t m : {int64_t{0}, int64_t{2}})
        for (int64_t p = 0; p < 3; ++p)
            for (int64_t n = 0; n < c.hidden; ++n)
                expected.qkv[at((p * c.rows() + m) * c.hidden + n)] = double{kNan};
    const GptqWeights w = exact_weights(c, 1);
    const auto packed = packed_of(c, w);
    for (const auto& [name, idea, launcher] :
         wb::implementations("layernorm_gptq_qkv", layernorm_gptq_qkv))
        grade_one(name, launcher, c, w, packed, r, expected, ", a NaN and an infinity");
}

TEST_CASE("eps = 0 and a row of equal elements: NaN, and in no other row") {
    const Call c{1, 3, 32, -1, neither};
    Rows r = whole_rows(c, 1);
    for (int64_t k = 0; k < c.hidden; ++k)
        r.x[at(c.hidden + k)] = half_of(2.0);
    const GptqWeights w = exact_weights(c, 1);
    grade_qkv(c, w, r, ", the second row is 2", true);
}
