// Grades day06-llm-attention/06-mixed-precision-attention: sizes, masks, and edges that
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
#include <string>
#include <vector>

using namespace wb::testing;
using wb::AttentionShape;

namespace {

/// The covering design of this chapter, and what of it has this mask.
void grade_edges(Mask mask) {
    static const auto cases = [] {
        AttentionLevels levels;
        levels.types = {"fp16", "bf16"};
        levels.head_dims = {32, 64, 128};
        levels.logits.push_back(Logits::highest);
        return attention_cases(levels);
    }();
    for_each_case(cases, mask, [](const AttentionCase& c) {
        const auto inputs = inputs_of(c);
        if (c.type == 0) {
            grade_type<__half>(c.shape, inputs, c.text, c.with_lse);
        } else {
            grade_type<__nv_bfloat16>(c.shape, inputs, c.text, c.with_lse);
        }
    });
}

/// The design of strength three, and what of it has this mask: the last rung, or the
/// contract's function.
void grade_triples(bool causal) {
    static const auto cases = [] {
        TripleLevels levels;
        levels.types = {"fp16", "bf16"};
        levels.head_dims = {32, 64, 128};
        return triple_cases(levels);
    }();
    const auto graded = [](const TripleCase& c, auto zero) {
        using T = decltype(zero);
        grade_triple<InType<T>>(c,
                                [&](const AttentionInputs& inputs,
                                    const AttentionExpected& expected,
                                    const std::string& text,
                                    bool with_lse) {
                                    grade_type<T>(c.shape,
                                                  inputs,
                                                  expected,
                                                  text,
                                                  with_lse,
                                                  /*last_only=*/true);
                                });
    };
    for (const TripleCase& c : cases) {
        if (c.shape.causal != causal) continue;
        DYNAMIC_SECTION(c.name()) {
            if (c.type == 0)
                graded(c, __half());
            else
                graded(c, __nv_bfloat16());
        }
    }
}

}  // namespace

TEST_CASE("one query and one key: the output is the value, to the bit") {
    const auto shape = plain_attention(1, 2, 1, 1, 64);
    const auto inputs = wb::testing::random_attention(shape, 1);
    const auto exact = [&](auto zero) {
        using T = decltype(zero);
        const auto stored = as_stored<T>(inputs);
        for (const auto& [name, idea, attention] : implementations_of<T>()) {
            Grader grade(name, Format<T>::kName + std::string(", one key"));
            const T* d_q = grade.input("q", rounded<T>(stored.q));
            const T* d_k = grade.input("k", rounded<T>(stored.k));
            const T* d_v = grade.input("v", rounded<T>(stored.v));
            T* d_o = grade.output<T>("o", {1, 2, 1, 64});
            grade.run([&, attention = attention](cudaStream_t s) {
                attention(shape, d_q, d_k, d_v, d_o, nullptr, s);
            });
            grade.expect("o",
                         std::vector<double>(stored.v.begin(), stored.v.end()),
                         [](int64_t) { return 0.0; });
        }
    };
    exact(__half());
    exact(__nv_bfloat16());
}

TEST_CASE("as many queries as keys, from one to odd primes") {
    for (const int64_t n : wb::testing::lengths())
        grade(plain_attention(1, 2, n, n, 32), static_cast<uint64_t>(n));
}

TEST_CASE("every remainder of queries and of keys by 64") {
    if (wb::testing::is_watched()) return;  // other cases make the same accesses
    for (int64_t n = 1; n < 64; ++n) {
        const auto shape = plain_attention(1, 1, n, 64 - n, 32);
        grade_type<__half>(shape, random_attention(shape, 1), ", seed 1");
    }
}

TEST_CASE("head dimensions 32, 64 and 128") {
    for (const int64_t D : {32, 64, 128})
        grade(plain_attention(1, 1, 67, 67, D));
}

TEST_CASE("a GPU with little shared memory") {
    const LittleSharedMemory little;  // not enough for all tiles: others are launched
    for (const AttentionShape& shape : shapes_of_another_kernel({32, 64, 128}, 1)) {
        const bool with_lse = shape.queries != 13 || shape.causal;
        const auto inputs = random_attention(shape, 1);
        const std::string text = with_lse ? "" : ", lse = nullptr";
        grade_type<__half>(shape, inputs, text, with_lse);
        grade_type<__nv_bfloat16>(shape, inputs, text, with_lse);
    }
}

TEST_CASE("nothing is kept from call to call") {
    const auto first = plain_attention(1, 2, 5, 33, 64);
    auto other = plain_attention(2, 3, 35, 17, 32, true);
    other.scale = -0.3f;
    wb::testing::expect_independent(
        [&] { grade(first); }, [&] { grade(other); }, [&] { grade(first, 3); });
    wb::testing::on_another_device([&] {
        for (const int64_t D : {32, 64, 128})
            grade(plain_attention(1, 2, 5, 33, D));
    });
}

TEST_CASE("nothing is kept from call to call with many keys and heads", "[long]") {
    if (wb::testing::is_watched()) return;  // there, accesses are no others
    for (const auto& shape :
         {plain_attention(1, 1, 7, 1301, 32), plain_attention(1, 130, 1, 2, 32)}) {
        const auto graded = [&](uint64_t seed) {
            const auto inputs = random_attention(shape, seed);
            const std::string text = ", seed " + std::to_string(seed);
            grade_type<__half>(shape, inputs, text, true, /*last_only=*/true);
        };
        wb::testing::expect_independent([&] { graded(1); }, [&] { graded(3); });
    }
}

TEST_CASE("nothing is kept from call to call, whatever kernel it is", "[long]") {
    if (wb::testing::is_watched()) return;  // there, accesses are no others
    const auto graded = [](const AttentionShape& shape, auto zero, uint64_t seed) {
        const auto inputs = random_attention(shape, seed);
        const std::string text = ", seed " + std::to_string(seed);
        grade_type<decltype(zero)>(shape, inputs, text, true, /*last_only=*/true);
    };
    for (const auto& shape : shapes_at_once({32, 64, 128}, 1)) {
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
        grade(plain_attention(1, 3, 130, 67, 32));
    }
}

TEST_CASE("batches and heads keep to themselves") {
    grade(plain_attention(3, 5, 13, 11, 32));
    // Threads race for the tiles of a shape, not for its heads.
    if (wb::testing::is_watched()) return;
    // The type plays no part in the other numbers.
    for (const auto& shape :
         {plain_attention(2, 35, 1, 3, 32), plain_attention(35, 2, 1, 3, 32)})
        grade_type<__half>(shape, random_attention(shape, 1), ", seed 1");
}

TEST_CASE("causal: the last query sees the last key, however many there are") {
    for (const int64_t n : wb::testing::lengths())
        grade(plain_attention(1, 1, n, n, 32, true), static_cast<uint64_t>(n));
    for (const int64_t D : {64, 128})
        for (const int64_t n : {66, 128})
            grade(plain_attention(1, 2, n, n, D, true));
    for (const auto [queries, keys] : wb::testing::unequal_lengths())
        grade(plain_attention(2, 1, queries, keys, 32, true));
}

TEST_CASE("other numbers of keys than of queries") {
    for (const auto [queries, keys] : wb::testing::unequal_lengths())
        grade(plain_attention(2, 1, queries, keys, 32));
}

TEST_CASE("a query that sees no key gives zeros and minus infinity") {
    grade(plain_attention(1, 2, 5, 1, 32, true));
    grade(plain_attention(1, 2, 100, 40, 64, true));
}

TEST_CASE("no keys at all: zeros and minus infinity, and they are written") {
    for_each_without_keys(
        {32, 64, 128}, [](const AttentionShape& shape, bool with_lse) {
            const auto inputs = random_attention(shape, 1);
            const std::string text = with_lse ? "" : ", lse = nullptr";
            grade_type<__half>(shape, inputs, text, with_lse);
            grade_type<__nv_bfloat16>(shape, inputs, text, with_lse);
        });
}

TEST_CASE("any three edges meet: no mask", "[long]") {
    grade_triples(false);
}

TEST_CASE("any three edges meet: causal", "[long]") {
    grade_triples(true);
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

TEST_CASE("sizes past 4096, along each dimension", "[long]") {
    for (const auto& shape : {plain_attention(1, 1, 1, 8193, 32),
                              plain_attention(1, 1, 3, 4128, 32, true),
                              plain_attention(1, 1, 2, 2101, 64, true),
                              plain_attention(1, 1, 1, 2101, 128),
                              plain_attention(1, 1, 4099, 12, 64),
                              plain_attention(1, 1, 4128, 5, 32, true)})
        grade_type<__half>(
            shape, chosen_keys(shape, 1), ", seven keys of eight chosen");
#ifdef SIMT_CPU
    constexpr int64_t kKeys = 65'601;  // more than 16 bits count
#else
    constexpr int64_t kKeys = 70'001;  // over 1024 tiles: too many for a simulator
#endif
    const auto row = plain_attention(1, 1, 1, 4131, 32);
    grade_type<__half>(
        row, with_logits(row, Logits::peak, {}, 1), ", the largest in the middle");
    for (const int64_t D : {64, 128}) {
        const auto shape = plain_attention(1, 1, 3, 331, D);
        grade_type<__half>(
            shape, with_logits(shape, Logits::gentle, {}, 1), ", gently rising");
    }
    const auto shorter = plain_attention(1, 1, 1, 1101, 32);
    grade_type<__nv_bfloat16>(
        shorter, with_logits(shorter, Logits::rising, {}, 1), ", rising logits");
    // One key more or less changes no mean in 16 bits: the last one decides.
    auto shape = plain_attention(1, 1, 1, kKeys, 32);
    shape.scale = 1.0f;
    auto inputs = constant_inputs(shape, 1.0f, 0.0f, 1.0f);
    inputs.k[(kKeys - 1) * 32] = 16.0f;
    std::fill_n(inputs.v.begin() + (kKeys - 1) * 32, 32, -1.0f);
    const std::string text = ", the last score 16, the others 0";
    grade_type<__half>(shape, inputs, text, true, /*last_only=*/true);
    shape.queries = 5;  // for one, a kernel may be another
    inputs.q.resize(5 * 32, 1.0f);
    grade_type<__nv_bfloat16>(shape, inputs, text, true, /*last_only=*/true);
}

TEST_CASE("many keys of each head dimension and type, seen or masked", "[long]") {
    const std::string text = ", seven keys of eight chosen";
    for (const auto& shape : shapes_of_many_keys({32, 64, 128})) {
        const auto inputs = chosen_keys(shape, 1);
        const auto expected = expect_equal_weights(shape, inputs);
        grade_type<__half>(shape, inputs, expected, text, true, true);
        grade_type<__nv_bfloat16>(shape, inputs, expected, text, false, true);
    }
}

TEST_CASE("many tiles of queries and of keys", "[long]") {
    for (const auto& shape : shapes_of_many_tiles({32, 64, 128}, 1)) {
        const auto inputs = chosen_keys(shape, 1);
        const auto expected = expect_equal_weights(shape, inputs);
        const std::string text = ", seven keys of eight chosen";
        grade_type<__half>(shape, inputs, expected, text, true, true);
        grade_type<__nv_bfloat16>(shape, inputs, expected, text, true, true);
    }
}

TEST_CASE("more than 4096 batches, heads, or queries", "[long]") {
    const std::string text = ", rows of scores far from each other";
    for (const auto& shape : shapes_of_many(32, false, 515, {64, 128})) {
        const auto inputs = uneven_rows(shape, 1);
        grade_type<__half>(shape, inputs, text, true, true);
        grade_type<__nv_bfloat16>(shape, inputs, text, true, true);
    }
}

TEST_CASE("many of two sizes at once", "[long]") {
    const std::string text = ", rows of scores far from each other";
    bool is_half = false;
    for (const auto& shape : shapes_of_pairs({32, 64, 128}, false)) {
        const auto inputs = uneven_rows(shape, 1);
        is_half = !is_half;
        if (is_half)
            grade_type<__half>(shape, inputs, text, true, true);
        else
            grade_type<__nv_bfloat16>(shape, inputs, text, true, true);
    }
}

TEST_CASE("right whatever order the threads run in") {
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3);
    wb::testing::shuffle_threads(seed);
    grade(plain_attention(1, 1, 40, 70, 32, true), seed);
    wb::testing::shuffle_threads(0);
}
