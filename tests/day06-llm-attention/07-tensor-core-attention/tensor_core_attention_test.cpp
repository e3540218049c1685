// Grades day06-llm-attention/07-tensor-core-attention: sizes, masks, and edges that
// meet.
#include "grade_types.h"

#include <wb/testing/attention_grade.h>
#include <wb/testing/attention_sizes.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/other_device.h>
#include <wb/testing/simulator.h>

#include <algorithm>
#include <type_traits>

using namespace wb::testing;
using wb::AttentionShape;

namespace {

/// The covering design of this chapter, and what of it has this mask.
void grade_edges(Mask mask) {
    static const auto cases = [] {
        AttentionLevels levels;
        levels.types = {"fp16", "bf16"};
        levels.head_dims = {64, 128};
        levels.kv_heads = {1, 2};
        levels.groups = {1, 2, 4};
        levels.queries = {1, 31, 33, 64, 65, 129};
        levels.keys = {1, 7, 63, 64, 65, 129};
        levels.most_products = 1'100'000;
        return attention_cases(levels);
    }();
    const auto graded = [](const AttentionCase& c, auto zero) {
        using T = decltype(zero);
        const auto stored = as_stored<T>(inputs_of(c));
        const auto expected = expect_stored<T>(c.shape, stored);
        for (const auto& [name, idea, attention] :
             whose_turn(implementations_of<T>(), c.seed))
            grade_rung<T>(
                name, attention, c.shape, stored, expected, c.text, c.with_lse);
    };
    for_each_case(cases, mask, [&](const AttentionCase& c) {
        if (c.type == 0)
            graded(c, __half());
        else
            graded(c, __nv_bfloat16());
    });
}

/// The design of strength three, and what of it has this mask and head dimension: all
/// of it would take one test case longer than a learner waits.
void grade_triples(bool causal, int64_t head_dim) {
    static const auto cases = [] {
        TripleLevels levels;
        levels.types = {"fp16", "bf16"};
        levels.head_dims = {64, 128};
        levels.kv_heads = {1, 2};
        levels.groups = {1, 2, 3};
        levels.most_products = 1'300'000;
        return triple_cases(levels);
    }();
    for (const TripleCase& c : cases) {
        if (c.shape.causal != causal || c.shape.head_dim != head_dim) continue;
        DYNAMIC_SECTION(c.name()) {
            if (c.type == 0)
                grade_triple_of<__half>(c);
            else
                grade_triple_of<__nv_bfloat16>(c);
        }
    }
}

/// Rows of scores far from each other.
template <class T>
void grade_far_rows(const AttentionShape& shape) {
    const auto stored = as_stored<T>(uneven_rows(shape, 1));
    const auto expected = expect_stored<T>(shape, stored);
    for (const auto& [name, idea, attention] : last_of(implementations_of<T>()))
        grade_rung<T>(name,
                      attention,
                      shape,
                      stored,
                      expected,
                      ", rows of scores far from each other");
}

/// The shapes of many rows that are chosen.
template <class Chosen>
void grade_many(Chosen is_chosen) {
    for (const auto& shape : shapes_of_many(64, true, 259, {128}))
        if (is_chosen(shape)) grade_far_rows<__half>(shape);
}

}  // namespace

TEST_CASE("one query and one key: the output is the value, to the bit") {
    const auto shape = plain_attention(1, 2, 1, 1, 64);
    const auto inputs = wb::testing::random_attention(shape, 1);
    const auto exact = [&](auto zero) {
        using T = decltype(zero);
        const auto stored = as_stored<T>(inputs);
        auto expected = expect_stored<T>(shape, stored);
        expected.o.assign(stored.v.begin(), stored.v.end());
        std::fill(expected.o_bound.begin(), expected.o_bound.end(), 0.0);
        grade_stored<T>(shape, stored, expected, ", one key");
    };
    exact(__half());
    exact(__nv_bfloat16());
}

TEST_CASE("sixteen keys, each with a value of its own: who holds what") {
    // Query i gives nearly all weight to key i (i + 1) / 2 % 16, whose value tells its
    // number: a row or a column of a fragment in a wrong place is a wrong number.
    auto shape = plain_attention(1, 1, 16, 16, 64);
    shape.scale = 1.0f;
    auto inputs = constant_inputs(shape, 0.0f, 0.0f, 0.0f);
    for (size_t i = 0; i < 16; ++i) {
        inputs.q[i * 64 + i] = 32.0f;
        inputs.k[i * (i + 1) / 2 % 16 * 64 + i] = 1.0f;
        for (size_t d = 0; d < 64; ++d)
            inputs.v[i * 64 + d] = static_cast<float>(16 * (d % 8) + i);
    }
    grade(shape, inputs, ", query i sees key i (i + 1) / 2 % 16");
}

TEST_CASE("as many queries as keys, from one to odd primes") {
    for (const int64_t n : {1, 3, 16, 31, 33, 61, 64, 65, 127, 129})
        grade(plain_attention(1, 1, n, n, 64), static_cast<uint64_t>(n));
}

TEST_CASE("every remainder of queries and of keys by 64") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    for (int64_t n = 1; n < 64; ++n) {
        const auto shape = plain_attention(1, 1, n, 64 - n, 64);
        for (const auto& [name, idea, attention] :
             whose_turn(implementations_of<__half>(), static_cast<std::uint64_t>(n))) {
            const auto stored = as_stored<__half>(random_attention(shape, 1));
            grade_rung<__half>(name,
                               attention,
                               shape,
                               stored,
                               expect_stored<__half>(shape, stored),
                               ", seed 1");
        }
    }
}

TEST_CASE("nothing is kept from call to call") {
    const auto first = plain_attention(1, 2, 5, 33, 128);
    auto other = plain_attention(2, 3, 35, 17, 64, true);
    other.scale = -0.3f;
    wb::testing::expect_independent(
        [&] { grade(first); }, [&] { grade(other); }, [&] { grade(first, 3); });
    wb::testing::on_another_device([&] { grade(first); });
}

TEST_CASE("nothing is kept from call to call with many keys and heads", "[long]") {
    if (wb::testing::is_watched()) return;  // there, accesses are no others
    using T = __half;
    for (const auto& shape :
         {plain_attention(1, 1, 7, 1301, 64), plain_attention(1, 66, 1, 2, 64)}) {
        const auto graded = [&](uint64_t seed) {
            const auto stored = as_stored<T>(random_attention(shape, seed));
            const auto expected = expect_stored<T>(shape, stored);
            const std::string text = ", seed " + std::to_string(seed);
            for (const auto& [name, idea, attention] : last_of(implementations_of<T>()))
                grade_rung<T>(name, attention, shape, stored, expected, text);
        };
        wb::testing::expect_independent([&] { graded(1); }, [&] { graded(3); });
    }
}

TEST_CASE("nothing is kept from call to call, whatever kernel it is", "[long]") {
    if (wb::testing::is_watched()) return;  // there, accesses are no others
    const auto graded = [](const AttentionShape& shape, auto zero, uint64_t seed) {
        using T = decltype(zero);
        const auto stored = as_stored<T>(random_attention(shape, seed));
        const auto expected = expect_stored<T>(shape, stored);
        const std::string text = ", seed " + std::to_string(seed);
        for (const auto& [name, idea, attention] : last_of(implementations_of<T>()))
            grade_rung<T>(name, attention, shape, stored, expected, text);
    };
    for (const auto& shape : shapes_at_once({64, 128}, 3)) {
        wb::testing::expect_independent([&] { graded(shape, __half(), 1); },
                                        [&] { graded(shape, __half(), 3); });
        wb::testing::expect_independent([&] { graded(shape, __nv_bfloat16(), 1); },
                                        [&] { graded(shape, __nv_bfloat16(), 3); });
    }
}

TEST_CASE("no block waits for one that may not have begun") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    for (const bool last_first : {true, false}) {
        const FewBlocks few(2, last_first);
        grade(plain_attention(1, 3, 130, 67, 64));
    }
}

TEST_CASE("more keys than 16 bits count: the last one decides", "[long]") {
    constexpr int64_t kKeys = 65'601;
    const auto graded = [](auto zero, bool causal) {
        using T = decltype(zero);
        auto shape = plain_attention(1, 1, causal ? 2 : 1, kKeys, 64, causal);
        shape.scale = 1.0f;
        auto inputs = constant_inputs(shape, 1.0f, 0.0f, 1.0f);
        inputs.k[(kKeys - 1) * 64] = 16.0f;
        std::fill_n(inputs.v.begin() + (kKeys - 1) * 64, 64, -1.0f);
        const auto expected = expect_stored<T>(shape, inputs);
        for (const auto& [name, idea, attention] : last_of(implementations_of<T>()))
            grade_rung<T>(
                name, attention, shape, inputs, expected, ", the last score 16");
    };
    graded(__half(), false);
    graded(__nv_bfloat16(), true);
}

TEST_CASE("batches and heads keep to themselves") {
    grade(plain_attention(2, 3, 13, 11, 64));
    auto groups = plain_attention(2, 9, 13, 11, 64);
    groups.kv_heads = 3;
    grade(groups);
}

TEST_CASE("causal: more heads than there is room for in the L2 cache") {
    // A launcher may order its blocks by what the cache holds: here, the keys and
    // values of 130 heads; of two; of less than one.
    const auto graded = [](size_t l2_bytes, int64_t heads, int64_t queries) {
        const SmallCache cache(l2_bytes);
        const auto shape = plain_attention(1, heads, queries, 1, 64, true);
        const auto stored = as_stored<__half>(wb::testing::random_attention(shape, 1));
        // The contract's function alone: the simulator needs a while for so many heads.
        grade_rung<__half>(
            "tensor_core_attention",
            [](auto... arguments) { tensor_core_attention(arguments...); },
            shape,
            stored,
            expect_stored<__half>(shape, stored),
            "");
    };
    constexpr size_t kHeadBytes = 2 * 64 * sizeof(__half);
    graded(3 * 130 * kHeadBytes, 140, 1);  // a third of it is for keys and values
    graded(3 * 2 * kHeadBytes, 3, 129);
    graded(100, 3, 129);
}

TEST_CASE("query heads of a group share their keys and values") {
    for (const int64_t D : {64, 128}) {
        // The rows of a warp see one tile of keys, or two.
        grade(grouped(plain_attention(1, 8, 5, 67, D, true), 2));
        grade(grouped(plain_attention(1, 7, 2, 65, D, true), 1));
        // 41 * (1.0f / 41) is less than 1.
        if (!wb::testing::is_watched())
            grade(grouped(plain_attention(1, 82, 1, 3, D), 2));
    }
    // Threads race for the tiles of a shape, not for its heads.
    if (wb::testing::is_watched()) return;
    grade_type<__half>(
        grouped(plain_attention(2, 35, 1, 3, 64), 7),
        random_attention(grouped(plain_attention(2, 35, 1, 3, 64), 7), 1),
        ", seed 1");
}

TEST_CASE("causal: the last query sees the last key, however many there are") {
    for (const int64_t n : {1, 15, 33, 64, 65, 129})
        grade(plain_attention(1, 1, n, n, 64, true), static_cast<uint64_t>(n));
    for (const auto [queries, keys] : wb::testing::unequal_lengths())
        grade(plain_attention(1, 1, queries, keys, 64, true));
}

TEST_CASE("causal over many tiles of rows and of keys") {
    grade(plain_attention(1, 1, 150, 333, 64, true));
}

TEST_CASE("other numbers of keys than of queries") {
    for (const auto [queries, keys] : wb::testing::unequal_lengths())
        grade(plain_attention(1, 1, queries, keys, 64));
}

TEST_CASE("a query that sees no key gives zeros and minus infinity") {
    grade(plain_attention(1, 2, 5, 1, 64, true));
    grade(plain_attention(1, 1, 150, 40, 64, true));
}

TEST_CASE("no keys at all: zeros and minus infinity, and they are written") {
    const auto graded = [](const AttentionShape& shape, bool with_lse) {
        const auto inputs = random_attention(shape, 1);
        const std::string text = with_lse ? "" : ", lse = nullptr";
        grade_type<__half>(shape, inputs, text, with_lse);
        grade_type<__nv_bfloat16>(shape, inputs, text, with_lse);
    };
    for_each_without_keys({64, 128}, graded, 3);
}

TEST_CASE("edges meet: no mask") {
    grade_edges(Mask::none);
}

TEST_CASE("edges meet: causal, as many queries as keys") {
    grade_edges(Mask::causal);
}

TEST_CASE("edges meet: causal, fewer queries than keys") {
    grade_edges(Mask::fewer_queries);
}

TEST_CASE("edges meet: causal, more queries than keys") {
    grade_edges(Mask::more_queries);
}

TEST_CASE("any three edges meet: no mask, 64 columns", "[long]") {
    grade_triples(false, 64);
}

TEST_CASE("any three edges meet: no mask, 128 columns", "[long]") {
    grade_triples(false, 128);
}

TEST_CASE("any three edges meet: causal, 64 columns", "[long]") {
    grade_triples(true, 64);
}

TEST_CASE("any three edges meet: causal, 128 columns", "[long]") {
    grade_triples(true, 128);
}

TEST_CASE("sizes past 4096, along each dimension", "[long]") {
    using T = __half;  // the type plays no part in them
    for (const auto& shape : {plain_attention(1, 1, 3, 5003, 64, true),
                              plain_attention(1, 1, 1, 2101, 128),
                              plain_attention(1, 1, 4099, 2, 64)}) {
        const auto inputs = chosen_keys(shape, 1);
        auto expected = expect_equal_weights(shape, inputs);
        for (size_t i = 0; i < expected.o.size(); ++i)
            expected.o_bound[i] = stored_bound<T>(expected.o[i], expected.o_bound[i]);
        const auto number = static_cast<std::uint64_t>(shape.keys);
        for (const auto& [name, idea, attention] :
             whose_turn(implementations_of<T>(), number))
            grade_rung<T>(
                name, attention, shape, inputs, expected, ", seven keys of eight");
    }
    const auto row = plain_attention(1, 1, 1, 4131, 64);
    grade_type<T>(
        row, with_logits(row, Logits::peak, {}, 1), ", the largest in the middle");
    const auto shorter = plain_attention(1, 1, 1, 1101, 64);
    grade_type<__nv_bfloat16>(
        shorter, with_logits(shorter, Logits::rising, {}, 1), ", rising logits");
}

TEST_CASE("many keys of each head dimension and type, seen or masked", "[long]") {
    const auto graded = [](const AttentionShape& shape, auto zero) {
        using T = decltype(zero);
        const auto inputs = chosen_keys(shape, 1);
        for (const auto& [name, idea, attention] : last_of(implementations_of<T>()))
            grade_rung<T>(name,
                          attention,
                          shape,
                          inputs,
                          InType<T>::chosen(shape, inputs),
                          ", seven keys of eight",
                          /*with_lse=*/std::is_same_v<T, __half>);
    };
    for (const auto& shapes :
         {shapes_of_many_keys({64, 128}), shapes_of_many_tiles({64, 128}, 2)})
        for (const AttentionShape& shape : shapes) {
            graded(shape, __half());
            graded(shape, __nv_bfloat16());
        }
}

TEST_CASE("many batches, heads, or heads of a group", "[long]") {
    grade_many([](const AttentionShape& shape) { return shape.queries <= 17; });
}

TEST_CASE("more than 4096 queries, and more than 2^16 rows", "[long]") {
    grade_many([](const AttentionShape& shape) {
        return shape.keys <= 2 && shape.queries > 17;
    });
}

TEST_CASE("causal: many queries and keys", "[long]") {
    grade_many([](const AttentionShape& shape) { return shape.causal; });
}

TEST_CASE("many of two sizes at once", "[long]") {
    int count = 0;
    for (const auto& shape : shapes_of_pairs({64, 128}, true)) {
        if (count++ % 4 < 2)  // each type with each head dimension
            grade_far_rows<__half>(shape);
        else
            grade_far_rows<__nv_bfloat16>(shape);
    }
}

TEST_CASE("right whatever order the threads run in") {
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3);
    wb::testing::shuffle_threads(seed);
    grade(plain_attention(1, 1, 40, 200, 64, true), seed);
    wb::testing::shuffle_threads(0);
}
