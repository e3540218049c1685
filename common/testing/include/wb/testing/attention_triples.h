/// wb/testing/attention_triples.h: a covering design (covering.h) of strength three.
/// Whatever three factors of attention a mistake needs, some case has them: batches,
/// heads, groups, many keys or queries, type, mask, scale, the log-sum-exp wanted or
/// not, and what the numbers are like. Only triples that would cost a simulator too
/// much (TripleLevels::most_products) are left out.
#pragma once

#include <wb/attention.h>
#include <wb/describe.h>
#include <wb/testing/attention.h>
#include <wb/testing/attention_cases.h>
#include <wb/testing/attention_grade.h>
#include <wb/testing/attention_scores.h>
#include <wb/testing/catch.h>
#include <wb/testing/special_attention.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace wb::testing {

/// What the numbers of a case are like.
enum class Contents {
    chosen,  ///< exact sums: one key too many or too few shows
    usual,   ///< Logits of these names
    high,
    low,
    rising,
    falling,
    not_finite,  ///< NaN and infinity in some places
};

/// The levels of each factor. Half of the scales are negative, if they may be.
struct TripleLevels {
    std::vector<int64_t> batch = {1, 2};
    std::vector<int64_t> kv_heads = {1, 2, 3};
    std::vector<int64_t> groups = {1};
    /// The largest numbers of queries and keys stand for many: some of their cases have
    /// kWhole instead, and some kMore, if that does not cost too much. For 33 and 97
    /// some have 7 more, and some 15: multiples of eight, and of sixteen.
    std::vector<int64_t> queries = {1, 5, 33, 64, 515};
    std::vector<int64_t> keys = {1, 3, 64, 97, 1031};
    std::vector<int64_t> head_dims = {32, 64, 128, 256};
    std::vector<std::string> types = {"fp32"};
    /// What is more than one batch, head, or query head of a group is even more in some
    /// cases, if that does not cost too much: for 2 batches there are 3 and 5, too.
    /// A case has at most so many products of q and k. Fewer keys than three count as
    /// three, for there are rows to make and to compare.
    int64_t most_products = 1'600'000;
    /// Rows that a tensor core multiplies in any case: queries count as a multiple.
    int64_t row_tile = 1;
    bool negative_scales = true;  ///< else these are smaller than the usual one
    static constexpr int64_t kWhole = 512;  ///< whole tiles
    static constexpr int64_t kMore = 2101;
};

struct TripleCase {
    AttentionShape shape;
    Contents contents;
    std::size_t type;  ///< of TripleLevels::types
    bool with_lse;
    std::uint64_t seed;
    std::string text;       ///< behind the shape: ", rising logits, no lse, seed 3"
    std::string type_name;  ///< "fp16, ", or "" where there is one type only

    /// The name of its section, and what a report shows as inputs.
    std::string name() const { return type_name + describe(shape) + text; }
};

/// The cases, the same on every machine.
std::vector<TripleCase> triple_cases(const TripleLevels& levels = {});

/// What the chapters in float expect, for grade_triple().
struct InFloat {
    static AttentionInputs stored(AttentionInputs inputs) { return inputs; }
    static AttentionExpected expect(const AttentionShape& shape,
                                    const AttentionInputs& inputs) {
        return expect_attention(shape, inputs);
    }
    static AttentionExpected chosen(const AttentionShape& shape,
                                    const AttentionInputs& inputs) {
        return expect_equal_weights(shape, inputs);
    }
    static AttentionExpected uneven(const AttentionShape& shape,
                                    const AttentionInputs& inputs) {
        return expect_uneven_choice(shape, inputs);
    }
};

/// Makes logits of every other head, or of a lone one for odd seeds, Logits::highest.
/// @param inputs  of Logits::high
inline void raise_some(AttentionInputs& inputs,
                       const AttentionShape& shape,
                       std::uint64_t seed) {
    const auto highest = with_logits(shape, Logits::highest, {}, seed);
    const auto head = static_cast<std::size_t>(shape.keys * shape.head_dim);
    for (std::size_t i = 0; i < inputs.k.size(); ++i)
        if ((i / head + seed) % 2 == 1) inputs.k[i] = highest.k[i];
}

/// Makes the numbers of a case, and what is expected of them.
///
/// Chosen keys are graded twice: the output of weights that are all 1 or 0 is exact;
/// what is wrong with all weights alike shows where there are two scores. Some of the
/// rising logits do it by small steps, if the type asks for it.
///
/// @tparam Type  as InFloat: numbers as they are stored, and what is expected of these,
///               of chosen_keys() and of uneven_choice(), perhaps of stepped_scores()
/// @param grade  is given inputs, expected, the text behind the shape, and whether the
///               log-sum-exp is wanted
template <class Type, class Grade>
void grade_triple(const TripleCase& c, Grade grade) {
    if (c.contents == Contents::chosen) {
        const auto chosen = chosen_keys(c.shape, c.seed);
        grade(chosen, Type::chosen(c.shape, chosen), c.text, false);
        const auto uneven = Type::stored(uneven_choice(c.shape, c.seed));
        grade(
            uneven, Type::uneven(c.shape, uneven), ", two scores" + c.text, c.with_lse);
        return;
    }
    if constexpr (requires(AttentionInputs of) { Type::stepped(c.shape, of); }) {
        if (c.contents == Contents::rising && c.seed % 2 == 1 && c.shape.keys >= 64) {
            const auto stepped = Type::stored(stepped_scores(c.shape, c.seed));
            grade(stepped,
                  Type::stepped(c.shape, stepped),
                  ", by small steps" + c.text,
                  c.with_lse);
            return;
        }
    }
    if (c.contents == Contents::not_finite) {
        const NotFinite places(c.shape, c.seed);
        const auto inputs = Type::stored(random_attention(c.shape, c.seed));
        grade(places.spoilt(inputs),
              places.spoilt(Type::expect(c.shape, inputs)),
              c.text,
              c.with_lse);
        return;
    }
    const Logits logits[] = {
        Logits::usual, Logits::high, Logits::low, Logits::rising, Logits::falling};
    const auto kind = static_cast<std::size_t>(c.contents) - 1;
    auto numbers = with_logits(c.shape, logits[kind], {}, c.seed);
    if (c.contents == Contents::high) raise_some(numbers, c.shape, c.seed);
    const auto inputs = Type::stored(numbers);
    grade(inputs, Type::expect(c.shape, inputs), c.text, c.with_lse);
}

/// Grades those with or without a mask, of a chapter in float, each as a section: the
/// last version, or the learner's function.
/// @tparam Type  as InFloat
template <class Type = InFloat>
void grade_triples(const std::string& exercise,
                   AttentionFunction* contract,
                   const std::vector<TripleCase>& cases,
                   bool causal) {
    for (const TripleCase& c : cases) {
        if (c.shape.causal != causal) continue;
        DYNAMIC_SECTION(c.name()) {
            const auto versions = last_of(implementations(exercise, contract));
            grade_triple<Type>(
                c,
                [&](const AttentionInputs& inputs,
                    const AttentionExpected& expected,
                    const std::string& text,
                    bool with_lse) {
                    grade_attention(
                        versions, c.shape, inputs, expected, text, with_lse);
                });
        }
    }
}

}  // namespace wb::testing
