// Grades day06-llm-attention/06-mixed-precision-attention: numbers at which shortcuts
// show.
#include "grade_types.h"

#include <wb/testing/attention_traps.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/special_attention.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace wb::testing;
using wb::AttentionShape;

TEST_CASE("scores past 65504 before they are scaled", "[values]") {
    // Each product is 90000, their sum 5.76 million; the scale makes 1 of it. A half
    // accumulator is at infinity after the first product.
    for (const int64_t D : {32, 64, 128}) {
        auto shape = plain_attention(1, 1, 3, 40, D);
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

TEST_CASE("values at the end of the range", "[values]") {
    // The mean of 64 times the largest number is that number, not infinity. The float
    // in front of the rounding may be off by a bit or two, which is less than half of
    // what separates the last number from infinity.
    const auto shape = plain_attention(1, 1, 2, 64, 32);
    const auto largest = [&](auto zero) {
        using T = decltype(zero);
        auto inputs = wb::testing::random_attention(shape, 1);
        for (float& value : inputs.v)  // 2^6 of 2^127 would be past the end of float
            value = static_cast<float>(std::min(Format<T>::kLargest, 0x1.FEp120));
        grade_type<T>(shape, inputs, ", v the largest number");
    };
    largest(__half());
    largest(__nv_bfloat16());
}

TEST_CASE("five thousand equal weights: the sum must count every key", "[long]") {
    // Adding 1 to 2048 gives 2048 in half, and 256 in bf16: a sum kept in 16 bits
    // stands still from there on.
    constexpr int64_t kKeys = 5003;
    const auto shape = plain_attention(1, 1, 2, kKeys, 32);
    auto inputs = wb::testing::equal_weights(shape, 1);
    for (float& value : inputs.v)
        value += 8.0f;  // 1 to 15: a mean near 8 hides nothing by cancelling
    grade(shape, inputs, ", q = 0, v whole numbers from 1 to 15");
}

TEST_CASE("equal weights: whole numbers add up exactly", "[values]") {
    for (const int64_t keys : {1, 2, 64, 1024}) {
        const auto shape = plain_attention(1, 2, 5, keys, 32);
        const auto inputs = wb::testing::equal_weights(shape, 1);
        const auto expected = expect_equal_weights(shape, inputs);
        grade_type<__half>(shape, inputs, expected, ", q = 0, v whole numbers");
        grade_type<__nv_bfloat16>(shape, inputs, expected, ", q = 0, v whole numbers");
    }
}

TEST_CASE("small weights count: a thousand keys at exp(-9) each", "[values]") {
    // One key has the weight 1; a thousand others exp(-9), that is 1.2e-4, and make up
    // an eighth of the sum. Half holds exp(-9) to 11 bits still, but 1 + 1.2e-4 is 1.
    constexpr int64_t kKeys = 1001;
    auto shape = plain_attention(1, 1, 2, kKeys, 32);
    shape.scale = 1.0f;
    auto inputs = constant_inputs(shape, 0.0f, 0.0f, 1.0f);
    for (size_t i = 0; i < inputs.q.size(); i += 32)
        inputs.q[i] = 1.0f;
    for (size_t j = 0; j < static_cast<size_t>(kKeys); ++j) {
        inputs.k[j * 32] = j == 0 ? 0.0f : -9.0f;
        for (size_t d = 0; d < 32; ++d)
            inputs.v[j * 32 + d] = j == 0 ? 1.0f : -1.0f - static_cast<float>(d) / 32;
    }
    grade(shape, inputs, ", scores 0 and -9");
}

TEST_CASE("small weights count: thousands of keys, each next to nothing", "[values]") {
    for (const int64_t D : {32, 64, 128}) {
        auto shape = plain_attention(1, 1, 1, D == 32 ? 2101 : 203, D);
        shape.scale = 1.0f;
        grade_type<__nv_bfloat16>(shape, small_weights(shape), ", scores -64 and -124");
        shape.keys = 203;
        grade_type<__nv_bfloat16>(
            shape, small_weights(shape, 87.0f), ", scores -64 and -151");
        shape.keys = 4;
        grade_type<__half>(shape, nearly_alone(shape), ", scores 0 and below -10");
    }
}

TEST_CASE("scores of a million, all alike, of either sign", "[values]") {
    for (const int64_t D : {32, 64, 128}) {
        auto shape = plain_attention(1, 2, 5, 67, D, true);
        for (const float scale : {1.0f, kFarScale, kFarthestScale}) {
            shape.scale = scale;
            for (const float score : {-0x1p20f, 0x1p20f}) {
                const auto inputs = far_scores(shape, score);
                const auto expected = expect_far_scores(shape, inputs);
                const std::string text = ", every product 2^20 or -2^20";
                grade_type<__half>(shape, inputs, expected, text);
                grade_type<__nv_bfloat16>(shape, inputs, expected, text);
            }
        }
    }
}

TEST_CASE("logits from -10000 to 10000 neither overflow nor vanish", "[values]") {
    for (const int64_t D : {32, 64, 128})
        for (const bool rising : {true, false}) {
            const auto shape = plain_attention(1, 1, 9, 131, D);
            const auto inputs = wb::testing::large_logits(shape, 1e4, rising, 1);
            grade(shape,
                  inputs,
                  rising ? ", logits up to 10^4, rising"
                         : ", logits up to 10^4, falling");
        }
}

TEST_CASE("logits far from zero, close to each other", "[values]") {
    // 60000 is a score that half still has, but its neighbours there are 32 apart, and
    // bf16's 256: scores must stay floats until their maximum is subtracted.
    auto shape = plain_attention(1, 1, 3, 70, 32);
    shape.scale = 1.0f;
    auto inputs = wb::testing::random_attention(shape, 1);
    for (size_t i = 0; i < inputs.q.size(); ++i)
        inputs.q[i] = i % 32 == 0 ? 240.0f : (i % 32 == 1 ? 1.0f : 0.0f);
    for (size_t i = 0; i < inputs.k.size(); ++i) {
        if (i % 32 == 0) inputs.k[i] = 250.0f;
    }
    grade(shape, inputs, ", scores 60000 and a little");
}

TEST_CASE("each row's scores rise at another key") {
    for (const int64_t D : {32, 64, 128}) {
        const auto shape = plain_attention(1, 1, 33, 40, D);
        grade(shape, steps_of_rows(shape, 1), ", scores rise by 150");
    }
}

TEST_CASE("a NaN reaches the rows that see it, and no others") {
    const auto graded = [](auto zero, int64_t D) {
        using T = decltype(zero);
        const NotFinite numbers(2, 2, D);
        const auto inputs = as_stored<T>(random_attention(numbers.shape, 1));
        grade_type<T>(numbers.shape,
                      numbers.spoilt(inputs),
                      numbers.spoilt(expect_attention(numbers.shape, inputs)),
                      numbers.kText);
    };
    for (const int64_t D : {32, 64, 128}) {
        graded(__half(), D);
        graded(__nv_bfloat16(), D);
    }
}

TEST_CASE("a NaN reaches the rows that see it, though all scores are 0", "[values]") {
    const auto graded = [](auto zero, bool of_scale) {
        using T = decltype(zero);
        AttentionShape shape = plain_attention(2, 2, 9, 70, 64, true);

        if (of_scale) shape.scale = 0.0f;
        const NotFinite numbers(shape, 0);
        auto inputs = as_stored<T>(random_attention(shape, 1));
        if (!of_scale) std::fill(inputs.q.begin(), inputs.q.end(), 0.0f);
        grade_type<T>(
            shape,
            numbers.spoilt(inputs),
            numbers.spoilt(expect_attention(shape, inputs)),
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
        const auto shape = plain_attention(1, 1, 3, 150, D);
        auto inputs = as_stored<T>(weightless_keys(shape, first));
        auto expected = expect_attention(shape, inputs);
        spoil_weightless(shape, first, inputs, expected);
        grade_type<T>(shape, inputs, expected, ", " + weightless_text(first));
    };
    for (const int64_t D : {32, 64, 128})
        for (const bool first : {false, true}) {
            graded(__half(), D, first);
            graded(__nv_bfloat16(), D, first);
        }
}

TEST_CASE("values below the smallest number with all its digits keep the rest",
          "[values]") {
    const auto graded = [](auto zero, int64_t D) {
        using T = decltype(zero);
        constexpr double kSmallest = Format<T>::kSmallest;
        const auto shape = plain_attention(1, 2, 9, 70, D);
        const auto inputs = as_stored<T>(subnormal_values(shape, kSmallest));
        grade_type<T>(shape,
                      inputs,
                      expect_subnormal(shape, inputs, kSmallest, expect_attention),
                      ", subnormal v");
        auto scaled = shape;
        const auto small = subnormal_scores(scaled, kSmallest);
        grade_type<T>(scaled, small, ", subnormal q or k");
        const auto smallest = smallest_factors(scaled, kSmallest);
        grade_type<T>(scaled, smallest, ", q or k a few times the smallest number");
    };
    for (const int64_t D : {32, 64, 128}) {
        graded(__half(), D);
        graded(__nv_bfloat16(), D);
        const auto shape = plain_attention(1, 2, 9, 150, D);
        grade_type<__nv_bfloat16>(shape, huge_values(shape), ", huge v, rising logits");
        auto flushed = plain_attention(1, 2, 9, 70, D);
        const auto large = wb::testing::subnormal_scale(flushed);
        grade_type<__nv_bfloat16>(flushed, large, ", subnormal scale");
    }
}

TEST_CASE("the scale may be anything finite", "[values]") {
    for (const float scale : {1.0f, 0.01f, 0.0f, -0.3f}) {
        auto shape = plain_attention(1, 2, 33, 33, 32);
        shape.scale = scale;
        grade(shape);
        shape.causal = true;  // a mask of -inf that is scaled by 0 is no number
        if (scale == 0.0f) grade(shape);
    }
}

TEST_CASE("what is stored in 16 bits fails the test of a float kernel") {
    // Chapter 02's bound is that of float arithmetic on float inputs. The rounding of
    // q, k, v and o to 16 bits is far outside of it, which is why this chapter has a
    // bound of its own, and compares with the exact result of the rounded inputs.
    const auto shape = plain_attention(1, 1, 33, 70, 64);
    const auto inputs = wb::testing::random_attention(shape, 1);
    const auto of_floats = expect_attention(shape, inputs);
    const auto rejected = [&](auto zero) {
        using T = decltype(zero);
        const auto of_stored = expect_attention(shape, as_stored<T>(inputs));
        Grader grade("mixed_precision_attention",
                     std::string(Format<T>::kName) + ", beside chapter 02's bound");
        const T* d_q = grade.input("q", rounded<T>(inputs.q));
        const T* d_k = grade.input("k", rounded<T>(inputs.k));
        const T* d_v = grade.input("v", rounded<T>(inputs.v));
        T* d_o = grade.output<T>("o", {33, 64});
        grade.run([&](cudaStream_t s) {
            mixed_precision_attention(shape, d_q, d_k, d_v, d_o, nullptr, s);
        });
        grade.expect("o", of_stored.o, [&](int64_t i) {
            const auto at = static_cast<size_t>(i);
            return stored_bound<T>(of_stored.o[at], of_stored.o_bound[at]);
        });
        const wb::testing::Observed got = {
            "o", {33, 64}, grade.read("o"), std::vector<bool>(33 * 64, false)};
        const auto verdict = wb::testing::compare(got, of_floats.o, [&](int64_t i) {
            return of_floats.o_bound[static_cast<size_t>(i)];
        });
        INFO(Format<T>::kName << ": " << verdict.wrong << " of " << 33 * 64
                              << " elements are outside of chapter 02's bound");
        CHECK(verdict.wrong > 33 * 64 / 4);
    };
    rejected(__half());
    rejected(__nv_bfloat16());
}
