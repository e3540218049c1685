// Grades day06-llm-attention/01-naive-attention.
#include "naive_attention.h"

#include <wb/implementations.h>
#include <wb/testing/attention.h>
#include <wb/testing/attention_arguments.h>
#include <wb/testing/attention_grade.h>
#include <wb/testing/attention_sizes.h>
#include <wb/testing/attention_traps.h>
#include <wb/testing/attention_triples.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/other_device.h>
#include <wb/testing/simulator.h>
#include <wb/testing/special_attention.h>

#include <algorithm>
#include <cmath>

namespace {

using wb::AttentionShape;
using wb::testing::Grader;
using wb::testing::plain_attention;

void grade(const AttentionShape& shape, uint64_t seed = 1) {
    wb::testing::grade_random_attention(
        "naive_attention", naive_attention, shape, seed);
}

void grade(const AttentionShape& shape,
           const wb::testing::AttentionInputs& inputs,
           const std::string& text) {
    wb::testing::grade_attention("naive_attention",
                                 naive_attention,
                                 shape,
                                 inputs,
                                 expect_attention(shape, inputs),
                                 text);
}

/// The covering design of this chapter, and what of it has this mask.
void grade_edges(wb::testing::Mask mask) {
    static const auto cases = wb::testing::attention_cases();
    wb::testing::grade_cases("naive_attention", naive_attention, cases, mask);
}

/// What is expected of a matrix of weights: each is rounded after it was divided by
/// their sum, and so are the sums of their products.
struct OfWeights : wb::testing::InFloat {
    static wb::testing::AttentionExpected chosen(
        const AttentionShape& shape, const wb::testing::AttentionInputs& inputs) {
        auto expected = expect_attention(shape, inputs);
        // Of values from -7 to 7; a lost key is wrong by 1 / shape.keys of its own.
        const double bound =
            7.0 * wb::testing::gamma(double(shape.keys) + 4.0, 0x1p-24);
        for (double& allowed : expected.o_bound)
            allowed = std::min(allowed, bound);
        return expected;
    }
};

/// The design of strength three.
void grade_triples(bool causal) {
    static const auto cases = wb::testing::triple_cases();
    wb::testing::grade_triples<OfWeights>(
        "naive_attention", naive_attention, cases, causal);
}

}  // namespace

TEST_CASE("one query and one key: the output is the value") {
    grade(plain_attention(1, 1, 1, 1, 64));
}

TEST_CASE("as many queries as keys, from one to odd primes") {
    for (const int64_t n : wb::testing::lengths())
        grade(plain_attention(1, 2, n, n, 32), static_cast<uint64_t>(n));
}

TEST_CASE("head dimensions 32, 64, 128 and 256") {
    for (const int64_t D : {32, 64, 128, 256})
        grade(plain_attention(1, 1, 67, 67, D));
}

TEST_CASE("nothing is kept from call to call") {
    const auto first = plain_attention(1, 2, 5, 33, 64);
    auto other = plain_attention(2, 3, 35, 17, 32, true);
    other.scale = -0.3f;
    wb::testing::expect_independent(
        [&] { grade(first); }, [&] { grade(other); }, [&] { grade(first, 3); });
    if (wb::testing::is_watched()) return;  // there, accesses are no others
    wb::testing::on_another_device([&] {
        for (const int64_t D : {32, 64, 128, 256})
            grade(plain_attention(1, 2, 3, 5, D, true));
    });
}

TEST_CASE("batches and heads keep to themselves") {
    grade(plain_attention(3, 5, 13, 11, 32));
    grade(plain_attention(3, 35, 1, 3, 32));
    grade(plain_attention(35, 2, 1, 3, 32));
    if (wb::testing::is_watched()) return;
    grade(plain_attention(5, 7, 17, 131, 32));  // more scores than 2^16
}

TEST_CASE("arrays may begin at any float") {
    for (const int64_t D : {32, 64, 128, 256}) {
        const auto shape = plain_attention(1, 2, 5, 7, D, true);
        const auto inputs = wb::testing::random_attention(shape, 1);
        wb::testing::grade_attention(
            wb::implementations("naive_attention", naive_attention),
            shape,
            inputs,
            expect_attention(shape, inputs),
            ", no array is aligned to more than a float",
            /*with_lse=*/true,
            wb::testing::Begin::anywhere);
    }
}

TEST_CASE("causal: no query sees a later key") {
    for (const int64_t n : wb::testing::lengths())
        grade(plain_attention(1, 1, n, n, 32, true), static_cast<uint64_t>(n));
}

TEST_CASE("other numbers of keys than of queries") {
    for (const auto [queries, keys] : wb::testing::unequal_lengths())
        grade(plain_attention(2, 1, queries, keys, 32));
}

TEST_CASE("causal: the last query sees the last key, however many there are") {
    for (const auto [queries, keys] : wb::testing::unequal_lengths())
        grade(plain_attention(2, 1, queries, keys, 32, true));
}

TEST_CASE("a query that sees no key gives zeros and minus infinity") {
    grade(plain_attention(1, 2, 5, 1, 32, true));
    grade(plain_attention(1, 2, 100, 40, 64, true));
}

TEST_CASE("no keys at all: zeros and minus infinity, and they are written") {
    wb::testing::grade_no_keys("naive_attention", naive_attention);
}

TEST_CASE("equal weights: whole numbers add up exactly", "[values]") {
    // The weight 1 / keys is exact, too, where keys is a power of two.
    for (const int64_t keys : {1, 2, 64, 1024}) {
        const auto shape = plain_attention(1, 2, 5, keys, 32);
        const auto inputs = wb::testing::equal_weights(shape, 1);
        wb::testing::grade_attention("naive_attention",
                                     naive_attention,
                                     shape,
                                     inputs,
                                     expect_equal_weights(shape, inputs),
                                     ", q = 0, v whole numbers");
    }
}

TEST_CASE("logits from -10000 to 10000 neither overflow nor vanish", "[values]") {
    wb::testing::grade_large_logits("naive_attention", naive_attention, 1, 1);
}

TEST_CASE("scores of a million, all alike, of either sign", "[values]") {
    wb::testing::grade_far_scores("naive_attention", naive_attention, 2, 2);
}

TEST_CASE("small weights count: thousands of keys, each next to nothing", "[values]") {
    wb::testing::grade_small_weights("naive_attention", naive_attention, 1, 1);
}

TEST_CASE("the largest of many logits may be the last") {
    // The last is 138 more than the 1024th: exp() of that overflows.
    const auto shape = plain_attention(1, 1, 1, 1300, 32);
    grade(shape,
          with_logits(shape, wb::testing::Logits::rising, {}, 1),
          ", logits rise by half a unit");
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

TEST_CASE("sizes past 4096, along each dimension", "[long]") {
    for (const auto& shape : {plain_attention(1, 1, 1, 4133, 32),
                              plain_attention(1, 1, 1, 12'301, 32),
                              plain_attention(1, 1, 3, 4128, 32, true),
                              plain_attention(1, 1, 2, 4099, 64, true),
                              plain_attention(1, 1, 4099, 12, 64),
                              plain_attention(1, 1, 4128, 5, 32, true)})
        grade(
            shape, wb::testing::chosen_keys(shape, 1), ", seven keys of eight chosen");
}

TEST_CASE("many keys of each head dimension, seen or masked", "[long]") {
    wb::testing::grade_many_keys(
        "naive_attention", naive_attention, 1, /*rounds_weights=*/true);
}

TEST_CASE("many keys, of which few have all the weight", "[long]") {
    wb::testing::grade_two_of_many("naive_attention", naive_attention);
}

TEST_CASE("any three edges meet: no mask", "[long]") {
    grade_triples(false);
}

TEST_CASE("any three edges meet: causal", "[long]") {
    grade_triples(true);
}

TEST_CASE("a NaN reaches the rows that see it, and no others") {
    wb::testing::grade_not_finite("naive_attention", naive_attention, 2, 2);
}

TEST_CASE("values below the smallest number with all its digits keep the rest",
          "[values]") {
    wb::testing::grade_subnormal("naive_attention", naive_attention);
}

TEST_CASE("small queries and small keys have all their digits", "[values]") {
    wb::testing::grade_small_numbers("naive_attention", naive_attention);
}

TEST_CASE("what counts is neither skipped nor shared nor hidden") {
    wb::testing::grade_traps("naive_attention", naive_attention, 2, 2);
}

TEST_CASE("more batches and heads than a byte counts with a mask and a scale",
          "[long]") {
    wb::testing::grade_many_masked("naive_attention", naive_attention, false);
}

TEST_CASE("nothing is kept from call to call with many keys and heads", "[long]") {
    wb::testing::expect_large_independent("naive_attention", naive_attention, 1);
}

TEST_CASE("nothing belongs to an address") {
    wb::testing::grade_same_arrays("naive_attention", naive_attention, 2, 2);
}

TEST_CASE("memory for the scores, once", "[serial]") {
    // Many keys, and many rows: nothing else is of either number.
    for (const auto& [queries, keys] : {std::pair{16, 129}, std::pair{701, 3}}) {
        const auto shape = plain_attention(1, 2, queries, keys, 32);
        const auto scores = static_cast<uint64_t>(shape.rows() * shape.keys);
        wb::testing::expect_memory_at_most("naive_attention",
                                           naive_attention,
                                           shape,
                                           scores * sizeof(float) + (1 << 10));
    }
}

TEST_CASE("the scale may be anything finite", "[values]") {
    for (const float scale : {1.0f, 0.01f, 0.0f, -0.3f}) {
        auto shape = plain_attention(1, 2, 33, 33, 32);
        shape.scale = scale;
        grade(shape);
        shape.causal = true;  // a mask of -inf that is scaled by 0 is no number
        if (scale == 0.0f) grade(shape);
    }
}

TEST_CASE("more batches than a grid is deep", "[large]") {
    // 65535 blocks are the most that a grid holds along y and z.
    const auto shape = plain_attention(65'539, 1, 1, 2, 32);
    const auto inputs = wb::testing::random_attention(shape, 1);
    const auto expected = expect_attention(shape, inputs);
    for (const auto& [name, idea, attention] :
         wb::implementations("naive_attention", naive_attention)) {
#ifdef SIMT_CPU
        // 132,000 blocks of 256 threads with barriers take the simulator ten seconds.
        if (name == "naive_attention_v2") continue;
#endif
        Grader grade(name, describe(shape));
        const float* d_q = grade.input("q", inputs.q);
        const float* d_k = grade.input("k", inputs.k);
        const float* d_v = grade.input("v", inputs.v);
        float* d_o = grade.output<float>("o", {65'539, 1, 1, 32});
        grade.run([&, attention = attention](cudaStream_t s) {
            attention(shape, d_q, d_k, d_v, d_o, nullptr, s);
        });
        grade.expect("o", expected.o, [&](int64_t i) {
            return expected.o_bound[static_cast<size_t>(i)];
        });
    }
}

TEST_CASE("more than 4096 batches, heads, or queries", "[long]") {
    wb::testing::grade_uneven_rows("naive_attention",
                                   naive_attention,
                                   wb::testing::shapes_of_many(32, false, 515));
}

TEST_CASE("many of two sizes at once", "[long]") {
    wb::testing::grade_uneven_rows(
        "naive_attention",
        naive_attention,
        wb::testing::shapes_of_pairs({32, 64, 128, 256}, false));
}

TEST_CASE("right whatever order the threads run in") {
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3);
    wb::testing::shuffle_threads(seed);
    grade(plain_attention(1, 1, 40, 70, 32, true), seed);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("a score matrix of more than 2^31 elements", "[large]") {
    Grader("naive_attention", "queries = 0").expect_no_work([](cudaStream_t s) {
        naive_attention(plain_attention(1, 1, 0, 1, 32),
                        nullptr,
                        nullptr,
                        nullptr,
                        nullptr,
                        nullptr,
                        s);
    });
#ifdef SIMT_CPU
    WB_SKIP("9 GB of scores are too much for the simulator");
#else
    // One head of 47,000 queries and keys. All weights are equal, so that each row of o
    // is the mean of v: of the numbers 0 and 1, and of one 47,000 for the last key.
    constexpr int64_t kN = 47'000;
    const auto shape = plain_attention(1, 1, kN, kN, 32);
    std::vector<float> v(static_cast<size_t>(kN * 32));
    for (size_t i = 0; i < v.size(); ++i)
        v[i] = static_cast<float>(i % 2);
    for (size_t d = 0; d < 32; ++d)
        v[v.size() - 32 + d] = static_cast<float>(kN);
    const std::vector<float> zeros(v.size(), 0.0f);
    const double even = 1.0;                                    // 47,000 / 47,000
    const double odd = static_cast<double>(kN - 1) / kN + 1.0;  // and 46,999 ones
    std::vector<double> expected(v.size());
    for (size_t i = 0; i < expected.size(); ++i)
        expected[i] = i % 2 == 0 ? even : odd;
    for (const auto& [name, idea, attention] :
         wb::implementations("naive_attention", naive_attention)) {
        Grader grade(name, describe(shape) + ", q = 0");
        const float* d_q = grade.input("q", zeros);
        const float* d_k = grade.input("k", zeros);
        const float* d_v = grade.input("v", v);
        float* d_o = grade.output<float>("o", {kN, 32});
        grade.run([&, attention = attention](cudaStream_t s) {
            attention(shape, d_q, d_k, d_v, d_o, nullptr, s);
        });
        // The weights are 1 / 47,000, rounded, and their sum is rounded 47,000 times.
        grade.expect("o", expected, [&](int64_t i) {
            return wb::testing::float_bound(kN + 3, expected[static_cast<size_t>(i)]);
        });
    }
#endif
}

TEST_CASE("rows of one head past 2^31 elements", "[large][serial]") {
    Grader("naive_attention", "queries = 0").expect_no_work([](cudaStream_t s) {
        float* const none = nullptr;
        naive_attention(
            plain_attention(1, 1, 0, 1, 32), none, none, none, none, nullptr, s);
    });
#ifdef SIMT_CPU
    WB_SKIP("sixteen million rows of 128 numbers are too much for the simulator");
#else
    // A grid of 65,535 blocks does not reach them all.
    wb::testing::grade_far_rows<float>(
        "naive_attention", [](auto... arguments) { naive_attention(arguments...); });
#endif
}

TEST_CASE("no queries: nothing is launched") {
    Grader grade("naive_attention", "queries = 0, batch = 0, or no heads");
    grade.expect_no_work([](cudaStream_t s) {
        for (const auto& shape : {plain_attention(1, 1, 0, 7, 32),
                                  plain_attention(0, 2, 7, 7, 32),
                                  plain_attention(2, 0, 7, 7, 32)}) {
            naive_attention(shape, nullptr, nullptr, nullptr, nullptr, nullptr, s);
        }
    });
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    Grader memory("naive_attention", "wrong arguments");
    float* d = memory.output<float>("d", {2 * 4 * 32});
    const auto good = plain_attention(1, 2, 4, 4, 32);
    const auto refused = [&](const std::string& part, const AttentionShape& shape) {
        expect_refused("naive_attention", describe(shape), part, [&] {
            naive_attention(shape, d, d, d, d, nullptr, nullptr);
        });
    };
    refused("does not fit into 64 bits", plain_attention(1 << 30, 1 << 30, 9, 9, 32));
    // The scores are more than q and than k.
    for (const auto& [queries, keys] : {std::pair{1 << 8, 1 << 29}, {1 << 29, 1 << 8}})
        refused("query_heads * queries * keys = ",
                plain_attention(1 << 14, 1 << 14, queries, keys, 32));
    wb::testing::expect_shapes_refused(
        "naive_attention", good, /*groups=*/false, [&](const AttentionShape& shape) {
            naive_attention(shape, d, d, d, d, nullptr, nullptr);
        });
    wb::testing::expect_pointers_refused(
        "naive_attention", naive_attention, good, false);
}
