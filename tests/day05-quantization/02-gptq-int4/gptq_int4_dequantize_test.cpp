// Grades day05-quantization/02-gptq-int4: numbers out of their words, one by one; and
// the tensors that GPTQ itself makes.
#include "grading.h"

#include <wb/testing/covering.h>

using namespace gptq_grading;

namespace {

/// A layer that was quantised: its inputs differ in size, and resemble each other.
struct Layer {
    std::vector<double> weights;  ///< [K, N]
    std::vector<double> inputs;   ///< [samples, K]
};

Layer random_layer(int64_t N, int64_t K, int64_t samples) {
    wb::testing::Random random(7);
    Layer layer;
    for (int64_t i = 0; i < K * N; ++i)
        layer.weights.push_back(0.05 * random.normal());
    for (int64_t s = 0; s < samples; ++s) {
        const double common = random.normal();
        for (int64_t k = 0; k < K; ++k)
            layer.inputs.push_back((common + random.normal()) *
                                   (k % 7 == 3 ? 4.0 : 1.0));
    }
    return layer;
}

}  // namespace

TEST_CASE("dequantise: each number with each zero") {
    // Column n has the zero n % 16 as it is stored, row k the number k % 16.
    const Call c{1, 16, 32, 32, GENERATE(false, true)};
    GptqWeights w = exact_weights(c, 1);
    for (int64_t n = 0; n < c.N; ++n) {
        w.set_zero(0, n, static_cast<int>(n) + (c.zeros_minus_one ? 1 : 0));
        for (int64_t k = 0; k < c.K; ++k)
            w.set_number(k, n, static_cast<int>((k + n) % 16));
    }
    grade_dequantize(c, w, "");
    grade_matmul(c, w, whole_x(c), "", true);
}

TEST_CASE("dequantise: the product is rounded once, to the nearest half") {
    // Scales with all their digits, and such that products are subnormal, or too large.
    const Call c{1, 64, 32, 32, true};
    GptqWeights w = random_weights(c, 3);
    const float scales[] = {0x1.554p-3f,
                            0x1.FFCp-9f,
                            0x1.004p+3f,
                            0x1p-24f,
                            0x1.8p-23f,
                            5e4f,
                            -7e3f,
                            -0x1.234p-15f};
    for (int64_t n = 0; n < c.N; ++n)
        w.scales[at(n)] = static_cast<__half>(scales[at(n) % std::size(scales)]);
    grade_dequantize(c, w, "");
}

TEST_CASE("dequantise: scales of 0, infinity and NaN go to their columns") {
    const Call c{1, 24, 64, 32, true, GENERATE(none, shuffled)};
    GptqWeights w = random_weights(c, 4);
    w.scales[3] = static_cast<__half>(0.0f);
    w.scales[9] = static_cast<__half>(std::numeric_limits<float>::infinity());
    w.scales[at(c.N) + 17] =
        static_cast<__half>(std::numeric_limits<float>::quiet_NaN());
    grade_dequantize(c, w, ", a scale is 0, one infinite, one NaN");
}

TEST_CASE("dequantise: sizes, groups, orders and zeros meet") {
    static const auto cases =
        wb::testing::Covering()
            .factor("N", {8, 16, 24, 40, 1000})
            .factor("groups", {1, 2, 3, 5})
            .factor("group", {32, 64, 128, -1})
            .factor("order", {"none", "rising", "shuffled", "unequal", "with bad"})
            .factor("zeros minus one", {0, 1})
            .cases();
    for (const auto& c : cases)
        DYNAMIC_SECTION(c.text()) {
            const int64_t K =
                c["group"] == -1 ? c["groups"] * 24 : c["groups"] * c["group"];
            const Call call = {1,
                               c["N"],
                               K,
                               c["group"],
                               c["zeros minus one"] == 1,
                               static_cast<Order>(c["order"])};
            grade_dequantize(call, random_weights(call, 1), "");
        }
}

TEST_CASE("dequantise: a counter that nobody needs may be there") {
    const Call c{1, 8, 16};
    const GptqWeights w = random_weights(c, 5);
    Grader grade("gptq_dequantize", c.text());
    const GptqTensors tensors = tensors_of(grade, w);
    __half* const d_w = grade.output<__half>("w", {c.K, c.N});
    unsigned long long* const d_bad = bad_counter(grade);
    grade.run([&](cudaStream_t stream) {
        gptq_dequantize(c.shape(), tensors, d_w, d_bad, stream);
    });
    expect_bad(grade, w);
}

TEST_CASE("tensors that GPTQ makes of a layer") {
    const bool act_order = GENERATE(false, true);
    const bool zeros_minus_one = GENERATE(false, true);
    const Call c{4, 16, 64, 32, zeros_minus_one, act_order ? shuffled : none};
    const Layer layer = random_layer(c.N, c.K, 96);
    const GptqWeights w = wb::reference::gptq_quantize(
        layer.weights, layer.inputs, c.N, c.K, {32, zeros_minus_one, act_order});
    grade_dequantize(c, w, ", quantised");
    grade_matmul(c, w, random_x(c, 9), ", quantised");
}
