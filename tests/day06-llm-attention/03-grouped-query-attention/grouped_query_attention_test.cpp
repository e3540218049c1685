// Grades day06-llm-attention/03-grouped-query-attention.
#include "grouped_query_attention.h"

#include <wb/check.h>
#include <wb/implementations.h>
#include <wb/testing/attention.h>
#include <wb/testing/attention_arguments.h>
#include <wb/testing/attention_grade.h>
#include <wb/testing/attention_memory.h>
#include <wb/testing/attention_sizes.h>
#include <wb/testing/attention_traps.h>
#include <wb/testing/attention_triples.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/other_device.h>
#include <wb/testing/simulator.h>
#include <wb/testing/special_attention.h>

namespace {

using wb::AttentionShape;
using wb::testing::Grader;

/// Heads that share, and those that do not.
struct Heads {
    int64_t query;
    int64_t kv;
};
const std::initializer_list<Heads> kHeads = {{3, 3}, {4, 2}, {6, 2}, {5, 1}, {8, 1}};

AttentionShape grouped(int64_t batch,
                       Heads heads,
                       int64_t queries,
                       int64_t keys,
                       int64_t head_dim,
                       bool causal = false) {
    return {batch,
            heads.query,
            heads.kv,
            queries,
            keys,
            head_dim,
            causal,
            wb::testing::usual_scale(head_dim)};
}

void grade(const AttentionShape& shape, uint64_t seed = 1) {
    wb::testing::grade_random_attention(
        "grouped_query_attention", grouped_query_attention, shape, seed);
}

/// The covering design of this chapter, and what of it has this mask.
void grade_edges(wb::testing::Mask mask) {
    static const auto cases = [] {
        wb::testing::AttentionLevels levels;
        levels.groups = {1, 2, 3, 8};
        return attention_cases(levels);
    }();
    wb::testing::grade_cases(
        "grouped_query_attention", grouped_query_attention, cases, mask);
}

/// The design of strength three.
void grade_triples(bool causal) {
    static const auto cases = [] {
        wb::testing::TripleLevels levels;
        levels.groups = {1, 2, 5};
        return triple_cases(levels);
    }();
    wb::testing::grade_triples(
        "grouped_query_attention", grouped_query_attention, cases, causal);
}

}  // namespace

TEST_CASE("one query, one key: each head's output is the value of its group") {
    for (const Heads heads : kHeads)
        grade(grouped(2, heads, 1, 1, 32));
}

TEST_CASE("more batches, heads and groups than usual") {
    grade(grouped(2, {40, 2}, 1, 3, 32));  // groups of twenty
    // Threads race for the tiles of a shape, not for its heads.
    if (wb::testing::is_watched()) return;
    grade(grouped(2, {66, 33}, 1, 3, 32));
    grade(grouped(1, {82, 2}, 1, 3, 32));  // 41 * (1.0f / 41) is less than 1
    grade(grouped(2, {130, 1}, 1, 2, 32));
    grade(grouped(131, {3, 1}, 1, 2, 32));
    grade(grouped(1, {134, 67}, 1, 2, 32));
    grade(grouped(3, {9, 9}, 1, 3, 32));  // of one
}

TEST_CASE("groups of every size up to nine, and of more") {
    for (const int64_t group : {1, 2, 3, 4, 5, 6, 7, 8, 9, 17}) {
        if (wb::testing::is_watched() && group % 3 != 0) continue;
        for (const bool causal : {false, true})
            grade(grouped(2, {2 * group, 2}, 3, 5, 32, causal));
    }
    grade(grouped(2, {17, 1}, 3, 5, 32, true));
}

TEST_CASE("one query against a cache: what decoding does") {
    for (const Heads heads : kHeads)
        grade(grouped(2, heads, 1, 67, 64, true));
}

TEST_CASE("nothing is kept from call to call") {
    const auto first = grouped(1, {4, 2}, 5, 33, 64);
    auto other = grouped(2, {3, 3}, 35, 17, 32, true);
    other.scale = -0.3f;
    wb::testing::expect_independent(
        [&] { grade(first); }, [&] { grade(other); }, [&] { grade(first, 3); });
    if (wb::testing::is_watched()) return;  // there, accesses are no others
    wb::testing::on_another_device([&] {
        for (const int64_t D : {32, 64, 128, 256})
            grade(grouped(1, {2, 1}, 3, 5, D, true));
    });
}

TEST_CASE("as many queries as keys, from one to odd primes") {
    for (const int64_t n : wb::testing::lengths())
        grade(grouped(1, {4, 2}, n, n, 32), static_cast<uint64_t>(n));
}

TEST_CASE("causal: no query sees a later key") {
    for (const int64_t n : wb::testing::lengths())
        grade(grouped(1, {4, 2}, n, n, 32, true), static_cast<uint64_t>(n));
}

TEST_CASE("multi-head, grouped-query and multi-query") {
    for (const Heads heads : kHeads) {
        grade(grouped(2, heads, 13, 37, 32));
        grade(grouped(2, heads, 13, 37, 32, true));
    }
    if (wb::testing::is_watched()) return;
    // Past 128, each number for itself.
    for (const Heads heads : {Heads{130, 130}, Heads{130, 1}})
        grade(grouped(1, heads, 1, 3, 32));
}

TEST_CASE("causal: the last query sees the last key, however many there are") {
    for (const auto [queries, keys] : wb::testing::unequal_lengths())
        grade(grouped(1, {6, 2}, queries, keys, 32, true));
}

TEST_CASE("a query that sees no key gives zeros and minus infinity") {
    grade(grouped(1, {4, 2}, 5, 1, 32, true));
    grade(grouped(1, {3, 1}, 100, 40, 64, true));
}

TEST_CASE("no keys at all: zeros and minus infinity, and they are written") {
    wb::testing::grade_no_keys("grouped_query_attention", grouped_query_attention, 3);
}

TEST_CASE("equal weights: whole numbers add up exactly", "[values]") {
    for (const int64_t keys : {1, 2, 31, 64, 97, 1100}) {
        const auto shape = grouped(1, {4, 2}, 3, keys, 32);
        const auto inputs = wb::testing::equal_weights(shape, 1);
        wb::testing::grade_attention("grouped_query_attention",
                                     grouped_query_attention,
                                     shape,
                                     inputs,
                                     expect_equal_weights(shape, inputs),
                                     ", q = 0, v whole numbers");
    }
}

TEST_CASE("logits from -10000 to 10000 neither overflow nor vanish", "[values]") {
    wb::testing::grade_large_logits(
        "grouped_query_attention", grouped_query_attention, 2, 1);
}

TEST_CASE("scores of a million, all alike, of either sign", "[values]") {
    wb::testing::grade_far_scores(
        "grouped_query_attention", grouped_query_attention, 4, 2);
}

TEST_CASE("small weights count: thousands of keys, each next to nothing", "[values]") {
    wb::testing::grade_small_weights(
        "grouped_query_attention", grouped_query_attention, 2, 1);
}

TEST_CASE("edges meet: no mask") {
    grade_edges(wb::testing::Mask::none);
}

TEST_CASE("edges meet: causal, as many queries as keys") {
    grade_edges(wb::testing::Mask::causal);
}

TEST_CASE("edges meet: causal, fewer queries than keys") {
    grade_edges(wb::testing::Mask::fewer_queries);
}

TEST_CASE("edges meet: causal, more queries than keys") {
    grade_edges(wb::testing::Mask::more_queries);
}

TEST_CASE("sizes past 4096, along each dimension: every key counts once", "[long]") {
    for (const auto& shape : {grouped(1, {2, 1}, 1, 8193, 32),
                              grouped(1, {2, 1}, 3, 4128, 32, true),
                              grouped(1, {2, 1}, 1, 12'301, 256),
                              grouped(1, {2, 1}, 2, 4099, 64, true),
                              grouped(1, {2, 1}, 2, 2101, 128, true),
                              grouped(1, {2, 1}, 1, 2101, 256),
#ifndef SIMT_CPU
                              grouped(1, {32, 1}, 1, 65'601, 32),
#endif
                              grouped(1, {2, 1}, 4099, 12, 64),
                              grouped(1, {2, 2}, 4128, 5, 32, true)})
        wb::testing::grade_chosen_keys(
            "grouped_query_attention", grouped_query_attention, shape);
    wb::testing::grade_gentle_rise("grouped_query_attention", grouped_query_attention);
    wb::testing::grade_far_peak("grouped_query_attention",
                                grouped_query_attention,
                                grouped(1, {2, 1}, 1, 4131, 32));
}

TEST_CASE("many keys of each head dimension, seen or masked", "[long]") {
    wb::testing::grade_many_keys("grouped_query_attention", grouped_query_attention, 2);
}

TEST_CASE("many keys, of which few have all the weight", "[long]") {
    wb::testing::grade_two_of_many(
        "grouped_query_attention", grouped_query_attention, 3);
}

TEST_CASE("any three edges meet: no mask", "[long]") {
    grade_triples(false);
}

TEST_CASE("any three edges meet: causal", "[long]") {
    grade_triples(true);
}

TEST_CASE("a NaN reaches the rows that see it, and no others") {
    wb::testing::grade_not_finite(
        "grouped_query_attention", grouped_query_attention, 4, 2);
}

TEST_CASE("values below the smallest number with all its digits keep the rest",
          "[values]") {
    wb::testing::grade_subnormal("grouped_query_attention", grouped_query_attention);
}

TEST_CASE("small queries and small keys have all their digits", "[values]") {
    wb::testing::grade_small_numbers("grouped_query_attention",
                                     grouped_query_attention);
}

TEST_CASE("what counts is neither skipped nor shared nor hidden") {
    wb::testing::grade_traps("grouped_query_attention", grouped_query_attention, 4, 2);
}

TEST_CASE("more batches and heads than a byte counts with a mask and a scale",
          "[long]") {
    wb::testing::grade_many_masked(
        "grouped_query_attention", grouped_query_attention, true);
}

TEST_CASE("nothing is kept from call to call with many keys and heads", "[long]") {
    wb::testing::expect_large_independent(
        "grouped_query_attention", grouped_query_attention, 2);
}

TEST_CASE("nothing belongs to an address") {
    wb::testing::grade_same_arrays(
        "grouped_query_attention", grouped_query_attention, 4, 2);
}

TEST_CASE("a GPU with little shared memory") {
    const wb::testing::LittleSharedMemory little;  // not enough for all tiles
    for (const auto& shape : wb::testing::shapes_of_another_kernel({32, 64, 128}, 2))
        grade(shape);
}

TEST_CASE("no memory for sums of many heads, nor for each head's keys", "[serial]") {
    for (const Heads heads : {Heads{32, 16}, {24, 8}, {20, 4}, {8, 8}, {17, 1}})
        wb::testing::expect_memory_at_most("grouped_query_attention",
                                           grouped_query_attention,
                                           grouped(2, heads, 1, 64, 32),
                                           1 << 10);
}

TEST_CASE("the scale may be anything finite", "[values]") {
    for (const float scale : {1.0f, 0.0f, -0.3f}) {
        auto shape = grouped(1, {4, 2}, 11, 33, 32);
        shape.scale = scale;
        grade(shape);
        shape.causal = true;  // a mask of -inf that is scaled by 0 is no number
        if (scale == 0.0f) grade(shape);
    }
}

TEST_CASE("more heads than a grid is deep", "[large]") {
    Grader("grouped_query_attention", "queries = 0").expect_no_work([](cudaStream_t s) {
        grouped_query_attention(grouped(1, {1, 1}, 0, 1, 32),
                                nullptr,
                                nullptr,
                                nullptr,
                                nullptr,
                                nullptr,
                                s);
    });
#ifdef SIMT_CPU
    WB_SKIP("66,000 blocks with shuffles take the simulator half a minute");
#else
    // 65535 blocks are the most that a grid holds along y and z.
    grade(grouped(2, {66'000, 33'000}, 1, 2, 32));
#endif
}

TEST_CASE("rows and keys of one head past 2^31 elements", "[large][serial]") {
    Grader("grouped_query_attention", "queries = 0").expect_no_work([](cudaStream_t s) {
        grouped_query_attention(grouped(1, {1, 1}, 0, 1, 32),
                                nullptr,
                                nullptr,
                                nullptr,
                                nullptr,
                                nullptr,
                                s);
    });
#ifdef SIMT_CPU
    WB_SKIP("sixteen million keys of 128 numbers are too much for the simulator");
#else
    const auto contract = [](auto... arguments) {
        grouped_query_attention(arguments...);
    };
    wb::testing::grade_far_keys<float>("grouped_query_attention", contract);
    wb::testing::grade_far_rows<float>("grouped_query_attention", contract);
#endif
}

TEST_CASE("no memory for scores", "[serial]") {
    wb::testing::expect_no_scores_in_memory<float>(
        wb::implementations("grouped_query_attention", grouped_query_attention), 32);
}

TEST_CASE("more than 4096 batches, heads, or queries", "[long]") {
    wb::testing::grade_uneven_rows("grouped_query_attention",
                                   grouped_query_attention,
                                   wb::testing::shapes_of_many(32, true));
}

TEST_CASE("many of two sizes at once", "[long]") {
    wb::testing::grade_uneven_rows(
        "grouped_query_attention",
        grouped_query_attention,
        wb::testing::shapes_of_pairs({32, 64, 128, 256}, true));
}

TEST_CASE("right whatever order the threads run in") {
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3);
    wb::testing::shuffle_threads(seed);
    grade(grouped(1, {4, 2}, 19, 70, 32, true), seed);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("no queries: nothing is launched") {
    Grader grade("grouped_query_attention", "queries = 0, batch = 0, or no heads");
    grade.expect_no_work([](cudaStream_t s) {
        for (const auto& shape : {grouped(1, {4, 2}, 0, 7, 32),
                                  grouped(0, {4, 2}, 7, 7, 32),
                                  grouped(2, {0, 2}, 7, 7, 32),
                                  grouped(2, {0, 0}, 7, 7, 32)}) {
            grouped_query_attention(
                shape, nullptr, nullptr, nullptr, nullptr, nullptr, s);
        }
    });
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    Grader memory("grouped_query_attention", "wrong arguments");
    float* d = memory.output<float>("d", {4 * 4 * 32});
    const auto refused = [&](const std::string& part, const AttentionShape& shape) {
        expect_refused("grouped_query_attention", describe(shape), part, [&] {
            grouped_query_attention(shape, d, d, d, d, nullptr, nullptr);
        });
    };
    refused(
        "shape.query_heads is 4, but must be a multiple of shape.kv_heads, which is 3",
        grouped(1, {4, 3}, 4, 4, 32));
    refused("shape.query_heads is 2", grouped(1, {2, 4}, 4, 4, 32));
    wb::testing::expect_shapes_refused("grouped_query_attention",
                                       grouped(1, {4, 2}, 4, 4, 32),
                                       /*groups=*/true,
                                       [&](const AttentionShape& shape) {
                                           grouped_query_attention(
                                               shape, d, d, d, d, nullptr, nullptr);
                                       });
    wb::testing::expect_pointers_refused("grouped_query_attention",
                                         grouped_query_attention,
                                         grouped(1, {2, 1}, 4, 4, 32),
                                         true);
}
