/// wb/testing/attention_grade.h: one attention problem, given to every rung.
#pragma once

#include <wb/implementations.h>
#include <wb/testing/attention.h>
#include <wb/testing/attention_cases.h>
#include <wb/testing/attention_scores.h>
#include <wb/testing/attention_sizes.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>

#include <string>
#include <vector>

namespace wb::testing {

/// The contract that the float chapters have in common.
using AttentionFunction = void(const AttentionShape& shape,
                               const float* q,
                               const float* k,
                               const float* v,
                               float* o,
                               float* lse,
                               cudaStream_t stream);

/// Runs these versions of an exercise on these inputs.
///
/// @param text      what is told of the inputs, behind the shape: ", seed 1"
/// @param with_lse  the log-sum-exp is wanted; else lse is null
/// @param begin     where q, k, v and o begin; lse may begin anywhere
inline void grade_attention(
    const std::vector<Implementation<AttentionFunction>>& versions,
    const AttentionShape& shape,
    const AttentionInputs& inputs,
    const AttentionExpected& expected,
    const std::string& text,
    bool with_lse = true,
    Begin begin = Begin::vectors) {
    const Shape rows = {shape.batch, shape.query_heads, shape.queries};
    const Shape elements = {
        shape.batch, shape.query_heads, shape.queries, shape.head_dim};
    for (const auto& [name, idea, attention] : versions) {
        Grader grade(name, describe(shape) + text);
        const float* d_q = grade.input("q", inputs.q, begin);
        const float* d_k = grade.input("k", inputs.k, begin);
        const float* d_v = grade.input("v", inputs.v, begin);
        float* d_o = grade.output<float>("o", elements, begin);
        float* d_lse =
            with_lse ? grade.output<float>("lse", rows, Begin::anywhere) : nullptr;
        grade.run([&, attention = attention](cudaStream_t stream) {
            attention(shape, d_q, d_k, d_v, d_o, d_lse, stream);
        });
        grade.expect("o", expected.o, [&](int64_t i) {
            return expected.o_bound[static_cast<std::size_t>(i)];
        });
        if (!with_lse) continue;
        grade.expect("lse", expected.lse, [&](int64_t i) {
            return expected.lse_bound[static_cast<std::size_t>(i)];
        });
    }
}

/// Runs every rung of an exercise, or the learner's function.
inline void grade_attention(const std::string& exercise,
                            AttentionFunction* contract,
                            const AttentionShape& shape,
                            const AttentionInputs& inputs,
                            const AttentionExpected& expected,
                            const std::string& text,
                            bool with_lse = true) {
    grade_attention(
        implementations(exercise, contract), shape, inputs, expected, text, with_lse);
}

/// The same, on random inputs.
inline void grade_random_attention(const std::string& exercise,
                                   AttentionFunction* contract,
                                   const AttentionShape& shape,
                                   std::uint64_t seed) {
    const auto inputs = random_attention(shape, seed);
    grade_attention(exercise,
                    contract,
                    shape,
                    inputs,
                    expect_attention(shape, inputs),
                    ", seed " + std::to_string(seed));
}

/// The cases of a covering design that have this mask, each as a section.
inline void grade_cases(const std::string& exercise,
                        AttentionFunction* contract,
                        const std::vector<AttentionCase>& cases,
                        Mask mask) {
    for_each_case(cases, mask, [&](const AttentionCase& c) {
        const auto inputs = inputs_of(c);
        const auto expected = expect_attention(c.shape, inputs);
        grade_attention(whose_turn(implementations(exercise, contract), c.seed),
                        c.shape,
                        inputs,
                        expected,
                        c.text,
                        c.with_lse);
    });
}

/// Grades chosen_keys().
inline void grade_chosen_keys(const std::string& exercise,
                              AttentionFunction* contract,
                              const AttentionShape& shape) {
    const auto inputs = chosen_keys(shape, 1);
    grade_attention(exercise,
                    contract,
                    shape,
                    inputs,
                    expect_equal_weights(shape, inputs),
                    ", seven keys of eight chosen");
}

/// Grades the last version, or the learner's function, on shapes_of_many_keys().
/// @param group           query heads of the K/V head
/// @param rounds_weights  each is divided by the sum, and rounded, before it is
///                        multiplied with a value, which is 7 at most
inline void grade_many_keys(const std::string& exercise,
                            AttentionFunction* contract,
                            int64_t group = 1,
                            bool rounds_weights = false) {
    for (AttentionShape shape : shapes_of_many_keys({32, 64, 128, 256})) {
        shape.query_heads = group;
        const auto inputs = chosen_keys(shape, 1);
        auto expected = expect_equal_weights(shape, inputs);
        if (rounds_weights) {
            const double roundings = static_cast<double>(shape.keys) + 4.0;
            for (double& bound : expected.o_bound)
                bound = float_bound(roundings, 7.0);
        }
        grade_attention(last_of(implementations(exercise, contract)),
                        shape,
                        inputs,
                        expected,
                        ", seven keys of eight chosen");
    }
}

/// Grades two_of_many(): the last version, or the learner's function. For each head
/// dimension more keys than tiles of keys have; and more than 16 bits count.
/// @param group  query heads of the K/V head
inline void grade_two_of_many(const std::string& exercise,
                              AttentionFunction* contract,
                              int64_t group = 1) {
    auto shapes = shapes_of_many_keys({32, 64, 128, 256});
    shapes.push_back(plain_attention(1, 1, 1, 65'601, 32, true));  // decoding
    for (const int64_t head_dim : {32, 64, 128, 256})
        shapes.push_back(plain_attention(1, 1, 2, 203, head_dim, head_dim < 100));
    for (AttentionShape shape : shapes) {
        shape.query_heads = group;
        const auto inputs = two_of_many(shape, 1);
        grade_attention(last_of(implementations(exercise, contract)),
                        shape,
                        inputs,
                        expect_two_of_many(shape, inputs),
                        ", few keys have all the weight");
    }
}

/// Grades problems without keys, of a chapter in float.
inline void grade_no_keys(const std::string& exercise,
                          AttentionFunction* contract,
                          int64_t group = 1) {
    for_each_without_keys(
        {32, 64, 128, 256},
        [&](const AttentionShape& shape, bool with_lse) {
            const auto inputs = random_attention(shape, 1);
            grade_attention(exercise,
                            contract,
                            shape,
                            inputs,
                            expect_attention(shape, inputs),
                            with_lse ? "" : ", lse = nullptr",
                            with_lse);
        },
        group);
    // An array of nothing may be null.
    const auto shape = plain_attention(1, 2, 3, 0, 32);
    for (const auto& [name, idea, attention] : implementations(exercise, contract)) {
        Grader grade(name, describe(shape) + ", k = v = nullptr");
        const float* q = grade.input("q", random_attention(shape, 1).q);
        float* o = grade.output<float>("o", {2, 3, 32});
        grade.run([&, attention = attention](cudaStream_t stream) {
            attention(shape, q, nullptr, nullptr, o, nullptr, stream);
        });
        grade.expect("o", std::vector<double>(2 * 3 * 32), [](int64_t) { return 0.0; });
    }
}

/// Grades one query and more than 4096 keys, the largest score in their middle.
inline void grade_far_peak(const std::string& exercise,
                           AttentionFunction* contract,
                           const AttentionShape& shape) {
    const auto inputs = with_logits(shape, Logits::peak, {}, 1);
    grade_attention(whose_turn(implementations(exercise, contract), 0),
                    shape,
                    inputs,
                    expect_attention(shape, inputs),
                    ", the largest score in the middle");
}

/// Grades logits that rise gently over several tiles of keys: each tile has a new
/// maximum, and what was summed up before it is scaled, but counts still.
inline void grade_gentle_rise(const std::string& exercise,
                              AttentionFunction* contract) {
    for (const int64_t head_dim : {32, 64, 128, 256}) {
        const auto shape = plain_attention(1, 1, 3, 203, head_dim);
        const auto inputs = with_logits(shape, Logits::gentle, {}, 1);
        grade_attention(exercise,
                        contract,
                        shape,
                        inputs,
                        expect_attention(shape, inputs),
                        ", gently rising logits");
    }
}

/// Grades scores that are all alike, a million and more, of either sign; with a mask.
inline void grade_far_scores(const std::string& exercise,
                             AttentionFunction* contract,
                             int64_t query_heads,
                             int64_t kv_heads) {
    for (const int64_t head_dim : {32, 64, 128, 256}) {
        auto shape = plain_attention(1, query_heads, 5, 67, head_dim, true);
        shape.kv_heads = kv_heads;
        for (const float scale : {1.0f, kFarScale}) {
            shape.scale = scale;
            for (const float score : {-0x1p20f, 0x1p20f}) {
                const auto inputs = far_scores(shape, score);
                grade_attention(exercise,
                                contract,
                                shape,
                                inputs,
                                expect_far_scores(shape, inputs),
                                ", every product 2^20 or -2^20");
            }
        }
    }
}

/// Grades logits from -10000 to 10000, each far from the one before it.
inline void grade_large_logits(const std::string& exercise,
                               AttentionFunction* contract,
                               int64_t query_heads,
                               int64_t kv_heads) {
    for (const int64_t head_dim : {32, 64, 128, 256}) {
        auto shape = plain_attention(1, query_heads, 9, 131, head_dim);
        shape.kv_heads = kv_heads;
        for (const bool rising : {true, false}) {
            const auto inputs = large_logits(shape, 1e4, rising, 1);
            grade_attention(exercise,
                            contract,
                            shape,
                            inputs,
                            expect_attention(shape, inputs),
                            rising ? ", logits up to 10^4, rising"
                                   : ", logits up to 10^4, falling");
        }
    }
}

/// Grades weights of next to nothing, of which there are many; and a weight that is
/// nearly all.
inline void grade_small_weights(const std::string& exercise,
                                AttentionFunction* contract,
                                int64_t query_heads,
                                int64_t kv_heads) {
    for (const int64_t head_dim : {32, 64, 128, 256}) {
        auto shape = plain_attention(1, query_heads, 1, 203, head_dim);
        shape.kv_heads = kv_heads;
        if (head_dim == 32) shape.keys = 4133;
        shape.scale = 1.0f;
        const auto graded = [&](const AttentionInputs& inputs, const char* text) {
            const auto expected = expect_attention(shape, inputs);
            grade_attention(exercise, contract, shape, inputs, expected, text);
        };
        graded(small_weights(shape), ", scores -64 and -124");
        shape.keys = 203;
        graded(small_weights(shape, 87.0f), ", scores -64 and -151");
        shape.keys = 4;
        for (const float highest : {0.0f, 128.0f, -128.0f})
            graded(nearly_alone(shape, highest), ", three scores 10 below the fourth");
    }
}

}  // namespace wb::testing
