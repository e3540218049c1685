// Grades day05-quantization/05-transformer-block: layers in 4 bits.
#include "../../../day05-quantization/05-transformer-block/check_weights.h"

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

TEST_CASE("layers of INT4: groups in any order, one step and several") {
    Sizes s = quantized(WeightKind::int4, NormPlace::pre);
    s.order = GENERATE(wb::testing::gptq::shuffled, wb::testing::gptq::unequal);
    s.activation = Activation::silu;
    grade_decode(s, {7});
    grade_decode(s, {3, 0, 9, 1, 2, 5, 4, 8});
}

TEST_CASE("layers of INT4: many hidden numbers, no bias, one step") {
    Sizes s = quantized(WeightKind::int4, NormPlace::post);
    s.has_bias = false;
    s.heads = 1;
    s.d_ff = 1056;
    grade_decode(s, {7});
}

TEST_CASE("layers of INT4: more than 128 groups, one step", "[long]") {
    Sizes s = quantized(WeightKind::int4, NormPlace::pre);
    s.heads = 1;
    s.d_ff = 130 * 32;  // groups of 32, and two tiles across behind them
    grade_decode(s, {3});
}

TEST_CASE("a block that was loaded: scales of no use are refused") {
    grade_forward({}, {{1}}, false);  // what is loaded is of use
    const auto run = [](const Sizes& s, const HostBlock& b, const std::string& said) {
        Grader grade("block_check_weights", s.text() + ", " + said);
        const Packed packed;
        Block block = block_of(grade, b, packed);
        grade.run_and_wait([&](cudaStream_t stream) {
            const auto check = [&] { block_check_weights(block, stream); };
            if (said.empty()) return check();
            wb::testing::expect_refused("block_check_weights", said, said, check);
        });
    };
    Sizes s = quantized(WeightKind::int4, NormPlace::pre);
    for (HostLayer HostBlock::*layer :
         {&HostBlock::qkv, &HostBlock::out, &HostBlock::up, &HostBlock::down}) {
        s.kind = WeightKind::int4;
        HostBlock b = random_block(s, 0, 1);
        run(s, b, "");
        (b.*layer).int4.scales.back() = static_cast<__half>(0.0f);
        const auto last = std::to_string((b.*layer).int4.scales.size() - 1);
        run(s, b, "tensors.scales[" + last + "] is 0, but must not be");
        s.kind = WeightKind::fp4;
        b = random_block(s, 0, 1);
        run(s, b, "");
        (b.*layer).fp4.byte_scales[1] = 0x7F;
        run(s, b, "w.scales[1] is NaN");
    }
    s.kind = WeightKind::bf16;
    run(s, random_block(s, 0, 1), "");
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

TEST_CASE("each layer has a kind, groups and a bias of its own") {
    Sizes s = quantized(GENERATE(WeightKind::bf16, WeightKind::int4, WeightKind::fp4),
                        NormPlace::pre);
    s.is_mixed = true;
    s.has_bias = s.kind != WeightKind::int4;
    s.heads = 1;
    s.d_ff = 128;
    SECTION("decode") {
        grade_decode(s, {4});
    }
    SECTION("forward") {
        if (s.kind == WeightKind::bf16) grade_forward(s, {{2}}, false);
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
