// Grades day06-llm-attention/08-hopper-attention: numbers of each kind, dense, packed
// and in pages, for each type and head dimension: each has a kernel of its own.
#include <wb/testing/attention_triples.h>
#include <wb/testing/simulator.h>
#include <wb/testing/special_attention.h>

#include "hopper_grading.h"
#include "packed_grading.h"

namespace {

using namespace hopper_grading;

/// Numbers of one sequence, and what is expected of them.
struct Sequence {
    AttentionInputs inputs;
    AttentionExpected expected;
};

/// What all sequences of a case have in common.
struct Common {
    std::vector<Lengths> lengths = {{3, 300}, {18, 67}};  ///< several blocks, and one
    int64_t heads = 1;
    float scale = 0.0f;  ///< 0: the usual one
    bool with_lse = true;
};

/// Two sequences packed, in pages, and the first one dense: with a mask where the
/// head dimension is 128, or, in fp16, another.
/// @param make  gives a sequence its numbers, and perhaps another scale
template <class T, class Make>
void grade_type_of(const std::string& text, const Common& common, Make make) {
    uint64_t turn = 0;
    for (const int64_t D : {64, 128, 256}) {
        const bool causal = (D == 128) != std::is_same_v<T, __half>;
        auto batch = make_batch<T>(
            common.lengths, common.heads, common.heads, D, causal, common.scale);
        batch.note = text;
        for (size_t s = 0; s < batch.parts.size(); ++s) {
            Sequence numbers = make(T(), batch.parts[s]);
            batch.inputs[s] = std::move(numbers.inputs);
            batch.expected.push_back(std::move(numbers.expected));
            batch.shape.scale = batch.parts[s].scale;
        }
        grade_these<T>(whose_turn(implementations_of<T>(), turn++),
                       batch.parts[0],
                       batch.inputs[0],
                       batch.expected[0],
                       text,
                       common.with_lse);
        grade_packed<T>(batch, 0, common.with_lse);
        if constexpr (std::is_same_v<T, __nv_bfloat16>)
            if (D != 256) grade_paged(batch, 64, common.with_lse);
    }
}

template <class Make>
void grade_types(const std::string& text, const Common& common, Make make) {
    grade_type_of<__half>(text, common, make);
    grade_type_of<__nv_bfloat16>(text, common, make);
}

/// Numbers of which nothing more is expected than of any.
template <class T>
Sequence as_usual(const AttentionShape& part, const AttentionInputs& inputs) {
    const auto stored = as_stored<T>(inputs);
    return {stored, expect_half<T>(part, stored)};
}

/// Scores of 0, and two thirds of -2^129: in float -infinity. All rows see some of 0.
template <class T>
Sequence past_the_largest(const AttentionShape& part, bool first) {
    const int64_t weightless = part.keys / 3 * 2;
    const int64_t from = first ? 0 : part.keys - weightless;
    const auto dim = static_cast<size_t>(part.head_dim);
    auto inputs = as_stored<T>(random_attention(part, 1));
    for (size_t i = 0; i < inputs.q.size(); ++i)
        inputs.q[i] = i % dim == 0 ? 1.0f : 0.0f;
    for (size_t i = 0; i < inputs.k.size(); ++i) {
        const int64_t key = static_cast<int64_t>(i / dim) - from;
        inputs.k[i] = i % dim == 0 && key >= 0 && key < weightless ? -4.0f : 0.0f;
    }
    AttentionShape others = part;
    AttentionInputs of_others = inputs;
    others.keys -= weightless;
    others.causal = part.causal && first;
    for (auto* values : {&of_others.k, &of_others.v}) {
        const auto begin = values->begin() + from * part.head_dim;
        values->erase(begin, begin + weightless * part.head_dim);
    }
    return {inputs, expect_half<T>(others, of_others)};
}

}  // namespace

TEST_CASE("each layout: of one key, the output is the value, to the bit") {
    NEEDS_HOPPER();
    grade_types("", {.lengths = {{2, 1}, {19, 1}}}, [](auto zero, const auto& part) {
        auto numbers = as_usual<decltype(zero)>(part, random_attention(part, 1));
        for (double& bound : numbers.expected.o_bound)
            if (!part.causal) bound = 0.0;
        return numbers;
    });
}

TEST_CASE("each layout: seven keys of eight, and sums that are exact", "[values]") {
    NEEDS_HOPPER();
    const auto exact = [](auto zero, const auto& part) {
        const auto inputs = chosen_keys(part, 1);
        return Sequence{inputs, InType<decltype(zero)>::chosen(part, inputs)};
    };
    grade_types(", seven keys of eight chosen", {.with_lse = false}, exact);
}

TEST_CASE("each layout: many blocks, and sums that no 16 bits hold", "[values]") {
    NEEDS_HOPPER();
    // Weights are equal, and sums exact in float: nothing may be rounded on the way.
    const Common many = {.lengths = {{2, 1200}, {1, 9}}};
    grade_types(", q = 0", many, [](auto zero, const auto& part) {
        using Type = InType<decltype(zero)>;
        auto inputs = equal_weights(part, 1);
        for (float& v : inputs.v)
            v = 1.0f + std::abs(v) / 16.0f;
        return Sequence{inputs, Type::chosen(part, inputs)};
    });
}

TEST_CASE("each layout: two scores whose weights are no numbers of 16 bits",
          "[values]") {
    NEEDS_HOPPER();
    for (const uint64_t seed : {1, 2})
        grade_types(", two scores", {}, [&](auto zero, const auto& part) {
            using Type = InType<decltype(zero)>;
            const auto inputs = Type::stored(uneven_choice(part, seed));
            return Sequence{inputs, Type::uneven(part, inputs)};
        });
}

TEST_CASE("each layout: the largest score moves in each block, or in none",
          "[values]") {
    NEEDS_HOPPER();
    const auto logits = [](const char* text, Logits kind) {
        grade_types(text, {}, [&](auto zero, const auto& part) {
            return as_usual<decltype(zero)>(part, with_logits(part, kind, {}, 1));
        });
    };
    logits(", rising logits", Logits::rising);
    logits(", falling logits", Logits::falling);
    if (wb::testing::is_watched()) return;
    logits(", gently rising logits", Logits::gentle);
    logits(", the largest logit in the middle", Logits::peak);
    logits(", logits near 10^5", Logits::highest);
}

TEST_CASE("each layout: the largest score moves in another block for each row",
          "[values]") {
    NEEDS_HOPPER();
    // Rows that share a decision, to rescale or not, are not alike.
    const auto steps = [](auto zero, const auto& part) {
        return as_usual<decltype(zero)>(part, steps_of_rows(part, 1));
    };
    grade_types(", steps", {.lengths = {{40, 300}, {18, 67}}}, steps);
}

TEST_CASE("each layout: the largest score moves a little with each block", "[values]") {
    NEEDS_HOPPER();
    const Common many = {.lengths = {{1, 2500}, {2, 9}}};
    // What a block multiplies the earlier sums with lies between two 16-bit numbers.
    const auto slowly = [](auto zero, const auto& part) {
        using T = decltype(zero);
        const float step = std::is_same_v<T, __half> ? 1e-5f : 2e-5f;
        return as_usual<T>(part, slowly_rising(part, step));
    };
    grade_type_of<__half>(", slowly rising scores", many, slowly);
    if (wb::testing::is_watched()) return;
    grade_type_of<__nv_bfloat16>(", slowly rising scores", many, slowly);
}

TEST_CASE("each layout: logits from -10000 to 10000", "[values]") {
    NEEDS_HOPPER();
    for (const bool rising : {true, false})
        grade_types(", logits up to 10^4", {}, [&](auto zero, const auto& part) {
            return as_usual<decltype(zero)>(part, large_logits(part, 1e4, rising, 1));
        });
}

TEST_CASE("each layout: scores all alike, and very far from zero", "[values]") {
    NEEDS_HOPPER();
    for (const float scale : {1.0f, kFarScale})
        for (const float score : {-0x1p20f, 0x1p20f}) {
            if (wb::testing::is_watched() && (scale == 1.0f) == (score > 0.0f))
                continue;
            grade_types(", every product 2^20 or -2^20",
                        {.scale = scale},
                        [&](auto zero, const auto& part) {
                            const auto inputs = far_scores(part, score);
                            return Sequence{
                                inputs, expect_far_half<decltype(zero)>(part, inputs)};
                        });
        }
}

TEST_CASE("each layout: small weights count", "[values]") {
    NEEDS_HOPPER();
    using T = __nv_bfloat16;
    const Common many = {.lengths = {{1, 2101}, {2, 67}}, .scale = 1.0f};
    grade_type_of<T>(", scores -64 and -124", many, [](T, const auto& part) {
        return as_usual<T>(part, small_weights(part));
    });
    const Common fewer = {.lengths = {{1, 203}, {2, 67}}, .scale = 1.0f};
    grade_type_of<T>(", scores -64 and -151", fewer, [](T, const auto& part) {
        return as_usual<T>(part, small_weights(part, 87.0f));
    });
    const Common four = {.lengths = {{1, 4}, {18, 4}}, .scale = 1.0f};
    grade_types(", scores 0 and below -10", four, [](auto zero, const auto& part) {
        return as_usual<decltype(zero)>(part, nearly_alone(part));
    });
}

TEST_CASE("each layout: NaN and infinity reach the rows that see them") {
    NEEDS_HOPPER();
    const auto graded = [](const Common& common, uint64_t turn, bool scaled = true) {
        grade_types(NotFinite::kText, common, [&](auto zero, auto& part) {
            if (!scaled) part.scale = 0.0f;
            const NotFinite numbers(part, turn);
            auto usual = as_usual<decltype(zero)>(part, random_attention(part, 1));
            return Sequence{numbers.spoilt(usual.inputs),
                            numbers.spoilt(usual.expected)};
        });
    };
    graded({.heads = 2}, 0);
    if (wb::testing::is_watched()) return;
    for (const uint64_t turn : {1, 2, 3})
        graded({.heads = 2}, turn);
    // Where scores seem not to matter: a scale of 0, and a single key.
    graded({.heads = 2}, 2, /*scaled=*/false);
    graded({.lengths = {{3, 1}, {2, 1}}, .heads = 2}, 2);
}

TEST_CASE("each layout: a NaN in a value reaches rows for which it weighs nothing",
          "[values]") {
    NEEDS_HOPPER();
    for (const bool first : {false, true})
        grade_types(", " + wb::testing::weightless_text(first),
                    {.lengths = {{3, 300}, {1, 167}}},
                    [&](auto zero, const auto& part) {
                        auto shape = part;
                        auto numbers = as_usual<decltype(zero)>(
                            shape, wb::testing::weightless_keys(shape, first));
                        wb::testing::spoil_weightless(
                            shape, first, numbers.inputs, numbers.expected);
                        return numbers;
                    });
}

TEST_CASE("each layout: subnormal values, queries, keys and scales", "[values]") {
    NEEDS_HOPPER();
    grade_types(", subnormal v", {.heads = 2}, [](auto zero, const auto& part) {
        using T = decltype(zero);
        constexpr double kSmallest = Format<T>::kSmallest;
        const auto inputs = as_stored<T>(subnormal_values(part, kSmallest));
        return Sequence{inputs,
                        expect_subnormal(part, inputs, kSmallest, expect_half<T>)};
    });
    grade_types(", subnormal q or k", {.heads = 2}, [](auto zero, auto& part) {
        using T = decltype(zero);
        const auto inputs = subnormal_scores(part, Format<T>::kSmallest);
        return as_usual<T>(part, inputs);
    });
    using B = __nv_bfloat16;
    grade_type_of<B>(", subnormal scale", {}, [](B, auto& part) {
        const auto inputs = wb::testing::subnormal_scale(part);
        return as_usual<B>(part, inputs);
    });
}

TEST_CASE("each layout: values near the largest ones, and logits that rise or fall",
          "[values]") {
    NEEDS_HOPPER();
    using B = __nv_bfloat16;
    for (const Logits logits : {Logits::rising, Logits::falling})
        for (const float slower : {1.0f, 0.5f})
            grade_type_of<B>(", huge values", {}, [&](B, auto& part) {
                const auto inputs = huge_values_of(part, logits);
                part.scale *= slower;
                return as_usual<B>(part, inputs);
            });
    // Sums of fp16 values are larger than fp16 holds; what is stored is not.
    using H = __half;
    grade_type_of<H>(", values near 60000", {}, [](H, const auto& part) {
        auto inputs = random_attention(part, 1);
        for (float& v : inputs.v)
            v = 58000.0f + 4000.0f * std::remainder(v, 2.0f);
        return as_usual<H>(part, inputs);
    });
}

TEST_CASE("each layout: the scale may be anything that is not negative", "[values]") {
    NEEDS_HOPPER();
    for (const float scale : {1.0f, 0.01f, 0.0f})
        grade_types(", its scale", {}, [&](auto zero, auto& part) {
            part.scale = scale;
            return as_usual<decltype(zero)>(part, random_attention(part, 1));
        });
}

TEST_CASE("each layout: scores past the largest float, of the first or the last keys",
          "[values]") {
    NEEDS_HOPPER();
    // They are negative: their keys weigh nothing, and the others are the result.
    for (const bool first : {true, false})
        grade_types(first ? ", first scores -2^129" : ", last scores -2^129",
                    {.lengths = {{3, 300}, {2, 167}}},
                    [&](auto zero, auto& part) {
                        part.scale = 0x1p127f;
                        return past_the_largest<decltype(zero)>(part, first);
                    });
}
