// Grades day06-llm-attention/08-hopper-attention.
#include <wb/testing/attention_arguments.h>
#include <wb/testing/attention_grade.h>
#include <wb/testing/attention_traps.h>
#include <wb/testing/attention_triples.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>
#include <wb/testing/special_attention.h>

#include "hopper_grading.h"
#include "packed_edges.h"
#include "packed_grading.h"

namespace {

using namespace hopper_grading;

/// The covering design of this chapter, and what of it has this mask.
void grade_edges(Mask mask) {
    static const auto cases = [] {
        AttentionLevels levels;
        levels.types = {"fp16", "bf16"};
        levels.head_dims = {64, 128, 256};
        levels.kv_heads = {1, 2};
        levels.groups = {1, 2, 4};
        levels.queries = {1, 7, 63, 64, 65, 129};
        levels.keys = {1, 7, 64, 65, 127, 128, 129};
        levels.scales = {0.0f, 0.05f, 1.0f};  // not negative
        levels.most_products = 1'100'000;
        return attention_cases(levels);
    }();
    const auto graded = [](const AttentionCase& c, auto zero) {
        using T = decltype(zero);
        const auto stored = as_stored<T>(inputs_of(c));
        grade_these<T>(whose_turn(implementations_of<T>(), c.seed),
                       c.shape,
                       stored,
                       expect_half<T>(c.shape, stored),
                       c.text,
                       c.with_lse);
    };
    for_each_case(cases, mask, [&](const AttentionCase& c) {
        c.type == 0 ? graded(c, __half()) : graded(c, __nv_bfloat16());
    });
}

/// The covering design of strength three, for the last version.
void grade_three_edges(bool causal) {
    static const auto cases = [] {
        TripleLevels levels;
        levels.types = {"fp16", "bf16"};
        levels.head_dims = {64, 128, 256};
        levels.kv_heads = {1, 2};
        levels.groups = {1, 3};
        levels.queries = {1, 33, 131};
        levels.keys = {3, 97, 300};
        levels.row_tile = 128;
        levels.most_products = 20'000'000;
        levels.negative_scales = false;
        return triple_cases(levels);
    }();
    const auto graded = [](const TripleCase& c, auto zero) {
        using T = decltype(zero);
        grade_triple<InType<T>>(c,
                                [&](const AttentionInputs& inputs,
                                    const AttentionExpected& expected,
                                    const std::string& text,
                                    bool with_lse) {
                                    grade_these<T>(last_of(implementations_of<T>()),
                                                   c.shape,
                                                   inputs,
                                                   expected,
                                                   text,
                                                   with_lse);
                                });
    };
    for (const TripleCase& c : cases) {
        if (c.shape.causal != causal) continue;
        DYNAMIC_SECTION(c.name()) {
            c.type == 0 ? graded(c, __half()) : graded(c, __nv_bfloat16());
        }
    }
}

}  // namespace

TEST_CASE("one query and one key: the output is the value, to the bit") {
    NEEDS_HOPPER();
    const auto shape = plain_attention(1, 2, 1, 1, 64);
    const auto inputs = random_attention(shape, 1);
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

TEST_CASE("head dimensions 64, 128 and 256, in fp16 and bf16") {
    NEEDS_HOPPER();
    for (const int64_t D : {64, 128, 256})
        grade(plain_attention(1, 1, 67, 67, D));
}

TEST_CASE("numbers of rows and keys around the tiles' sizes") {
    NEEDS_HOPPER();
    for (const int64_t n : {2, 63, 64, 65, 127, 128, 129, 193, 257})
        grade_bf16(plain_attention(1, 1, n, n, 64), static_cast<uint64_t>(n));
    for (const int64_t n : {96, 97, 176, 177})
        grade_bf16(plain_attention(1, 1, 1, n, 64), 1);
    for (const int64_t n : {129, 177, 193})
        grade_bf16(plain_attention(1, 1, n, n, 128), 1);
    for (const int64_t n : {80, 81, 129})
        grade_bf16(plain_attention(1, 1, n, n, 256), 1);
}

TEST_CASE("other numbers of keys than of queries") {
    NEEDS_HOPPER();
    for (const auto [queries, keys] : unequal_lengths())
        grade_bf16(plain_attention(1, 1, queries, keys, 64));
    grade_bf16(plain_attention(1, 1, 3, 400, 128));
}

TEST_CASE("causal: the last query sees the last key, however many there are") {
    NEEDS_HOPPER();
    for (const int64_t n : {1, 64, 65, 129, 200})
        grade_bf16(plain_attention(1, 1, n, n, 64, true), static_cast<uint64_t>(n));
    for (const auto [queries, keys] : unequal_lengths())
        grade_bf16(plain_attention(1, 1, queries, keys, 64, true));
    grade_bf16(plain_attention(1, 1, 70, 333, 128, true));
}

TEST_CASE("a query that sees no key gives zeros and minus infinity") {
    NEEDS_HOPPER();
    grade_bf16(plain_attention(1, 2, 5, 1, 64, true));
    grade(plain_attention(2, 1, 3, 0, 64));
    // Whole tiles, however many rows these have.
    grade_bf16(plain_attention(1, 1, 240, 40, 128, true));
    grade_bf16(plain_attention(1, 1, 300, 20, 64, true));
    grade(plain_attention(1, 1, 200, 20, 256, true));
}

TEST_CASE(
    "without keys: each head dimension, type and mask, with shared heads or not") {
    NEEDS_HOPPER();
    const auto graded = [](const AttentionShape& shape, auto zero, bool with_lse) {
        using T = decltype(zero);
        const auto stored = as_stored<T>(random_attention(shape, 1));
        grade_these<T>(wb::testing::last_of(implementations_of<T>()),
                       shape,
                       stored,
                       expect_half<T>(shape, stored),
                       with_lse ? "" : ", no lse",
                       with_lse);
    };
    wb::testing::for_each_without_keys(
        {64, 128, 256},
        [&](const AttentionShape& shape, bool with_lse) {
            graded(shape, __half(), with_lse);
            graded(shape, __nv_bfloat16(), with_lse);
        },
        3);
}

TEST_CASE("without keys, all rows of a long call are zeros, and k and v may be null") {
    NEEDS_HOPPER();
    using T = __nv_bfloat16;
    const auto shape = plain_attention(1, 2, 400, 0, 128);
    const auto inputs = as_stored<T>(random_attention(shape, 1));
    for (const auto& [name, idea, attention] : implementations_of<T>()) {
        for (const bool with_lse : {true, false}) {
            Grader grade(name, describe(shape) + ", k = v = nullptr");
            const T* q = grade.input("q", rounded<T>(inputs.q));
            T* o = grade.output<T>("o", {1, 2, 400, 128});
            float* lse = with_lse ? grade.output<float>("lse", {1, 2, 400}) : nullptr;
            grade.run([&, attention = attention](cudaStream_t stream) {
                attention(shape, q, nullptr, nullptr, o, lse, stream);
            });
            expect_both(grade, expect_half<T>(shape, inputs), with_lse);
        }
    }
}

TEST_CASE("nothing is kept from call to call") {
    NEEDS_HOPPER();
    wb::testing::expect_independent(
        [&] { grade(plain_attention(1, 2, 5, 33, 64)); },
        [&] { grade(plain_attention(1, 1, 70, 17, 128, true)); },
        [&] { grade(plain_attention(1, 2, 5, 33, 64), 3); });
}

TEST_CASE("nothing is kept from call to call, whatever kernel it is", "[long]") {
    NEEDS_HOPPER();
    if (wb::testing::is_watched()) return;  // there, accesses are no others
    const auto graded = [](const AttentionShape& shape, auto zero, uint64_t seed) {
        using T = decltype(zero);
        const auto stored = as_stored<T>(random_attention(shape, seed));
        grade_these<T>(wb::testing::last_of(implementations_of<T>()),
                       shape,
                       stored,
                       expect_half<T>(shape, stored),
                       ", seed " + std::to_string(seed),
                       true);
    };
    for (const auto& shape : wb::testing::shapes_at_once({64, 128, 256}, 3)) {
        wb::testing::expect_independent([&] { graded(shape, __half(), 1); },
                                        [&] { graded(shape, __half(), 3); });
        wb::testing::expect_independent([&] { graded(shape, __nv_bfloat16(), 1); },
                                        [&] { graded(shape, __nv_bfloat16(), 3); });
    }
}

TEST_CASE("the arrays of an earlier call, which was of other sizes") {
    NEEDS_HOPPER();
    // Nothing belongs to an address: no size, no tensor map.
    const auto shape = plain_attention(1, 2, 20, 33, 64);
    const auto stored = as_stored<__nv_bfloat16>(random_attention(shape, 1));
    const auto expected = expect_half<__nv_bfloat16>(shape, stored);
    for (const auto& [name, idea, attention] : implementations_of<__nv_bfloat16>()) {
        Grader grade(name, describe(shape) + ", in the arrays of another call");
        const __nv_bfloat16* q =
            grade.input("q", rounded<__nv_bfloat16>(stored.q), Begin::vectors);
        const __nv_bfloat16* k =
            grade.input("k", rounded<__nv_bfloat16>(stored.k), Begin::vectors);
        const __nv_bfloat16* v =
            grade.input("v", rounded<__nv_bfloat16>(stored.v), Begin::vectors);
        __nv_bfloat16* o =
            grade.output<__nv_bfloat16>("o", {1, 2, 20, 64}, Begin::vectors);
        float* lse = grade.output<float>("lse", {1, 2, 20});
        grade.run([&, attention = attention](cudaStream_t stream) {
            const auto before = plain_attention(1, 1, 7, 5, 64, true);
            attention(before, q, k, v, o, lse, stream);
            attention(shape, q, k, v, o, lse, stream);
        });
        expect_both(grade, expected);
    }
}

TEST_CASE("batches and heads keep to themselves") {
    NEEDS_HOPPER();
    grade(plain_attention(2, 3, 33, 31, 64));
    grade_bf16(plain_attention(2, 3, 70, 90, 128, true));
}

TEST_CASE("grouped queries: heads that share keys and values") {
    NEEDS_HOPPER();
    grade_bf16(grouped(plain_attention(2, 6, 40, 50, 64), 2));
    grade_bf16(grouped(plain_attention(1, 4, 150, 150, 128, true), 1));
    grade_bf16(grouped(plain_attention(1, 18, 3, 5, 64), 9));
}

TEST_CASE("more heads and sequences than a byte counts") {
    NEEDS_HOPPER();
    if (wb::testing::is_watched()) return;
    using T = __nv_bfloat16;
    const auto shape = grouped(plain_attention(3, 90, 1, 3, 64), 45);
    const auto stored = as_stored<T>(random_attention(shape, 1));
    grade_these<T>(whose_turn(implementations_of<T>(), 4),
                   shape,
                   stored,
                   expect_half<T>(shape, stored),
                   ", seed 1",
                   true);
}

TEST_CASE("many blocks of keys: every stage is used again and again") {
    NEEDS_HOPPER();
    // Values tell where they come from: a block that is read a round too early, or too
    // late, shows.
    const auto shape = plain_attention(1, 1, 40, 1500, 64);
    auto inputs = equal_weights(shape, 1);
    for (size_t i = 0; i < inputs.v.size(); ++i)
        inputs.v[i] = static_cast<float>(i / 64 / 128) + inputs.v[i] / 16.0f;
    grade_type<__nv_bfloat16>(shape, inputs, ", q = 0, v the number of its block");
    grade_bf16(plain_attention(1, 1, 130, 1100, 128));
}

TEST_CASE("sizes past 4096, along each dimension", "[long]") {
    NEEDS_HOPPER();
    // The type plays no part in them. A key that is lost shows in lse.
    using T = __nv_bfloat16;
    uint64_t turn = 0;
    const auto graded = [&](const AttentionShape& shape,
                            const AttentionInputs& inputs,
                            const char* text) {
        const auto stored = as_stored<T>(inputs);
        grade_these<T>(whose_turn(implementations_of<T>(), turn++),
                       shape,
                       stored,
                       expect_half<T>(shape, stored),
                       text,
                       true);
    };
    for (const auto& shape : {plain_attention(1, 1, 3, 4131, 64, true),
                              plain_attention(1, 2, 1, 1101, 128),
                              plain_attention(1, 1, 1, 1101, 256),
                              plain_attention(1, 1, 4099, 2, 64)})
        graded(shape, chosen_keys(shape, 1), ", seven keys of eight chosen");
    const auto row = plain_attention(1, 1, 1, 4131, 64);
    graded(row, with_logits(row, Logits::peak, {}, 1), ", the largest in the middle");
}

TEST_CASE("many of two sizes at once", "[long]") {
    NEEDS_HOPPER();
    const auto graded = [](const AttentionShape& shape, auto zero) {
        using T = decltype(zero);
        const auto stored = as_stored<T>(wb::testing::uneven_rows(shape, 1));
        grade_these<T>(wb::testing::last_of(implementations_of<T>()),
                       shape,
                       stored,
                       expect_half<T>(shape, stored),
                       ", rows of scores far from each other",
                       true);
    };
    bool is_half = false;
    for (const auto& shape : wb::testing::shapes_of_pairs({64, 128, 256}, true, 131)) {
        is_half = !is_half;  // three head dimensions: each meets both types
        if (is_half)
            graded(shape, __half());
        else
            graded(shape, __nv_bfloat16());
    }
}

TEST_CASE("many keys, and large scores, of each head dimension") {
    NEEDS_HOPPER();
    // A score of 10^4 that passes through 16 bits is off by units.
    for (const int64_t D : {64, 128, 256}) {
        const auto shape = plain_attention(1, 1, 3, 700, D);
        const auto inputs = with_logits(shape, Logits::high, {}, 1);
        grade_type<__half>(shape, inputs, ", logits near 10^4");
        grade_type<__nv_bfloat16>(shape, inputs, ", logits near 10^4");
    }
}

TEST_CASE("edges meet: no mask") {
    NEEDS_HOPPER();
    grade_edges(Mask::none);
}

TEST_CASE("edges meet: causal, as many queries as keys") {
    NEEDS_HOPPER();
    grade_edges(Mask::causal);
}

TEST_CASE("edges meet: causal, fewer queries than keys") {
    NEEDS_HOPPER();
    grade_edges(Mask::fewer_queries);
}

TEST_CASE("edges meet: causal, more queries than keys") {
    NEEDS_HOPPER();
    grade_edges(Mask::more_queries);
}

TEST_CASE("any three edges meet: no mask", "[long]") {
    NEEDS_HOPPER();
    grade_three_edges(false);
}

TEST_CASE("any three edges meet: causal", "[long]") {
    NEEDS_HOPPER();
    grade_three_edges(true);
}

TEST_CASE("right whatever order the threads run in") {
    NEEDS_HOPPER();
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3);
    wb::testing::shuffle_threads(seed);
    grade_bf16(plain_attention(1, 1, 140, 300, 64, true), seed);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("warpgroups that need fewer blocks of keys than their tile, in any order",
          "[slow]") {
    NEEDS_HOPPER();
    // Above the diagonal, and behind the last row. A warp that is late must not miss a
    // tile that its warpgroup does not need.
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3, 4, 5, 6);
    if (is_watched() && seed > 2) return;  // the checker needs no luck with an order
    wb::testing::shuffle_threads(seed);
    grade_bf16(plain_attention(1, 1, 400, 700, 64, true), seed);
    grade_bf16(plain_attention(1, 1, 65, 900, 64), seed);
    if (seed <= 2) grade_bf16(plain_attention(1, 1, 200, 300, 256, true), seed);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("no queries: nothing is launched") {
    NEEDS_HOPPER();
    Grader grade("hopper_attention", "queries = 0, batch = 0, or no heads");
    grade.expect_no_work([](cudaStream_t s) {
        __half* const fp16 = nullptr;
        __nv_bfloat16* const bf16 = nullptr;
        for (const auto& shape : {plain_attention(1, 1, 0, 7, 64),
                                  plain_attention(0, 2, 7, 7, 64),
                                  plain_attention(2, 0, 7, 7, 64)}) {
            hopper_attention(shape, fp16, fp16, fp16, fp16, nullptr, s);
            hopper_attention(shape, bf16, bf16, bf16, bf16, nullptr, s);
        }
    });
}

TEST_CASE("wrong arguments are refused by name") {
    NEEDS_HOPPER();
    Grader memory("hopper_attention", "wrong arguments");
    __half* d = memory.output<__half>("d", {2 * 4 * 64 + 8});
    const auto good = plain_attention(1, 2, 4, 4, 64);
    const auto refused = [&](const std::string& part, const AttentionShape& shape) {
        expect_refused("hopper_attention", describe(shape), part, [&] {
            hopper_attention(shape, d, d, d, d, nullptr, nullptr);
        });
    };
    refused("shape.batch is -1", plain_attention(-1, 2, 4, 4, 64));
    refused("shape.keys is 2147483648", plain_attention(1, 2, 4, int64_t{1} << 31, 64));
    refused("shape.queries is 2147483648",
            plain_attention(1, 2, int64_t{1} << 31, 4, 64));
    refused("batch * query_heads * queries * head_dim",
            plain_attention(int64_t{1} << 33, 2, int64_t{1} << 30, 4, 64));
    refused("shape.head_dim is 32", plain_attention(1, 2, 4, 4, 32));
    refused("shape.head_dim is 96", plain_attention(1, 2, 4, 4, 96));
    auto scaled = good;
    scaled.scale = -0.5f;
    refused("shape.scale is -0.5, but must not be negative", scaled);
    for (const float scale : {NAN, INFINITY, 0x1.8p127f}) {
        scaled.scale = scale;
        refused("shape.scale is ", scaled);
    }
    refused("shape.query_heads is 3", grouped(plain_attention(1, 3, 2, 2, 64), 2));
    refused("shape.query_heads is 2", grouped(good, 0));
    const auto pointers = [&](auto zero) {
        auto* const p = reinterpret_cast<decltype(zero)*>(d);
        wb::testing::expect_shapes_refused(
            "hopper_attention", good, true, [&](const AttentionShape& shape) {
                hopper_attention(shape, p, p, p, p, nullptr, nullptr);
            });
        wb::testing::expect_pointers_refused<decltype(zero)>(
            "hopper_attention",
            [](auto... arguments) { hopper_attention(arguments...); },
            plain_attention(1, 1, 4, 4, 64),
            true);
    };
    pointers(__half());
    pointers(__nv_bfloat16());

    PackedShape packed{1, 2, 1, 4, 4, 4, 64};
    const auto packed_refused = [&](const std::string& part) {
        expect_refused("hopper_attention_packed", part, part, [&] {
            int32_t* const starts = reinterpret_cast<int32_t*>(d);
            hopper_attention_packed(
                packed, d, d, d, starts, starts, d, nullptr, nullptr);
        });
    };
    packed.query_stride = 130;
    packed_refused("shape.query_stride is 130");
    packed.query_stride = 64;
    packed_refused("shape.query_stride is 64");
    packed.query_stride = 0;
    packed.kv_heads = 3;
    packed_refused("shape.query_heads is 2");
}
