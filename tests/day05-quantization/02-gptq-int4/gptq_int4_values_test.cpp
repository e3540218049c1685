// Grades day05-quantization/02-gptq-int4: rounding, large and tiny numbers, NaN.
#include "grading.h"

using namespace gptq_grading;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<__half> equal_x(const Call& c, float value) {
    return std::vector<__half>(at(c.M * c.K), static_cast<__half>(value));
}

}  // namespace

TEST_CASE("a long sum of positive numbers keeps the digits of a float") {
    // Halves would stop counting at 2048.
    const Call c{GENERATE(as<int64_t>(), 1, 9), 16, 1024, 128};
    auto x = equal_x(c, 1.0f);
    for (int64_t i = 1; i < c.M * c.K; i += 3)
        x[at(i)] = static_cast<__half>(0x1.004p-1f);
    grade_matmul(c, equal_weights(c, 0x1.7ACp-1f), x, ", all positive");
}

TEST_CASE("sums that are small beside their terms") {
    // Half of the terms cancel the other half, but for a few.
    const Call c{2, 24, 512, 64};
    auto x = equal_x(c, 1.0f);
    for (int64_t i = 0; i < c.M * c.K; i += 2)
        x[at(i)] = static_cast<__half>(-1.0f);
    x[at(7)] = static_cast<__half>(1.25f);
    x[at(c.K + 8)] = static_cast<__half>(-0.5f);
    grade_matmul(c, equal_weights(c, 0.125f), x, ", terms cancel", true);
}

TEST_CASE("products that no half can hold") {
    // 30000 * 10 and its opposite; and 2^-14 * 10 * 2^-10, of which there are 2^9.
    const Call c{9, 16, 512, 128};
    auto x = equal_x(c, 30000.0f);
    for (int64_t i = 0; i < c.M * c.K; i += 2)
        x[at(i)] = static_cast<__half>(-30000.0f);
    grade_matmul(c, equal_weights(c, 1.0f), x, ", terms of 300000 cancel", true);
    grade_matmul(
        c, equal_weights(c, 0x1p-10f), equal_x(c, 0x1p-14f), ", terms of 2^-21", true);
}

TEST_CASE("a sum beyond the largest half is infinite") {
    const Call c{1, 8, 64, 32};
    grade_matmul(c, equal_weights(c, 16.0f), equal_x(c, 64.0f), ", y is 655360", true);
}

TEST_CASE("each digit of the weights counts") {
    // A weight of 10 * 0x1.554p-3, rounded to half, less one of 8 * 0x1.554p-3, which
    // is exact: what is left shows how the first one was rounded.
    const Call c{3, 8, 64, 32};
    GptqWeights w = equal_weights(c, 0x1.554p-3f);
    auto x = equal_x(c, 0.0f);
    for (int64_t m = 0; m < c.M; ++m) {
        x[at(m * c.K + 13 * m)] = static_cast<__half>(1.0f);
        x[at(m * c.K + 63)] = static_cast<__half>(-1.0f);
    }
    for (int64_t n = 0; n < c.N; ++n)
        w.set_number(63, n, 13);
    grade_matmul(c, w, x, ", one row of W less another one", true);
}

TEST_CASE("sums below the smallest normal half keep what digits there are") {
    const Call c{3, 16, 64, 32};
    auto x = whole_x(c);
    for (__half& value : x)
        value = static_cast<__half>(0x1p-22f * static_cast<float>(value));
    grade_matmul(c, exact_weights(c, 3), x, ", x of 2^-22", true);
}

TEST_CASE("NaN and infinities of x stay in their row") {
    const Call c{GENERATE(as<int64_t>(), 3, 20), 40, 72};
    GptqWeights w = exact_weights(c, 1);
    for (int64_t n = 0; n < c.N; ++n)  // no weight is 0
        for (int64_t k = 0; k < c.K; ++k)
            if (w.number(k, n) == w.zero(0, n))
                w.set_number(k, n, (w.zero(0, n) + 1) % 16);
    auto x = whole_x(c);
    x[at(71)] = static_cast<__half>(kInfinity);
    x[at(2 * c.K)] = static_cast<__half>(kNan);
    grade_matmul(c, w, x, ", a NaN and an infinity", true);
}

TEST_CASE("a scale that is no number spoils its column alone, and 0 makes zeros") {
    const Call c{
        GENERATE(as<int64_t>(), 1, 12), 40, 104, 104, true, GENERATE(none, rising)};
    GptqWeights w = exact_weights(c, 1);
    const std::vector<int64_t> spoiled = {5, 21, 39};
    w.scales[5] = static_cast<__half>(kNan);
    w.scales[21] = static_cast<__half>(kInfinity);
    w.scales[39] = static_cast<__half>(-kInfinity);
    w.scales[22] = static_cast<__half>(0.0f);
    const auto packed = packed_of(c, w);
    const auto x = whole_x(c);
    Expected expected = expected_of(c, w, x, true);
    for (const auto& [name, idea, launcher] :
         wb::implementations("gptq_matmul", gptq_matmul)) {
        Grader grade(name, c.text() + ", scales of NaN, infinity and 0");
        const GptqTensors tensors = tensors_of(grade, w);
        const uint4* const d_packed = grade.input("packed", packed);
        const __half* const d_x = grade.input("x", x);
        __half* const d_y = grade.output<__half>("y", {c.M, c.N});
        grade.run([&, launcher = launcher](cudaStream_t stream) {
            launcher(c.shape(), tensors, d_packed, d_x, d_y, stream);
        });
        // Whether it is a NaN or an infinity depends on the order of the terms.
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
