// Grades day06-llm-attention/07-tensor-core-attention.
#include "tensor_core_attention.h"

#include <wb/scratch.h>
#include <wb/testing/attention_grade.h>
#include <wb/testing/attention_memory.h>
#include <wb/testing/attention_sizes.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/simulator.h>
#include <wb/testing/special_attention.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "grade_types.h"

namespace {

using namespace wb::testing;
using wb::AttentionShape;

/// Runs every rung for both types.
void grade(const AttentionShape& shape,
           const AttentionInputs& inputs,
           const std::string& text) {
    grade_type<__half>(shape, inputs, text);
    grade_type<__nv_bfloat16>(shape, inputs, text);
}

/// The same on random inputs.
void grade(const AttentionShape& shape, uint64_t seed = 1) {
    grade(shape,
          wb::testing::random_attention(shape, seed),
          ", seed " + std::to_string(seed));
}

/// A shape with fewer K/V heads than query heads.
AttentionShape grouped(AttentionShape shape, int64_t kv_heads) {
    shape.kv_heads = kv_heads;
    return shape;
}

/// Inputs with the same number everywhere.
AttentionInputs constant_inputs(const AttentionShape& shape,
                                float q,
                                float k,
                                float v) {
    return {std::vector<float>(static_cast<size_t>(shape.query_elements()), q),
            std::vector<float>(static_cast<size_t>(shape.kv_elements()), k),
            std::vector<float>(static_cast<size_t>(shape.kv_elements()), v)};
}

/// Equal weights and whole numbers as values. Weights are 1 and need no rounding, so
/// that only o is rounded: an accumulator of 16 bits stands still at 2048, or at 256,
/// and a key that is missing shows.
void grade_equal_weights(int64_t keys) {
    const auto shape = plain_attention(1, 1, 5, keys, 64);
    auto inputs = wb::testing::equal_weights(shape, 1);
    for (float& value : inputs.v)
        value += 8.0f;  // 1 to 15: a mean near 8 hides nothing by cancelling
    auto expected = expect_equal_weights(shape, inputs);
    const auto float_bound = expected.o_bound;
    const auto graded = [&](auto zero) {
        using T = decltype(zero);
        for (size_t i = 0; i < expected.o.size(); ++i)
            expected.o_bound[i] = stored_bound<T>(expected.o[i], float_bound[i]);
        grade_stored<T>(shape, inputs, expected, ", q = 0, v whole numbers");
    };
    graded(__half());
    graded(__nv_bfloat16());
}

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
    for_each_case(cases, mask, [](const AttentionCase& c) {
        const auto inputs = inputs_of(c);
        if (c.type == 0) {
            grade_type<__half>(c.shape, inputs, c.text, c.with_lse);
        } else {
            grade_type<__nv_bfloat16>(c.shape, inputs, c.text, c.with_lse);
        }
    });
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

TEST_CASE("nothing is kept from call to call") {
    const auto first = plain_attention(1, 2, 5, 33, 128);
    auto other = plain_attention(2, 3, 35, 17, 64, true);
    other.scale = -0.3f;
    wb::testing::expect_independent([&] { grade(first); }, [&] { grade(other); });
}

TEST_CASE("batches and heads keep to themselves") {
    grade(plain_attention(2, 3, 13, 11, 64));
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
    grade(grouped(plain_attention(2, 6, 5, 70, 64), 2));
    grade_type<__half>(
        grouped(plain_attention(2, 35, 1, 3, 64), 7),
        random_attention(grouped(plain_attention(2, 35, 1, 3, 64), 7), 1),
        ", seed 1");
    grade(grouped(plain_attention(1, 4, 70, 33, 64, true), 1));
}

TEST_CASE("causal: the last query sees the last key, however many there are") {
    for (const int64_t n : {1, 15, 33, 64, 65, 129})
        grade(plain_attention(1, 1, n, n, 64, true), static_cast<uint64_t>(n));
    for (const auto [queries, keys] : wb::testing::kUnequalLengths)
        grade(plain_attention(1, 1, queries, keys, 64, true));
}

TEST_CASE("causal over many tiles of rows and of keys") {
    grade(plain_attention(1, 1, 150, 333, 64, true));
}

TEST_CASE("other numbers of keys than of queries") {
    for (const auto [queries, keys] : wb::testing::kUnequalLengths)
        grade(plain_attention(1, 1, queries, keys, 64));
}

TEST_CASE("a query that sees no key gives zeros and minus infinity") {
    grade(plain_attention(1, 2, 5, 1, 64, true));
    grade(plain_attention(1, 1, 150, 40, 64, true));
    grade(plain_attention(2, 1, 3, 0, 64));
    grade(plain_attention(1, 1, 3, 0, 128));
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

TEST_CASE("scores past 65504 before they are scaled") {
    // Each product is 90000, their sum 5.76 million; the scale makes 1 of it. A half
    // accumulator is at infinity after the first product.
    for (const int64_t D : {64, 128}) {
        auto shape = plain_attention(1, 1, 3, 70, D);
        shape.scale = 1.0f / (90000.0f * static_cast<float>(D));
        auto inputs = constant_inputs(shape, 300.0f, 300.0f, 0.0f);
        const auto random = wb::testing::random_attention(shape, 1);
        for (size_t i = 0; i < inputs.k.size(); ++i)
            inputs.k[i] += 32.0f * std::clamp(random.k[i], -3.0f, 3.0f);
        inputs.v = random.v;
        grade(shape, inputs, ", q and k near 300, scores near 1");
    }
}

TEST_CASE("values whose sum passes 65504 though their mean does not") {
    const auto shape = plain_attention(1, 1, 3, 131, 64);
    auto inputs = wb::testing::random_attention(shape, 1);
    for (float& value : inputs.v)
        value = 2000.0f + 500.0f * std::clamp(value, -2.0f, 2.0f);
    grade(shape, inputs, ", v near 2000");
}

TEST_CASE("equal weights: whole numbers add up exactly") {
    for (const int64_t keys : {1, 2, 65, 1031})
        grade_equal_weights(keys);
}

TEST_CASE("sizes past 4096, along each dimension", "[long]") {
    using T = __half;  // the type plays no part in them
    for (const auto& shape : {plain_attention(1, 1, 3, 4131, 64, true),
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

TEST_CASE("the error is that of rounding the weights and the output, no more") {
    // The bound of an element must allow for roundings that all go one way. They do
    // not: over all elements, a kernel's error is that of plain steps with the same two
    // roundings. Twice as much is allowed, largest and mean, as the authors of
    // FlashAttention allow themselves. Weights of 8 bits, or an output that is kept in
    // 16 bits between the tiles, are outside.
    const auto shape = plain_attention(1, 1, 64, 300, 64);
    const auto inputs = wb::testing::random_attention(shape, 3);
    const auto graded = [&](auto zero) {
        using T = decltype(zero);
        const auto stored = as_stored<T>(inputs);
        const auto exact = expect_stored<T>(shape, stored);
        const Errors plain = errors_of(plain_steps<T>(shape, stored), exact.o);
        for (const auto& [name, idea, attention] : implementations_of<T>()) {
            Grader grade(name, std::string(Format<T>::kName) + ", beside plain steps");
            const T* d_q = grade.input("q", rounded<T>(stored.q));
            const T* d_k = grade.input("k", rounded<T>(stored.k));
            const T* d_v = grade.input("v", rounded<T>(stored.v));
            T* d_o = grade.output<T>("o", {64, 64});
            grade.run([&, attention = attention](cudaStream_t s) {
                attention(shape, d_q, d_k, d_v, d_o, nullptr, s);
            });
            grade.expect("o", exact.o, [&](int64_t i) {
                return exact.o_bound[static_cast<size_t>(i)];
            });
            const Errors errors = errors_of(grade.read("o"), exact.o);
            INFO(name << ", " << Format<T>::kName << ": largest error "
                      << errors.largest << ", root mean square "
                      << std::sqrt(errors.mean_square) << "; plain steps have "
                      << plain.largest << " and " << std::sqrt(plain.mean_square));
            CHECK(errors.largest <= 2.0 * plain.largest);
            CHECK(errors.mean_square <= 4.0 * plain.mean_square);
        }
    };
    graded(__half());
    graded(__nv_bfloat16());
}

TEST_CASE("logits from -10000 to 10000 neither overflow nor vanish") {
    for (const bool rising : {true, false}) {
        const auto shape = plain_attention(1, 1, 9, 331, 64);
        grade(shape,
              wb::testing::large_logits(shape, 1e4, rising, 1),
              rising ? ", logits up to 10^4, rising" : ", logits up to 10^4, falling");
    }
}

TEST_CASE("scores of a million, all alike, of either sign") {
    auto shape = plain_attention(1, 1, 5, 67, 64);
    shape.scale = 1.0f;
    // Scores are floats whatever the type is: one of each sign.
    grade_type<__half>(shape, far_scores(shape, -0x1p20f), ", every score -2^20");
    grade_type<__nv_bfloat16>(shape, far_scores(shape, 0x1p20f), ", every score 2^20");
}

TEST_CASE("small weights count: thousands of keys, each next to nothing") {
    auto shape = plain_attention(1, 1, 1, 2101, 64);
    shape.scale = 1.0f;
    grade_type<__nv_bfloat16>(shape, small_weights(shape), ", scores -64 and -124");
    shape.keys = 4;
    grade_type<__half>(shape, nearly_alone(shape), ", scores 0 and below -10");
}

TEST_CASE("logits that rise slowly: a base that lags behind is no harm") {
    for (const auto& [D, peak] :
         {std::pair{64, 3.0}, {64, 20.0}, {128, 3.0}, {128, 6.0}}) {
        const auto shape = plain_attention(1, 1, 3, 331, D);
        grade(shape,
              wb::testing::large_logits(shape, peak, true, 1),
              ", logits rising to " + std::to_string(peak));
    }
    for (const int64_t D : {64, 128}) {
        const auto shape = plain_attention(1, 1, 3, 331, D);
        grade(shape, with_logits(shape, Logits::gentle, {}, 1), ", gently rising");
    }
}

TEST_CASE("logits far from zero, close to each other") {
    // 60000 is a score that half still has, but its neighbours there are 32 apart, and
    // bf16's 256: scores must stay floats until their maximum is subtracted.
    auto shape = plain_attention(1, 1, 3, 70, 64);
    shape.scale = 1.0f;
    auto inputs = wb::testing::random_attention(shape, 1);
    for (size_t i = 0; i < inputs.q.size(); ++i)
        inputs.q[i] = i % 64 == 0 ? 240.0f : (i % 64 == 1 ? 1.0f : 0.0f);
    for (size_t i = 0; i < inputs.k.size(); ++i) {
        if (i % 64 == 0) inputs.k[i] = 250.0f;
    }
    grade(shape, inputs, ", scores 60000 and a little");
}

TEST_CASE("a NaN reaches the rows that see it, and no others") {
    const auto graded = [](auto zero, int64_t D) {
        using T = decltype(zero);
        const NotFinite numbers(4, 2, D);
        const auto inputs = as_stored<T>(random_attention(numbers.shape, 1));
        grade_stored<T>(numbers.shape,
                        numbers.spoilt(inputs),
                        numbers.spoilt(expect_stored<T>(numbers.shape, inputs)),
                        numbers.kText);
    };
    graded(__half(), 64);
    graded(__nv_bfloat16(), 128);
}

TEST_CASE("values below the smallest number with all its digits keep the rest") {
    const auto graded = [](auto zero) {
        using T = decltype(zero);
        constexpr double kSmallest = Format<T>::kSmallest;
        const auto shape = plain_attention(1, 2, 9, 70, 64);
        const auto inputs = as_stored<T>(subnormal_values(shape, kSmallest));
        grade_stored<T>(shape,
                        inputs,
                        expect_subnormal(shape, inputs, kSmallest, expect_stored<T>),
                        ", subnormal v");
        auto scaled = shape;
        const auto small = subnormal_scores(scaled, kSmallest);
        grade_type<T>(scaled, small, ", subnormal q or k");
    };
    graded(__half());
    graded(__nv_bfloat16());
    const auto shape = plain_attention(1, 2, 9, 70, 64);
    grade_type<__nv_bfloat16>(shape, huge_values(shape), ", huge v, rising logits");
}

TEST_CASE("the scale may be anything finite") {
    for (const float scale : {1.0f, 0.01f, 0.0f, -0.3f}) {
        auto shape = plain_attention(1, 1, 33, 70, 64, true);
        shape.scale = scale;
        grade(shape);
    }
    auto shape = plain_attention(1, 1, 35, 70, 128);
    shape.scale = -0.1f;
    grade(shape);
}

TEST_CASE("no memory for scores", "[serial]") {
    expect_no_scores_in_memory<__half>(implementations_of<__half>(), 64);
}

TEST_CASE("more than 4096 batches, heads, or queries", "[long]") {
    for (const auto& shape : shapes_of_many(64, true, 259)) {
        const auto stored = as_stored<__half>(uneven_rows(shape, 1));
        const auto expected = expect_stored<__half>(shape, stored);
        for (const auto& [name, idea, attention] :
             last_of(implementations_of<__half>()))
            grade_rung<__half>(name,
                               attention,
                               shape,
                               stored,
                               expected,
                               ", rows of scores far from each other");
    }
}

TEST_CASE("right whatever order the threads run in") {
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3);
    wb::testing::shuffle_threads(seed);
    grade(plain_attention(1, 1, 40, 200, 64, true), seed);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("rows and keys of one head past 2^31 elements", "[large][serial]") {
    // Graded first, so that what is not written yet says so, and is not skipped.
    const auto small = plain_attention(1, 1, 1, 1, 64);
    const auto stored = as_stored<__half>(wb::testing::random_attention(small, 1));
    Grader one("tensor_core_attention", "one query");
    const __half* d = one.input("q, k and v", rounded<__half>(stored.q));
    __half* d_o = one.output<__half>("o", {64});
    one.run([&](cudaStream_t s) {
        tensor_core_attention(small, d, d, d, d_o, nullptr, s);
    });
#ifdef SIMT_CPU
    WB_SKIP("sixteen million keys of 128 numbers are too much for the simulator");
#else
    const auto contract = [](auto... arguments) {
        tensor_core_attention(arguments...);
    };
    wb::testing::grade_far_keys<__half>("tensor_core_attention", contract);
    wb::testing::grade_far_rows<__half>("tensor_core_attention", contract);
#endif
}

TEST_CASE("keys of more than 2^31 elements", "[large]") {
    // What is not solved must fail here, too, and not be skipped.
    const auto small = plain_attention(1, 1, 1, 1, 64);
    grade(small);
#ifdef SIMT_CPU
    WB_SKIP("4.6 GB of memory are too much for the simulator");
#else
    // 2^21 + 3 heads of one query and 16 keys. The same array is k and v: zeros, but
    // for the last head, whose key j is j everywhere. All weights are equal.
    constexpr int64_t kHeads = (int64_t{1} << 21) + 3;
    const auto shape = plain_attention(1, kHeads, 1, 16, 64);
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (free_bytes < size_t{6} << 30) WB_SKIP("needs 6 GB of free GPU memory");
    const wb::Scratch<__half> q(shape.query_elements(), nullptr);
    const wb::Scratch<__half> kv(shape.kv_elements(), nullptr);
    const wb::Scratch<__half> o(shape.query_elements(), nullptr);
    const auto query_bytes = static_cast<size_t>(shape.query_elements()) * 2;
    CUDA_CHECK(cudaMemset(q.data(), 0, query_bytes));
    CUDA_CHECK(cudaMemset(kv.data(), 0, static_cast<size_t>(shape.kv_elements()) * 2));
    std::vector<__half> last(16 * 64);
    for (size_t i = 0; i < last.size(); ++i)
        last[i] = static_cast<__half>(static_cast<float>(i / 64));
    CUDA_CHECK(cudaMemcpy(kv.data() + shape.kv_elements() - 16 * 64,
                          last.data(),
                          last.size() * 2,
                          cudaMemcpyHostToDevice));
    for (const auto& [name, idea, attention] : implementations_of<__half>()) {
        Grader grade(name, describe(shape) + ", the last two heads");
        __half* d_o = grade.output<__half>("o", {2, 64});
        CUDA_CHECK(cudaMemset(o.data(), 0xFF, query_bytes));
        grade.run([&, attention = attention](cudaStream_t s) {
            attention(shape, q.data(), kv.data(), kv.data(), o.data(), nullptr, s);
            CUDA_CHECK(cudaMemcpyAsync(d_o,
                                       o.data() + shape.query_elements() - 2 * 64,
                                       2 * 64 * 2,
                                       cudaMemcpyDeviceToDevice,
                                       s));
        });
        std::vector<double> expected(2 * 64, 0.0);
        std::fill(expected.begin() + 64, expected.end(), 7.5);  // of 0, 1, ... 15
        grade.expect("o", expected, [](int64_t) { return 0.0; });
    }
#endif
}

TEST_CASE("keys of one head in more than 1024 tiles", "[large]") {
    grade_equal_weights(1);
#ifdef SIMT_CPU
    WB_SKIP("the simulator would take several seconds");
#else
    grade_equal_weights(200'003);
#endif
}

TEST_CASE("no queries: nothing is launched") {
    const auto none = [](auto zero) {
        using T = decltype(zero);
        for (const auto& [name, idea, attention] : implementations_of<T>()) {
            // A rung that is not written yet says so, and does not pass.
            const auto small = plain_attention(1, 1, 1, 1, 64);
            const auto stored = as_stored<T>(wb::testing::random_attention(small, 1));
            Grader one(name, "one query");
            const T* d = one.input("q, k and v", rounded<T>(stored.q));
            T* d_o = one.output<T>("o", {64});
            one.run([&, attention = attention](cudaStream_t s) {
                attention(small, d, d, d, d_o, nullptr, s);
            });
        }
        Grader grade("tensor_core_attention", "queries = 0, batch = 0, or no heads");
        grade.expect_no_work([](cudaStream_t s) {
            T* const null = nullptr;
            for (const auto& shape : {plain_attention(1, 1, 0, 7, 64),
                                      plain_attention(0, 2, 7, 7, 64),
                                      grouped(plain_attention(2, 0, 7, 7, 64), 1)}) {
                tensor_core_attention(shape, null, null, null, null, nullptr, s);
            }
        });
    };
    none(__half());
    none(__nv_bfloat16());
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    grade(plain_attention(1, 1, 1, 1, 64));  // what is not written is not right
    Grader memory("tensor_core_attention", "wrong arguments");
    __half* d = memory.output<__half>("d", {2 * 4 * 64 + 8});
    __half host[512] = {};
    const auto good = plain_attention(1, 2, 4, 4, 64);
    const auto refused = [&](const std::string& part, const AttentionShape& shape) {
        expect_refused("tensor_core_attention", describe(shape), part, [&] {
            tensor_core_attention(shape, d, d, d, d, nullptr, nullptr);
        });
    };
    refused("shape.batch is -1", plain_attention(-1, 2, 4, 4, 64));
    refused("shape.queries is -4", plain_attention(1, 2, -4, 4, 64));
    refused("shape.keys is 2147483648", plain_attention(1, 2, 4, int64_t{1} << 31, 64));
    refused("shape.head_dim is 32", plain_attention(1, 2, 4, 4, 32));
    refused("shape.head_dim is 96", plain_attention(1, 2, 4, 4, 96));
    refused("shape.head_dim is 256", plain_attention(1, 2, 4, 4, 256));
    refused("shape.kv_heads, which is 3", grouped(plain_attention(1, 4, 4, 4, 64), 3));
    auto scaled = good;
    scaled.scale = std::numeric_limits<float>::infinity();
    refused("shape.scale is inf", scaled);
    const auto call = [&](const char* what,
                          const char* part,
                          const __half* q,
                          const __half* k,
                          const __half* v,
                          __half* o,
                          float* lse) {
        expect_refused("tensor_core_attention", what, part, [&] {
            tensor_core_attention(good, q, k, v, o, lse, nullptr);
        });
    };
    float host_lse[8] = {};
    call("q null", "q is a null pointer", nullptr, d, d, d, nullptr);
    call("k on the host", "k is a host pointer", d, host, d, d, nullptr);
    call("v null", "v is a null pointer", d, d, nullptr, d, nullptr);
    call("o on the host", "o is a host pointer", d, d, d, host, nullptr);
    call("lse on the host", "lse is a host pointer", d, d, d, d, host_lse);
    call("k + 1", "k is not aligned", d, d + 1, d, d, nullptr);
}
