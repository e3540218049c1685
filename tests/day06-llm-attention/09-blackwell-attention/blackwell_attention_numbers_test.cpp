// Grades day06-llm-attention/09-blackwell-attention: numbers at which shortcuts show,
// edges that meet by threes, and many of everything.
#include "grade_attention.h"

#include <wb/testing/attention_past_16_bits.h>
#include <wb/testing/attention_scores.h>
#include <wb/testing/attention_sizes.h>
#include <wb/testing/attention_stored.h>
#include <wb/testing/attention_traps.h>
#include <wb/testing/attention_triples.h>
#include <wb/testing/catch.h>
#include <wb/testing/special_attention.h>

#include <algorithm>
#include <limits>
#include <string>

using namespace blackwell_grading;

namespace {

void grade_numbers(const AttentionShape& shape,
                   const AttentionInputs& inputs,
                   const std::string& text) {
    if (!has_tensor_memory()) return expect_refusal(shape, "sm_100a");
    const auto stored = as_stored<Stored>(inputs);
    grade_stored(shape, stored, expect_stored(shape, stored), text);
}

/// Of sums that are exact: one rounding, that of o.
void grade_exact(const AttentionShape& shape,
                 const AttentionInputs& inputs,
                 AttentionExpected expected,
                 const std::string& text,
                 bool with_lse = true) {
    if (!has_tensor_memory()) return expect_refusal(shape, "sm_100a");
    for (size_t i = 0; i < expected.o.size(); ++i)
        expected.o_bound[i] = stored_bound<Stored>(expected.o[i], expected.o_bound[i]);
    grade_stored(shape, inputs, expected, text, with_lse);
}

/// What grade_triple() asks of a type.
using InStored = wb::testing::StoredTriples<Stored, expect_stored>;

void grade_triples(bool causal) {
    static const auto cases = [] {
        TripleLevels levels;
        levels.head_dims = {64, 128};
        levels.kv_heads = {1, 2};
        levels.groups = {1, 3};
        levels.queries = {1, 33, 131};
        levels.keys = {3, 97, 300};
        levels.row_tile = 128;
        levels.most_products = 20'000'000;
        levels.negative_scales = false;
        return triple_cases(levels);
    }();
    if (!has_tensor_memory()) return expect_refusal(cases[0].shape, "sm_100a");
    for (const TripleCase& c : cases) {
        if (c.shape.causal != causal) continue;
        DYNAMIC_SECTION(c.name()) {
            grade_triple<InStored>(c,
                                   [&](const AttentionInputs& inputs,
                                       const AttentionExpected& expected,
                                       const std::string& text,
                                       bool with_lse) {
                                       grade_stored(
                                           c.shape, inputs, expected, text, with_lse);
                                   });
        }
    }
}

}  // namespace

TEST_CASE("attention: any three edges meet: no mask", "[long]") {
    grade_triples(false);
}

TEST_CASE("attention: any three edges meet: causal", "[long]") {
    grade_triples(true);
}

TEST_CASE("attention: scores far from zero, all alike, of either sign", "[values]") {
    for (const int64_t D : {64, 128}) {
        auto shape = plain_attention(1, D == 64 ? 1 : 2, 5, 67, D, true);
        shape.kv_heads = 1;
        for (const float scale : {1.0f, kFarScale, kFarthestScale}) {
            shape.scale = scale;
            for (const float score : {-0x1p20f, 0x1p20f}) {
                const auto inputs = far_scores(shape, score);
                grade_exact(shape,
                            inputs,
                            expect_far_scores(shape, inputs),
                            ", every product 2^20 or -2^20",
                            /*with_lse=*/D == 64);
            }
        }
    }
}

TEST_CASE("attention: logits that rise, fall, or stand alone") {
    for (const int64_t D : {64, 128}) {
        const auto shape = plain_attention(1, 1, 9, 331, D);
        for (const bool rising : {true, false})
            grade_numbers(
                shape, large_logits(shape, 1e4, rising, 1), ", logits up to 10^4");
        grade_numbers(
            shape, with_logits(shape, Logits::gentle, {}, 1), ", gently rising");
        grade_numbers(shape, steps_of_rows(shape, 1), ", scores rise by 150");
        grade_numbers(shape, uneven_rows(shape, 1), ", rows far from each other");
        // The second tile's largest score is 11, 18 or 36 above the first one's. Where
        // the maximum may lag behind, a weight is larger than 1, but not by that much.
        for (const bool causal : {false, true}) {
            auto longer = plain_attention(1, 1, 9, causal ? 150 : 200, D, causal);
            grade_numbers(longer, huge_values(longer), ", huge v, rising logits");
            if (causal) continue;
            const auto inputs = huge_values(longer);
            longer.scale *= 0.5f;
            grade_numbers(longer, inputs, ", huge v, slowly rising logits");
        }
    }
    // Each tile, or each key, raises the maximum by next to nothing.
    for (const int64_t D : {64, 128})
        for (const double peak : {0.15, 2.0}) {
            const auto shape = plain_attention(1, 1, 3, 2101, D);
            auto inputs = large_logits(shape, peak, true, 1);
            for (float& value : inputs.v)
                value = 8.0f + std::clamp(value, -3.0f, 3.0f);
            grade_numbers(shape, inputs, ", logits rising to " + std::to_string(peak));
        }
}

TEST_CASE("attention: small weights count: thousands of keys, each next to nothing",
          "[values]") {
    // A single query sees all keys, with a mask or without.
    for (const int64_t D : {64, 128}) {
        auto shape = plain_attention(1, 1, 1, D == 64 ? 2101 : 203, D, D == 64);
        shape.scale = 1.0f;
        grade_numbers(shape, small_weights(shape), ", scores -64 and -124");
        shape.keys = 203;
        grade_numbers(shape, small_weights(shape, 87.0f), ", scores -64 and -151");
        shape.keys = 4;
        grade_numbers(shape, nearly_alone(shape), ", scores 0 and below -10");
    }
}

TEST_CASE("attention: NaN, with weight 0 or without, for each head dimension") {
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    for (const int64_t D : {64, 128}) {
        const NotFinite numbers(4, 2, D, 67, 150);
        if (!has_tensor_memory()) return expect_refusal(numbers.shape, "sm_100a");
        const auto random = as_stored<Stored>(random_attention(numbers.shape, 1));
        grade_stored(numbers.shape,
                     numbers.spoilt(random),
                     numbers.spoilt(expect_stored(numbers.shape, random)),
                     numbers.kText);
        for (const bool first : {false, true}) {
            // As many rows as a tile has: none keeps it from being left out. Heads
            // share keys in one head dimension; a mask shows all rows the first ones.
            auto shape = plain_attention(1, 2, 128, 300, D);
            shape.kv_heads = D == 64 ? 2 : 1;
            shape.batch = D == 64 ? 2 : 1;
            shape.causal = first && D == 64;
            auto inputs = as_stored<Stored>(weightless_keys(shape, first));
            auto expected = expect_stored(shape, inputs);
            spoil_weightless(shape, first, inputs, expected);
            grade_stored(shape, inputs, expected, ", " + weightless_text(first));
        }
        auto shape = plain_attention(1, 2, 5, 7, D);
        for (const bool scaled : {true, false}) {  // a scale of 0, too
            if (!scaled) shape.scale = 0.0f;
            auto inputs = as_stored<Stored>(BesideZeros::zeros(shape));
            auto expected = expect_stored(shape, inputs);
            BesideZeros::spoil(shape, inputs, expected);
            grade_stored(
                shape, inputs, expected, ", " + std::string(BesideZeros::kText));
        }
        // A single key, which has all the weight, whatever the score.
        const auto single = plain_attention(1, 1, 5, 1, D);
        auto inputs = as_stored<Stored>(random_attention(single, 1));
        auto expected = expect_stored(single, inputs);
        inputs.q[3] = kNaN;
        for (std::size_t i = 0; i < static_cast<std::size_t>(D); ++i)
            expected.o[i] = kNaN, expected.o_bound[i] = 0.0;
        expected.lse[0] = kNaN, expected.lse_bound[0] = 0.0;
        grade_stored(single, inputs, expected, ", NaN in the first query");
    }
}

TEST_CASE("attention: queries and keys below the smallest number with all its digits",
          "[values]") {
    constexpr double kSmallest = Format<Stored>::kSmallest;
    for (const int64_t D : {64, 128})
        for (const bool causal : {false, true}) {
            auto shape = plain_attention(1, 2, 9, 70, D, causal);
            const auto small = subnormal_scores(shape, kSmallest);
            grade_numbers(shape, small, ", subnormal q or k");
            const auto smallest = smallest_factors(shape, kSmallest);
            grade_numbers(shape, smallest, ", q or k a few times the smallest number");
        }
}

TEST_CASE("attention: many keys of each head dimension, seen or masked", "[long]") {
    for (const auto& shape :
         shapes_of_many_keys({64, 128}, /*negative_scales=*/false)) {
        const auto inputs = chosen_keys(shape, 1);
        grade_exact(shape,
                    inputs,
                    expect_equal_weights(shape, inputs),
                    ", seven keys of eight chosen");
    }
}

TEST_CASE("attention: more keys than 16 bits count: the last one decides", "[long]") {
    for (const ManyKeys& c : past_16_bits_of_keys({64, 128}, /*groups=*/true)) {
        if (!has_tensor_memory()) return expect_refusal(c.shape, "sm_100a");
        DYNAMIC_SECTION(wb::describe(c.shape)) {
            const auto inputs = c.inputs();
            grade_stored(
                c.shape, inputs, expect_stored(c.shape, inputs), c.kText, c.with_lse);
        }
    }
}

TEST_CASE("attention: more rows than 16 bits count, of all heads or of one", "[long]") {
    for (const auto& shape : past_16_bits_of_rows({64, 128}, /*groups=*/true)) {
        DYNAMIC_SECTION(wb::describe(shape)) {
            grade_numbers(shape, uneven_rows(shape, 1), ", rows far from each other");
        }
    }
}

TEST_CASE("attention: many batches, heads, groups and queries", "[long]") {
    for (const auto& shape : shapes_of_many(64, true, 259, {128}))
        grade_numbers(shape, uneven_rows(shape, 1), ", rows far from each other");
}

TEST_CASE("attention: many of two sizes at once", "[long]") {
    for (const auto& shape : shapes_of_pairs({64, 128}, true))
        grade_numbers(shape, uneven_rows(shape, 1), ", rows far from each other");
}
