// Grades day05-quantization/04-fp4-linear: a layer of a trained model.
#include "grading.h"
#include "trained/layer.h"

#include <algorithm>

using namespace fp4_grading;

namespace {

/// What the layer loses with each kind of scales: all of this was measured once, and is
/// the same each time.
struct Loss {
    Fp4Scales scales;
    double cosine;
    double relative;
    double same;  // of 64 samples
};

std::vector<__half> trained_x() {
    std::vector<__half> x;
    for (const float value : trained::numbers(trained::kInputs))
        x.push_back(static_cast<__half>(value));
    return x;
}

}  // namespace

TEST_CASE("a trained layer: cosine, relative error and the same guesses") {
    const auto loss = GENERATE(Loss{Fp4Scales::channel, 0.9870, 0.1622, 57},
                               Loss{Fp4Scales::mx, 0.9891, 0.1488, 60},
                               Loss{Fp4Scales::nvfp4, 0.9921, 0.1298, 61});
    const auto weights = trained::numbers(trained::kWeights);
    const Call c{
        16, trained::kHidden, trained::kIn, loss.scales, Fp4Activation::silu, true};
    grade_quantize(c, weights, ", trained");

    const Fp4Matrix w = wb::reference::fp4_quantized(
        weights, c.N, c.K, c.kind(), wb::reference::fp4_global_scale(weights));
    const auto right = trained::outputs(
        [&](int n, int k) { return double{weights[at(n * trained::kIn + k)]}; });
    const auto near = trained::nearness(
        right, trained::outputs([&](int n, int k) { return w.weight(n, k); }));
    CHECK(std::abs(near.cosine - loss.cosine) < 1e-4);
    CHECK(std::abs(near.relative - loss.relative) < 1e-4);
    CHECK(near.same * trained::kSamples == loss.same);

    auto x = trained_x();
    x.resize(at(c.M * c.K));
    grade_linear(c, w, x, ", trained");
}
