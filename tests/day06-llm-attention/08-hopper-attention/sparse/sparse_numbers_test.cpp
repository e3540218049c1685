// Tests v7 of Hopper attention, over the blocks of a pattern: scores, weights, values
// and scales of every size.
#include "sparse_grading.h"

#include <wb/testing/attention_traps.h>
#include <wb/testing/catch.h>
#include <wb/testing/covering.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace sparse_grading;

TEST_CASE("blocks: a scale of 0 makes all weights equal") {
    NEEDS_BLOCKS();
    const auto pattern = wb::local_pattern(67, 70, 30, 20);
    for (const int64_t D : {64, 128})
        for (const float zero : {0.0f, -0.0f}) {  // neither is negative
            auto shape = shape_of(pattern, D);
            shape.scale = zero;
            grade(shape, pattern, "window 30 + 20");
        }
}

TEST_CASE("blocks: the largest score moves a little with each step") {
    NEEDS_BLOCKS();
    for (const int64_t D : {64, 128}) {
        const auto pattern = wb::dense_pattern(1, D == 64 ? 4000 : 1000, false);
        const auto shape = shape_of(pattern, D);
        const auto inputs = slowly_rising(shape);
        grade(shape, pattern, to_blocks(pattern), inputs, "slowly rising scores");
    }
}

TEST_CASE("blocks: values near 2^106, and scores that rise or fall by 100, or 50",
          "[values]") {
    NEEDS_BLOCKS();
    const auto pattern = wb::dense_pattern(3, 200, false);
    for (const int64_t D : {64, 128})
        for (const Logits logits : {Logits::rising, Logits::falling}) {
            auto shape = shape_of(pattern, D);
            const auto inputs = huge_values_of(shape, logits);
            for (int i = 0; i < 2; ++i, shape.scale *= 0.5f)
                grade(shape, pattern, to_blocks(pattern), inputs, "huge values");
        }
}

TEST_CASE("blocks: small weights count: many keys, each next to nothing", "[values]") {
    NEEDS_BLOCKS();
    const auto graded = [](const HostCsr& pattern, int64_t D, auto inputs_of) {
        auto shape = shape_of(pattern, D);
        shape.scale = 1.0f;
        const auto inputs = inputs_of(shape);
        grade(shape, pattern, to_blocks(pattern), inputs, "scores 0 or -64, and less");
    };
    const auto many = wb::dense_pattern(1, 2101, false);
    graded(many, 64, [](const auto& of) { return small_weights(of); });
    for (const int64_t D : {64, 128}) {
        const auto fewer = wb::dense_pattern(1, 203, false);
        graded(fewer, D, [](const auto& of) { return small_weights(of, 87.0f); });
        const auto four = wb::dense_pattern(1, 4, false);
        graded(four, D, [](const auto& of) { return nearly_alone(of); });
    }
}

TEST_CASE("blocks: subnormal values, queries, keys and scales", "[values]") {
    NEEDS_BLOCKS();
    constexpr double kSmallest = Format<T>::kSmallest;
    const auto pattern = wb::dense_pattern(3, 203, true);
    const HostBlocks blocks = to_blocks(pattern);
    const auto expect = [&](const AttentionShape& of, const AttentionInputs& inputs) {
        return expect_listed(of, pattern, inputs);
    };
    for (const int64_t D : {64, 128}) {
        const auto usual = shape_of(pattern, D, 1, 2);
        const auto values = as_stored<T>(subnormal_values(usual, kSmallest));
        grade_stored(usual,
                     blocks,
                     values,
                     expect_subnormal(usual, values, kSmallest, expect),
                     "subnormal v");
        auto shape = usual;
        const auto small = subnormal_scores(shape, kSmallest);
        grade(shape, pattern, blocks, small, "subnormal q or k");
        const auto large = wb::testing::subnormal_scale(shape);
        grade(shape, pattern, blocks, large, "subnormal scale, products near 2^126");
    }
}

TEST_CASE("blocks: scores of a million and more, all alike, of either sign",
          "[values]") {
    NEEDS_BLOCKS();
    // What stands for a pair that is not seen must be further down than they are.
    const auto pattern = wb::dense_pattern(13, 67, true);
    for (const int64_t D : {64, 128}) {
        auto shape = shape_of(pattern, D);
        for (const float scale : {1.0f, kFarScale, kFarthestScale}) {
            shape.scale = scale;
            for (const float score : {-0x1p20f, 0x1p20f}) {
                const auto inputs = far_scores(shape, score);
                auto causal = shape;
                causal.causal = true;
                grade_stored(shape,
                             to_blocks(pattern),
                             inputs,
                             expect_far_half<T>(causal, inputs),
                             "every product 2^20 or -2^20");
            }
        }
    }
}

TEST_CASE("blocks: kinds of logits, patterns and sizes") {
    NEEDS_BLOCKS();
    wb::testing::Covering design;
    design.factor("pattern", {"dense", "causal", "window 9 and 4 sinks", "random 13"})
        .factor("D", {64, 128})
        .factor(
            "logits",
            {"usual", "near 0", "near 10^4", "near -500", "rising", "falling", "huge"})
        .factor("Nq", {1, 65, 129})
        .factor("Nk", {1, 31, 65, 129, 200})
        .factor("batch", {1, 2})
        .factor("heads", {1, 2})
        .factor("share keys", {1, 2})  // heads
        .factor("scale", {"usual", "0.05"})
        .factor("lse", {"wanted", "null"})
        // There, every query sees every key.
        .forbid({"pattern", "logits"},
                [](const std::vector<int64_t>& v) { return v[0] == 0 && v[1] == 6; })
        .forbid({"Nq", "D", "batch", "heads"}, [](const std::vector<int64_t>& v) {
            return v[0] * v[1] * v[2] * v[3] > 129 * 128;  // else it takes long
        });
    static const auto cases = design.cases();
    for (size_t i = 0; i < cases.size(); ++i) {
        if (wb::testing::is_watched() && i >= 8) break;
        const auto& c = cases[i];
        DYNAMIC_SECTION(c.text()) {
            const int64_t nq = c["Nq"];
            const int64_t nk = c["Nk"];
            const HostCsr pattern =
                c["pattern"] == 2   ? wb::window_with_sinks(nq, nk, 9, 4)
                : c["pattern"] == 3 ? wb::random_pattern(nq, nk, 13, 1)
                                    : wb::dense_pattern(nq, nk, c["pattern"] == 1);
            auto shape = shape_of(pattern, c["D"], c["batch"], c["heads"]);
            shape.query_heads *= c["share keys"];
            if (c["scale"] != 0) shape.scale = std::stof(c.words("scale"));
            const auto inputs = with_logits(
                shape, static_cast<Logits>(c["logits"]), {nk / 2, nk - 1}, i + 1);
            grade(shape,
                  pattern,
                  to_blocks(pattern),
                  inputs,
                  c.text(),
                  {},
                  c["lse"] == 0);
        }
    }
}
