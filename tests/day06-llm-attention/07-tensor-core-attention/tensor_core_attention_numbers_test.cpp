// Grades day06-llm-attention/07-tensor-core-attention: numbers at which shortcuts show.
#include "grade_types.h"

#include <wb/testing/attention_traps.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/simulator.h>
#include <wb/testing/special_attention.h>

#include <algorithm>
#include <cmath>
#include <string>

using namespace wb::testing;
using wb::AttentionShape;

namespace {

/// Equal weights and whole numbers as values. Weights are 1 and need no rounding, so
/// that only o is rounded: an accumulator of 16 bits stands still at 2048, or at 256,
/// and a key that is missing shows.
void grade_equal_weights(int64_t keys, int64_t queries = 5) {
    const auto shape = plain_attention(1, 1, queries, keys, 64);
    auto inputs = wb::testing::equal_weights(shape, 1);
    for (float& value : inputs.v)
        value += 8.0f;  // 1 to 15: a mean near 8 hides nothing by cancelling
    auto expected = expect_equal_weights(shape, inputs);
    const auto float_bound = expected.o_bound;
    const auto graded = [&](auto zero) {
        using T = decltype(zero);
        for (size_t i = 0; i < expected.o.size(); ++i)
            expected.o_bound[i] = stored_bound<T>(expected.o[i], float_bound[i]);
        grade_stored<T>(shape, inputs, expected, ", q = 0, v whole numbers");
    };
    graded(__half());
    graded(__nv_bfloat16());
}

/// Scores that are all alike, and far from zero: weights are 1.
template <class T>
void grade_far(const AttentionShape& shape, float score) {
    const auto inputs = far_scores(shape, score);
    auto expected = expect_far_scores(shape, inputs);
    for (size_t i = 0; i < expected.o.size(); ++i)
        expected.o_bound[i] = stored_bound<T>(expected.o[i], expected.o_bound[i]);
    grade_stored<T>(shape, inputs, expected, ", every product 2^20 or -2^20");
}

}  // namespace

TEST_CASE("scores past 65504 before they are scaled", "[values]") {
    // Each product is 90000, their sum 5.76 million; the scale makes 1 of it. A half
    // accumulator is at infinity after the first product.
    for (const int64_t D : {64, 128}) {
        auto shape = plain_attention(1, 1, 3, 70, D);
        shape.scale = 1.0f / (90000.0f * static_cast<float>(D));
        auto inputs = constant_inputs(shape, 300.0f, 300.0f, 0.0f);
        const auto random = wb::testing::random_attention(shape, 1);
        for (size_t i = 0; i < inputs.k.size(); ++i)
            inputs.k[i] += 32.0f * std::clamp(random.k[i], -3.0f, 3.0f);
        inputs.v = random.v;
        grade(shape, inputs, ", q and k near 300, scores near 1");
    }
}

TEST_CASE("values whose sum passes 65504 though their mean does not", "[values]") {
    const auto shape = plain_attention(1, 1, 3, 131, 64);
    auto inputs = wb::testing::random_attention(shape, 1);
    for (float& value : inputs.v)
        value = 2000.0f + 500.0f * std::clamp(value, -2.0f, 2.0f);
    grade(shape, inputs, ", v near 2000");
}

TEST_CASE("equal weights: whole numbers add up exactly", "[values]") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    for (const int64_t keys : {1, 2, 65, 1031})
        grade_equal_weights(keys);
    grade_equal_weights(2049, 1);  // one key behind the last tile
}

TEST_CASE("logits from -10000 to 10000 neither overflow nor vanish", "[values]") {
    for (const int64_t D : {64, 128})
        for (const bool rising : {true, false}) {
            const auto shape = plain_attention(1, 1, 9, 331, D);
            const auto inputs = wb::testing::large_logits(shape, 1e4, rising, 1);
            grade(shape,
                  inputs,
                  rising ? ", logits up to 10^4, rising"
                         : ", logits up to 10^4, falling");
        }
}

TEST_CASE("scores of a million, all alike, of either sign", "[values]") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    for (const int64_t D : {64, 128}) {
        auto shape = plain_attention(1, 1, 5, 67, D, true);
        for (const float scale : {1.0f, kFarScale, kFarthestScale}) {
            shape.scale = scale;
            for (const float score : {-0x1p20f, 0x1p20f}) {
                grade_far<__half>(shape, score);
                grade_far<__nv_bfloat16>(shape, score);
            }
        }
    }
}

TEST_CASE("small weights count: thousands of keys, each next to nothing", "[values]") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    for (const int64_t D : {64, 128}) {
        auto shape = plain_attention(1, 1, 1, D == 64 ? 2101 : 203, D);
        shape.scale = 1.0f;
        grade_type<__nv_bfloat16>(shape, small_weights(shape), ", scores -64 and -124");
        shape.keys = 203;
        grade_type<__nv_bfloat16>(
            shape, small_weights(shape, 87.0f), ", scores -64 and -151");
        shape.keys = 4;
        grade_type<__half>(shape, nearly_alone(shape), ", scores 0 and below -10");
    }
}

TEST_CASE("logits that rise slowly: a base that lags behind is no harm") {
    struct Rise {
        int64_t head_dim;
        double peak;  // 0: a fortieth more with each key
        bool causal;
        bool with_lse;
    };
    for (const auto& [D, peak, causal, with_lse] : {Rise{64, 3.0, false, true},
                                                    {64, 20.0, true, false},
                                                    {64, 0.0, true, false},
                                                    {128, 3.0, true, false},
                                                    {128, 6.0, false, true},
                                                    {128, 0.0, false, true}}) {
        const auto shape = plain_attention(1, 1, 3, 331, D, causal);
        const bool is_gentle = peak == 0.0;
        const auto inputs = is_gentle ? with_logits(shape, Logits::gentle, {}, 1)
                                      : large_logits(shape, peak, true, 1);
        const std::string text = is_gentle
                                     ? ", gently rising"
                                     : ", logits rising to " + std::to_string(peak);
        grade_type<__half>(shape, inputs, text, with_lse);
        grade_type<__nv_bfloat16>(shape, inputs, text, with_lse);
    }
}

TEST_CASE("logits that hardly rise: a scale of nearly 1 is one, too") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    // Each tile of 64 keys raises the maximum by 6e-4. One that is not rescaled for
    // that shows nowhere; thirty do, where values do not cancel out.
    const auto shape = plain_attention(1, 1, 3, 2101, 64);
    for (const double peak : {0.01, 0.3}) {
        auto inputs = large_logits(shape, peak, true, 1);
        for (float& value : inputs.v)
            value = 8.0f + std::clamp(value, -3.0f, 3.0f);
        const std::string text = ", logits rising to " + std::to_string(peak);
        grade_type<__half>(shape, inputs, text);
        if (peak > 0.1) grade_type<__nv_bfloat16>(shape, inputs, text);
    }
}

TEST_CASE("logits far from zero, close to each other", "[values]") {
    // 60000 is a score that half still has, but its neighbours there are 32 apart, and
    // bf16's 256: scores must stay floats until their maximum is subtracted.
    auto shape = plain_attention(1, 1, 3, 70, 64);
    shape.scale = 1.0f;
    auto inputs = wb::testing::random_attention(shape, 1);
    for (size_t i = 0; i < inputs.q.size(); ++i)
        inputs.q[i] = i % 64 == 0 ? 240.0f : (i % 64 == 1 ? 1.0f : 0.0f);
    for (size_t i = 0; i < inputs.k.size(); ++i) {
        if (i % 64 == 0) inputs.k[i] = 250.0f;
    }
    grade(shape, inputs, ", scores 60000 and a little");
}

TEST_CASE("a NaN reaches the rows that see it, and no others") {
    const auto graded = [](auto zero, int64_t D, int64_t queries, int64_t keys) {
        using T = decltype(zero);
        const NotFinite numbers(4, 2, D, queries, keys);
        const auto inputs = as_stored<T>(random_attention(numbers.shape, 1));
        grade_stored<T>(numbers.shape,
                        numbers.spoilt(inputs),
                        numbers.spoilt(expect_stored<T>(numbers.shape, inputs)),
                        numbers.kText);
    };
    // Several tiles of rows; several of keys; few of both.
    for (const auto& [queries, keys] : {std::pair{67, 69}, {4, 331}}) {
        graded(__half(), 64, queries, keys);
        graded(__nv_bfloat16(), 64, queries, keys);
        if (wb::testing::is_watched()) return;
    }
    graded(__half(), 128, 9, 70);
    graded(__nv_bfloat16(), 128, 9, 70);
}

TEST_CASE("a NaN reaches the rows that see it, though all scores are 0", "[values]") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    const auto graded = [](auto zero, bool of_scale) {
        using T = decltype(zero);
        auto shape = plain_attention(2, 2, 9, 70, 64, true);
        if (of_scale) shape.scale = 0.0f;
        const NotFinite numbers(shape, 0);
        auto inputs = as_stored<T>(random_attention(shape, 1));
        if (!of_scale) std::fill(inputs.q.begin(), inputs.q.end(), 0.0f);
        grade_stored<T>(
            shape,
            numbers.spoilt(inputs),
            numbers.spoilt(expect_stored<T>(shape, inputs)),
            std::string(numbers.kText) + (of_scale ? ", scale 0" : ", queries 0"));
    };
    for (const bool of_scale : {false, true}) {
        graded(__half(), of_scale);
        graded(__nv_bfloat16(), of_scale);
    }
}

TEST_CASE("a NaN in a value counts, even with a weight of 0", "[values]") {
    const auto graded = [](auto zero, int64_t D, bool first) {
        using T = decltype(zero);
        // As many rows as a tile has: rows of zeros would keep it from being left out.
        const auto shape = plain_attention(1, 1, 64, 200, D);
        auto inputs = as_stored<T>(weightless_keys(shape, first));
        auto expected = expect_stored<T>(shape, inputs);
        spoil_weightless(shape, first, inputs, expected);
        grade_stored<T>(shape, inputs, expected, ", " + weightless_text(first));
    };
    for (const int64_t D : {64, 128})
        for (const bool first : {false, true}) {
            graded(__half(), D, first);
            graded(__nv_bfloat16(), D, first);
        }
}

TEST_CASE("values below the smallest number with all its digits keep the rest",
          "[values]") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    const auto graded = [](auto zero, int64_t D) {
        using T = decltype(zero);
        constexpr double kSmallest = Format<T>::kSmallest;
        const auto shape = plain_attention(1, 2, 9, 70, D);
        const auto inputs = as_stored<T>(subnormal_values(shape, kSmallest));
        grade_stored<T>(shape,
                        inputs,
                        expect_subnormal(shape, inputs, kSmallest, expect_stored<T>),
                        ", subnormal v");
        auto scaled = shape;
        const auto small = subnormal_scores(scaled, kSmallest);
        grade_type<T>(scaled, small, ", subnormal q or k");
        const auto smallest = smallest_factors(scaled, kSmallest);
        grade_type<T>(scaled, smallest, ", q or k a few times the smallest number");
    };
    for (const int64_t D : {64, 128}) {
        graded(__half(), D);
        graded(__nv_bfloat16(), D);
        const auto shape = plain_attention(1, 2, 9, 150, D);
        grade_type<__nv_bfloat16>(shape, huge_values(shape), ", huge v, rising logits");
        auto flushed = plain_attention(1, 2, 9, 70, D);
        const auto large = subnormal_scale(flushed);
        grade_type<__nv_bfloat16>(flushed, large, ", subnormal scale");
    }
}

TEST_CASE("the scale may be anything finite", "[values]") {
    for (const float scale : {1.0f, 0.01f, 0.0f, -0.3f}) {
        auto shape = plain_attention(1, 1, 33, 70, 64, true);
        shape.scale = scale;
        grade(shape);
    }
    auto shape = plain_attention(1, 1, 35, 70, 128);
    shape.scale = -0.1f;
    grade(shape);
}

TEST_CASE("keys of one head in more than 1024 tiles", "[large]") {
    grade_equal_weights(1);
#ifdef SIMT_CPU
    WB_SKIP("the simulator would take several seconds");
#else
    grade_equal_weights(200'003);
#endif
}
