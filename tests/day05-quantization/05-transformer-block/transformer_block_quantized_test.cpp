// Grades day05-quantization/05-transformer-block: layers in 4 bits.
#include "run.h"

using namespace block_grading;

namespace {

Sizes quantized(WeightKind kind, NormPlace place) {
    Sizes s;
    s.kind = kind;
    s.place = place;
    s.heads = 2;
    s.d_ff = 160;
    return s;
}

}  // namespace

TEST_CASE("layers of INT4, as GPTQ stores them", "[large]") {
    const Sizes s =
        quantized(WeightKind::int4, GENERATE(NormPlace::pre, NormPlace::post));
    SECTION("forward") {
        grade_forward(s, {{3, 10}}, false);
    }
    SECTION("decode") {
        grade_decode(s, {4, 0, 20});
    }
}

TEST_CASE("layers of FP4, with each kind of scales") {
    Sizes s = quantized(WeightKind::fp4, NormPlace::pre);
    s.scales = GENERATE(Fp4Scales::channel, Fp4Scales::mx, Fp4Scales::nvfp4);
    if (s.scales == Fp4Scales::mx) s.place = NormPlace::post;
    SECTION("forward") {
        grade_forward(s, {{3, 10}}, false);
    }
    SECTION("decode") {
        grade_decode(s, {4, 0, 20});
    }
}

TEST_CASE("layers of FP4: silu, no bias, one step") {
    Sizes s = quantized(WeightKind::fp4, NormPlace::pre);
    s.activation = Activation::silu;
    s.has_bias = false;
    SECTION("few hidden numbers") {
        grade_decode(s, {7});
    }
    SECTION("many") {
        s.heads = 1;
        s.d_ff = 1056;
        grade_decode(s, {7});
    }
}
