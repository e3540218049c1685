// special.h: NaN, infinity and subnormal numbers in a cache; and calls that have
// nothing in common.
#pragma once

#include <wb/testing/attention_cases.h>
#include <wb/testing/attention_grade.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/special_attention.h>

#include <limits>

#include "paged_grading.h"

namespace paged_grading {

/// A NaN in q, in a key and in a value, and an infinity in a value: each in a sequence
/// of its own, next to one without. And a NaN in q of a sequence without keys, which
/// gives zeros all the same.
inline void grade_not_finite(const Layout& layout) {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    PagedShape shape = layout.shape({33, 40, 17, 300, 33, 0});
    shape.kv_heads = 2;
    const int64_t D = shape.head_dim;
    const int64_t group = D == 64 ? 3 : 2;
    const int64_t heads = shape.query_heads = group * shape.kv_heads;
    // One of the first columns, or as far from the last one; of either sign.
    const bool is_late = layout.page == 64 || layout.page == 128;
    const auto column = [&](int64_t d) { return is_late ? D - 1 - d : d; };
    const bool is_negative = layout.page == 32 || layout.page == 64;
    const double infinity = is_negative ? -kInfinity : kInfinity;
    PagedInputs inputs = random_paged(shape, 1, 7);
    AttentionExpected expected = expect_paged(inputs);
    const auto set = [](auto& numbers, int64_t at, double value) {
        numbers[static_cast<size_t>(at)] = __double2bfloat16(value);
    };
    const auto expect_at = [&](int64_t row, int64_t d, double value) {
        const auto at = static_cast<size_t>(row * D + d);
        expected.o[at] = value;
        expected.o_bound[at] = 0.0;
    };
    const auto expect_nan = [&](int64_t row) {
        for (int64_t d = 0; d < D; ++d)
            expect_at(row, d, kNaN);
        expected.lse[static_cast<size_t>(row)] = kNaN;
        expected.lse_bound[static_cast<size_t>(row)] = 0.0;
    };
    // Query head 1 of sequence 1; the last key of K/V head 1 of sequence 2, which the
    // second group of query heads shares; two columns of values of K/V head 0 of
    // sequence 3.
    set(inputs.q, (1 * heads + 1) * D + column(11), kNaN);
    expect_nan(1 * heads + 1);
    set(inputs.q, 5 * heads * D + column(7), kNaN);
    set(inputs.k[2], (17 + 16) * D + column(5), kNaN);
    set(inputs.v[3], 200 * D + column(3), kNaN);
    set(inputs.v[3], column(22), infinity);
    for (int64_t i = 0; i < group; ++i) {
        expect_nan(2 * heads + group + i);
        expect_at(3 * heads + i, column(3), kNaN);
        expect_at(3 * heads + i, column(22), infinity);
    }
    for (int64_t s = 0; s < inputs.batch(); ++s)
        fill_pages(inputs, s);
    for (const auto& [name, idea, function] : attentions())
        attend(name, function, inputs, &expected, "NaN and infinity in some places");
}

/// A NaN in a value of a sequence, of a key whose weight is 0 in float.
inline void grade_weightless(const Layout& layout, bool first) {
    PagedShape shape = layout.shape({300});
    PagedInputs inputs = random_paged(shape, 1, 7);
    const auto problem = problem_of(inputs, 0);
    auto made = wb::testing::weightless_keys(problem, first);
    set_sequence(inputs, 0, made);
    AttentionExpected expected = expect_paged(inputs);
    wb::testing::spoil_weightless(problem, first, made, expected);
    set_sequence(inputs, 0, made);
    for (const auto& [name, idea, function] : attentions())
        attend(name,
               function,
               inputs,
               &expected,
               inputs.text() + ", " + wb::testing::weightless_text(first));
}

/// Values near 2^106, and logits that rise.
inline void grade_huge(const Layout& layout) {
    PagedInputs inputs = random_paged(layout.shape({33, 150}), 1, 7);
    for (int64_t s = 0; s < inputs.batch(); ++s)
        set_sequence(inputs, s, wb::testing::huge_values(problem_of(inputs, s)));
    grade_inputs(inputs, "huge v, rising logits");
}

/// Values of bfloat16 below the smallest one that has all its digits.
inline void grade_subnormal(const Layout& layout) {
    constexpr float kSmallest = 0x1p-133f;
    PagedInputs inputs = random_paged(layout.shape({33, 300}), 1, 7);
    wb::testing::Random random(1);
    const auto with_values = [&](auto value_of) {
        for (auto& values : inputs.v)
            for (auto& value : values)
                value = __float2bfloat16(value_of(value));
        for (int64_t s = 0; s < inputs.batch(); ++s)
            fill_pages(inputs, s);
    };
    // 2^100 times as large, they lose nothing.
    with_values([&](auto) {
        return 0x1p100f * kSmallest * static_cast<float>(40 + random.below(60));
    });
    AttentionExpected expected = expect_paged(inputs);
    for (size_t i = 0; i < expected.o.size(); ++i) {
        expected.o[i] *= 0x1p-100;
        expected.o_bound[i] = 0x1p-100 * expected.o_bound[i] + 0.5 * double{kSmallest} +
                              0x1p-150 * (2.0 * 300.0 + 10.0);
    }
    grade_huge(layout);
    with_values([](__nv_bfloat16 x) { return 0x1p-100f * __bfloat162float(x); });
    for (const auto& [name, idea, function] : attentions())
        attend(name, function, inputs, &expected, "subnormal v");
}

/// Queries of one head, and keys of the other, that are subnormal numbers; and large
/// ones, with a scale that is one.
inline void grade_subnormal_scores(const Layout& layout) {
    PagedShape shape = layout.shape({33, 70});
    shape.query_heads = shape.kv_heads = 2;
    PagedInputs inputs = random_paged(shape, 1, 7);
    for (int64_t s = 0; s < inputs.batch(); ++s) {
        auto problem = problem_of(inputs, s);
        set_sequence(inputs, s, wb::testing::subnormal_scores(problem, 0x1p-133));
        inputs.shape.scale = problem.scale;  // the same for each
    }
    grade_inputs(inputs, "subnormal q or k");
    for (int64_t s = 0; s < inputs.batch(); ++s) {
        auto problem = problem_of(inputs, s);
        set_sequence(inputs, s, wb::testing::smallest_factors(problem, 0x1p-133));
        inputs.shape.scale = problem.scale;
    }
    grade_inputs(inputs, "q or k a few times the smallest number");
    for (int64_t s = 0; s < inputs.batch(); ++s) {
        auto problem = problem_of(inputs, s);
        set_sequence(inputs, s, wb::testing::subnormal_scale(problem));
        inputs.shape.scale = problem.scale;
    }
    grade_inputs(inputs, "subnormal scale");
}

/// Every score is the same: of a product of 2^20 or -2^20, by two scales.
inline void grade_far_scores(const Layout& layout) {
    PagedShape shape = layout.shape({33, 50});
    for (const float scale : {1.0f, wb::testing::kFarScale}) {
        shape.scale = scale;
        PagedInputs inputs = random_paged(shape, 1, 7);
        for (const float score : {-0x1p20f, 0x1p20f}) {
            for (int64_t s = 0; s < inputs.batch(); ++s)
                set_sequence(
                    inputs, s, wb::testing::far_scores(problem_of(inputs, s), score));
            AttentionExpected expected = expect_paged(inputs);
            expect_exactly(expected);
            grade_inputs(inputs, expected, "every product 2^20 or -2^20");
        }
    }
}

/// Many weights of exp(-60) of the largest each, which make most of the result; fewer
/// of exp(-87).
inline void grade_small_weights(const Layout& layout) {
    PagedShape shape = layout.shape({2101, 3});
    shape.scale = 1.0f;
    PagedInputs inputs = random_paged(shape, 1, 7);
    for (int64_t s = 0; s < inputs.batch(); ++s)
        set_sequence(inputs, s, wb::testing::small_weights(problem_of(inputs, s)));
    grade_inputs(inputs, "scores -64 and -124");
    shape.lengths = {203, 3};
    inputs = random_paged(shape, 1, 7);
    for (int64_t s = 0; s < inputs.batch(); ++s)
        set_sequence(
            inputs, s, wb::testing::small_weights(problem_of(inputs, s), 87.0f));
    grade_inputs(inputs, "scores -64 and -151");
    shape.lengths = {4, 4};
    inputs = random_paged(shape, 1, 7);
    for (int64_t s = 0; s < inputs.batch(); ++s)
        set_sequence(inputs, s, wb::testing::nearly_alone(problem_of(inputs, s)));
    grade_inputs(inputs, "scores 0 and below -10");
}

/// More than 4096 keys, the largest score in the middle.
inline void grade_far_peak(const Layout& layout) {
    PagedShape shape = layout.shape({4131, 5});
    shape.kv_heads = layout.head_dim / 64;  // one, two
    shape.query_heads *= shape.kv_heads;
    PagedInputs inputs = random_paged(shape, 1, 7);
    for (int64_t s = 0; s < inputs.batch(); ++s)
        set_sequence(
            inputs,
            s,
            with_logits(problem_of(inputs, s), wb::testing::Logits::peak, {}, 1));
    grade_inputs(inputs, "the largest score in the middle");
}

/// More sequences than a block has threads, most of them empty.
inline void grade_many_sequences(const Layout& layout) {
#ifdef SIMT_CPU
    const bool is_dear = layout.head_dim == 64 && !wb::testing::is_watched();
    const size_t many = is_dear ? 4'200 : 300;
#else
    const bool is_dear = false;
    const size_t many = 65'539;  // a grid has 65,535 blocks along y and z
#endif
    PagedShape shape = layout.shape(std::vector<int64_t>(many, 0));
    for (size_t s = 0; s < shape.lengths.size(); s += 129)
        shape.lengths[s] = static_cast<int64_t>(1 + s % 5 + (s % 1032 == 0 ? 35 : 0));
    shape.kv_heads = layout.head_dim / 64;  // one, two
    shape.query_heads = shape.kv_heads * shape.kv_heads;
    shape.scale = -0.3f;
    const PagedInputs inputs = random_paged(shape, 33, 33);
    const AttentionExpected expected = expect_paged(inputs);
    const auto versions = is_dear ? wb::testing::last_of(attentions())
                                  : wb::testing::whose_turn(attentions(), 1);
    for (const auto& [name, idea, function] : versions)
        for (const bool with_lse : {true, false})
            attend(name, function, inputs, &expected, with_seed(inputs, 33), with_lse);
    // The last one that has keys is at fault: its page, or its length.
    const auto last = static_cast<int64_t>((many - 1) / 129 * 129);
    const std::string sequence = "sequence " + std::to_string(last);
    const bool is_length = layout.head_dim == 128;
    PagedInputs wrong = inputs;
    if (is_length)
        wrong.lengths[static_cast<size_t>(last)] = -3;
    else
        wrong.table[static_cast<size_t>(last * inputs.pages_per_sequence)] = -3;
    const std::string what = is_length ? "its length" : "entry 0 of its block table";
    const std::string report = sequence + ": " + what + " is -3";
    for (const auto& [name, idea, function] : wb::testing::last_of(attentions())) {
        const Result result =
            attend(name, function, wrong, nullptr, with_seed(inputs, 33), true, report);
        expect_others(name, result, expected, last, is_length);
    }
}

/// A row of the table that holds a page twice: its second, or its 18th of small pages.
inline void grade_repeated_page(const Layout& layout) {
    const int64_t again = layout.page == 16 ? 17 : 1;
    PagedInputs inputs =
        random_paged(layout.shape({(again + 2) * layout.page - 3, 20}), 34, 34);
    const auto entry = inputs.table.begin() + again;
    entry[0] = entry[-1];
    const int64_t page = inputs.shape.page_size * inputs.shape.head_dim;
    for (auto* numbers : {&inputs.k[0], &inputs.v[0]}) {
        const auto first = numbers->begin() + (again - 1) * page;
        std::copy_n(first, page, first + page);
    }
    grade_inputs(inputs, "one page twice, " + with_seed(inputs, 34));
}

/// One workspace for calls of all kinds: whatever one of them finds, a sequence without
/// a key, more than one block for it, a page or a length that is wrong, the next begins
/// with counters of 0.
inline void grade_one_workspace(const Layout& layout) {
    std::vector<PagedInputs> calls;
    for (const auto& lengths : std::vector<std::vector<int64_t>>{
             {0, 40, 300}, {300, 5, 0}, {40, 300, 33}, {300, 33, 40}, {33, 300, 300}})
        calls.push_back(random_paged(layout.shape(lengths), 35, 35));
    const auto as_expected = [](const PagedInputs& inputs) {
        return std::pair{inputs, expect_paged(inputs)};
    };
    std::vector<std::pair<PagedInputs, AttentionExpected>> all;
    for (const PagedInputs& inputs : calls)
        all.push_back(as_expected(inputs));
    all[2].first.table[static_cast<size_t>(calls[2].pages_per_sequence + 1)] = -1;
    all[3].first.lengths[0] = -1;
    for (const auto& [name, idea, function] : attentions()) {
        const wb::PagedWorkspace workspace(kCounters);
        for (size_t call = 0; call < all.size(); ++call) {
            const auto& [inputs, expected] = all[call];
            const bool is_faulty = call == 2 || call == 3;
            Grader grade(name, inputs.text() + ", call " + std::to_string(call));
            const wb::PagedCache cache = cache_on_device(grade, inputs);
            const auto* q = grade.input("q", inputs.q);
            const int64_t heads = inputs.shape.query_heads;
            auto* o = grade.output<__nv_bfloat16>("o", {3, heads, layout.head_dim});
            grade.run([&, function = function](cudaStream_t s) {
                function(cache, q, o, nullptr, heads, inputs.scale(), workspace, s);
            });
            if (is_faulty) {
                REQUIRE_THROWS_AS(workspace.check(nullptr), wb::PagedCacheError);
                continue;
            }
            workspace.check(nullptr);
            const auto& bounds = expected.o_bound;
            grade.expect("o", expected.o, [&](int64_t i) {
                return bounds[static_cast<size_t>(i)];
            });
        }
    }
}

/// append_kv for other tokens, other pages and other sequences in between.
inline void grade_append_again() {
    const auto graded = [](const PagedShape& shape, uint64_t seed) {
        const PagedInputs inputs = random_paged(shape, seed, seed);
        std::vector<NewTokens> prompts;
        for (int64_t s = 0; s < inputs.batch(); ++s)
            prompts.push_back({s, 0, inputs.lengths[static_cast<size_t>(s)]});
        grade_append(inputs, tokens_of(inputs, prompts), with_seed(inputs, seed));
    };
    PagedShape first{{5, 20}, 16};
    first.kv_heads = 2;
    const PagedShape other{{33, 1, 3}, 32};
    wb::testing::expect_independent([&] { graded(first, 1); },
                                    [&] { graded(other, 2); },
                                    [&] { graded(first, 3); });
}

}  // namespace paged_grading
