// Grades day06-llm-attention/08-hopper-attention: scores, weights, values and scales of
// every size, and what is not finite.
#include <wb/testing/attention_grade.h>
#include <wb/testing/simulator.h>
#include <wb/testing/special_attention.h>

#include "hopper_grading.h"

namespace {

using namespace hopper_grading;

/// Scores that are all alike, and far from zero: weights are 1.
template <class T>
void grade_far(const AttentionShape& shape, float score) {
    const auto inputs = far_scores(shape, score);
    const auto expected = expect_far_half<T>(shape, inputs);
    grade_stored<T>(shape, inputs, expected, ", every product 2^20 or -2^20");
}

}  // namespace

TEST_CASE("the largest score in the first or the last block") {
    NEEDS_HOPPER();
    // o must be rescaled, or not, when the largest score moves.
    const auto shape = plain_attention(1, 1, 9, 400, 64);
    for (const int64_t key : {0, 200, 399}) {
        auto inputs = random_attention(shape, 1);
        for (int64_t row = 0; row < shape.queries; ++row)
            inputs.q[static_cast<size_t>(row * 64 + 3)] = 8.0f;
        for (int64_t j = 0; j < shape.keys; ++j)
            inputs.k[static_cast<size_t>(j * 64 + 3)] = j == key ? 12.0f : 0.0f;
        const auto text = ", the largest score at key " + std::to_string(key);
        grade_type<__nv_bfloat16>(shape, inputs, text);
        grade_type<__half>(shape, inputs, text);
    }
}

TEST_CASE("the largest score moves a little with each block") {
    NEEDS_HOPPER();
    // With a mask, so that one multiprocessor goes through all of them.
    const auto shape = plain_attention(1, 1, 1, 2500, 64, true);
    grade_type<__half>(shape, slowly_rising(shape), ", slowly rising scores");
}

TEST_CASE("logits from -10000 to 10000 neither overflow nor vanish", "[values]") {
    NEEDS_HOPPER();
    for (const bool rising : {true, false}) {
        const std::string text =
            rising ? ", logits up to 10^4, rising" : ", logits up to 10^4, falling";
        const auto shape = plain_attention(1, 1, 9, 300, 64);
        grade(shape, large_logits(shape, 1e4, rising, 1), text);
        for (const int64_t D : {128, 256}) {
            if (wb::testing::is_watched()) break;
            const auto wide = plain_attention(1, 1, 9, 300, D);
            grade_type<__nv_bfloat16>(wide, large_logits(wide, 1e4, rising, 1), text);
        }
    }
}

TEST_CASE("scores of a million, all alike, of either sign", "[values]") {
    NEEDS_HOPPER();
    for (const int64_t D : {64, 128, 256}) {
        // A lane has two rows, 8 apart.
        auto shape = plain_attention(1, 1, 13, 67, D, true);
        for (const float scale : {1.0f, kFarScale}) {
            shape.scale = scale;
            grade_far<__half>(shape, -0x1p20f);
            grade_far<__nv_bfloat16>(shape, 0x1p20f);
            if (wb::testing::is_watched()) break;
            grade_far<__half>(shape, 0x1p20f);
            grade_far<__nv_bfloat16>(shape, -0x1p20f);
        }
    }
}

TEST_CASE("small weights count: thousands of keys, each next to nothing", "[values]") {
    NEEDS_HOPPER();
    auto shape = plain_attention(1, 1, 1, 2101, 64);
    shape.scale = 1.0f;
    grade_type<__nv_bfloat16>(shape, small_weights(shape), ", scores -64 and -124");
    shape.keys = 4;
    grade_type<__half>(shape, nearly_alone(shape), ", scores 0 and below -10");
    for (const int64_t D : {64, 128, 256}) {
        auto fewer = plain_attention(1, 1, 1, 203, D);
        fewer.scale = 1.0f;
        grade_type<__nv_bfloat16>(
            fewer, small_weights(fewer, 87.0f), ", scores -64 and -151");
    }
}

TEST_CASE("a NaN reaches the rows that see it, and no others") {
    NEEDS_HOPPER();
    const auto graded = [](auto zero, int64_t D, bool with_lse) {
        using T = decltype(zero);
        const NotFinite numbers(4, 2, D);
        const auto inputs = as_stored<T>(random_attention(numbers.shape, 1));
        grade_stored<T>(numbers.shape,
                        numbers.spoilt(inputs),
                        numbers.spoilt(expect_half<T>(numbers.shape, inputs)),
                        numbers.kText,
                        with_lse);
    };
    graded(__half(), 64, true);
    graded(__nv_bfloat16(), 128, true);
    if (wb::testing::is_watched()) return;
    graded(__nv_bfloat16(), 64, false);
    graded(__half(), 128, false);
    graded(__half(), 256, false);
}

TEST_CASE("values below the smallest number with all its digits keep the rest",
          "[values]") {
    NEEDS_HOPPER();
    const auto graded = [](auto zero) {
        using T = decltype(zero);
        constexpr double kSmallest = Format<T>::kSmallest;
        const auto shape = plain_attention(1, 2, 9, 70, 64);
        const auto inputs = as_stored<T>(subnormal_values(shape, kSmallest));
        grade_stored<T>(shape,
                        inputs,
                        expect_subnormal(shape, inputs, kSmallest, expect_half<T>),
                        ", subnormal v");
        auto scaled = shape;
        const auto small = subnormal_scores(scaled, kSmallest);
        grade_type<T>(scaled, small, ", subnormal q or k");
    };
    graded(__half());
    graded(__nv_bfloat16());
}

TEST_CASE("values near 2^106, and scores that rise or fall by 100, or 50", "[values]") {
    NEEDS_HOPPER();
    // A weight may be larger than 1 for a while, but not by as much as bf16 could hold.
    for (const int64_t D : {64, 128, 256}) {
        const auto shape = plain_attention(1, 1, 3, 200, D);
        auto slower = shape;
        slower.scale *= 0.5f;
        for (const Logits logits : {Logits::rising, Logits::falling}) {
            const auto inputs = huge_values_of(shape, logits);
            grade_type<__nv_bfloat16>(shape, inputs, ", huge values");
            grade_type<__nv_bfloat16>(slower, inputs, ", huge values");
        }
    }
}

TEST_CASE("the scale may be anything that is not negative", "[values]") {
    NEEDS_HOPPER();
    for (const float scale : {1.0f, 0.01f, 0.0f}) {
        auto shape = plain_attention(1, 1, 33, 150, 64, true);
        shape.scale = scale;
        grade_bf16(shape);
    }
    auto shape = plain_attention(1, 1, 9, 150, 64, true);
    const auto inputs = wb::testing::subnormal_scale(shape);
    grade_type<__nv_bfloat16>(shape, inputs, ", subnormal scale, products near 2^126");
}
