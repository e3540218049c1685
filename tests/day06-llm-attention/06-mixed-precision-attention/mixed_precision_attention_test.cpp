// Grades day06-llm-attention/06-mixed-precision-attention.
#include "mixed_precision_attention.h"

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

/// Inputs with the same number everywhere.
AttentionInputs constant_inputs(const AttentionShape& shape,
                                float q,
                                float k,
                                float v) {
    return {std::vector<float>(static_cast<size_t>(shape.query_elements()), q),
            std::vector<float>(static_cast<size_t>(shape.kv_elements()), k),
            std::vector<float>(static_cast<size_t>(shape.kv_elements()), v)};
}

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
    for (const int64_t n : wb::testing::kLengths)
        grade(plain_attention(1, 2, n, n, 32), static_cast<uint64_t>(n));
}

TEST_CASE("head dimensions 32, 64 and 128") {
    for (const int64_t D : {32, 64, 128})
        grade(plain_attention(1, 1, 67, 67, D));
}

TEST_CASE("a GPU with little shared memory") {
    const LittleSharedMemory little;  // not enough for all tiles: others are launched
    for (const int64_t D : {32, 64, 128})
        grade(plain_attention(1, 2, 13, 35, D, true));
}

TEST_CASE("nothing is kept from call to call") {
    const auto first = plain_attention(1, 2, 5, 33, 64);
    auto other = plain_attention(2, 3, 35, 17, 32, true);
    other.scale = -0.3f;
    wb::testing::expect_independent([&] { grade(first); }, [&] { grade(other); });
}

TEST_CASE("batches and heads keep to themselves") {
    grade(plain_attention(3, 5, 13, 11, 32));
    // The type plays no part in the other numbers.
    for (const auto& shape :
         {plain_attention(2, 35, 1, 3, 32), plain_attention(35, 2, 1, 3, 32)})
        grade_type<__half>(shape, random_attention(shape, 1), ", seed 1");
}

TEST_CASE("causal: the last query sees the last key, however many there are") {
    for (const int64_t n : wb::testing::kLengths)
        grade(plain_attention(1, 1, n, n, 32, true), static_cast<uint64_t>(n));
    for (const int64_t D : {64, 128})
        for (const int64_t n : {66, 128})
            grade(plain_attention(1, 2, n, n, D, true));
    for (const auto [queries, keys] : wb::testing::kUnequalLengths)
        grade(plain_attention(2, 1, queries, keys, 32, true));
}

TEST_CASE("other numbers of keys than of queries") {
    for (const auto [queries, keys] : wb::testing::kUnequalLengths)
        grade(plain_attention(2, 1, queries, keys, 32));
}

TEST_CASE("a query that sees no key gives zeros and minus infinity") {
    grade(plain_attention(1, 2, 5, 1, 32, true));
    grade(plain_attention(1, 2, 100, 40, 64, true));
    grade(plain_attention(2, 1, 3, 0, 32));
}

TEST_CASE("scores past 65504 before they are scaled") {
    // Each product is 90000, their sum 5.76 million; the scale makes 1 of it. A half
    // accumulator is at infinity after the first product.
    for (const int64_t D : {32, 64, 128}) {
        auto shape = plain_attention(1, 1, 3, 40, D);
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

TEST_CASE("values at the end of the range") {
    // The mean of 64 times the largest number is that number, not infinity. The float
    // in front of the rounding may be off by a bit or two, which is less than half of
    // what separates the last number from infinity.
    const auto shape = plain_attention(1, 1, 2, 64, 32);
    const auto largest = [&](auto zero) {
        using T = decltype(zero);
        auto inputs = wb::testing::random_attention(shape, 1);
        for (float& value : inputs.v)  // 2^6 of 2^127 would be past the end of float
            value = static_cast<float>(std::min(Format<T>::kLargest, 0x1.FEp120));
        grade_type<T>(shape, inputs, ", v the largest number");
    };
    largest(__half());
    largest(__nv_bfloat16());
}

TEST_CASE("five thousand equal weights: the sum must count every key", "[long]") {
    // Adding 1 to 2048 gives 2048 in half, and 256 in bf16: a sum kept in 16 bits
    // stands still from there on.
    constexpr int64_t kKeys = 5003;
    const auto shape = plain_attention(1, 1, 2, kKeys, 32);
    auto inputs = wb::testing::equal_weights(shape, 1);
    for (float& value : inputs.v)
        value += 8.0f;  // 1 to 15: a mean near 8 hides nothing by cancelling
    grade(shape, inputs, ", q = 0, v whole numbers from 1 to 15");
}

TEST_CASE("equal weights: whole numbers add up exactly") {
    for (const int64_t keys : {1, 2, 64, 1024}) {
        const auto shape = plain_attention(1, 2, 5, keys, 32);
        const auto inputs = wb::testing::equal_weights(shape, 1);
        const auto expected = expect_equal_weights(shape, inputs);
        grade_type<__half>(shape, inputs, expected, ", q = 0, v whole numbers");
        grade_type<__nv_bfloat16>(shape, inputs, expected, ", q = 0, v whole numbers");
    }
}

TEST_CASE("small weights count: a thousand keys at exp(-9) each") {
    // One key has the weight 1; a thousand others exp(-9), that is 1.2e-4, and make up
    // an eighth of the sum. Half holds exp(-9) to 11 bits still, but 1 + 1.2e-4 is 1.
    constexpr int64_t kKeys = 1001;
    auto shape = plain_attention(1, 1, 2, kKeys, 32);
    shape.scale = 1.0f;
    auto inputs = constant_inputs(shape, 0.0f, 0.0f, 1.0f);
    for (size_t i = 0; i < inputs.q.size(); i += 32)
        inputs.q[i] = 1.0f;
    for (size_t j = 0; j < static_cast<size_t>(kKeys); ++j) {
        inputs.k[j * 32] = j == 0 ? 0.0f : -9.0f;
        for (size_t d = 0; d < 32; ++d)
            inputs.v[j * 32 + d] = j == 0 ? 1.0f : -1.0f - static_cast<float>(d) / 32;
    }
    grade(shape, inputs, ", scores 0 and -9");
}

TEST_CASE("small weights count: thousands of keys, each next to nothing") {
    auto shape = plain_attention(1, 1, 1, 2101, 32);
    shape.scale = 1.0f;
    grade_type<__nv_bfloat16>(shape, small_weights(shape), ", scores -64 and -124");
    shape.keys = 4;
    grade_type<__half>(shape, nearly_alone(shape), ", scores 0 and below -10");
}

TEST_CASE("scores of a million, all alike, of either sign") {
    auto shape = plain_attention(1, 2, 5, 67, 32);
    shape.scale = 1.0f;
    // Scores are floats whatever the type is: one of each sign.
    grade_type<__half>(shape, far_scores(shape, -0x1p20f), ", every score -2^20");
    grade_type<__nv_bfloat16>(shape, far_scores(shape, 0x1p20f), ", every score 2^20");
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
                              plain_attention(1, 1, 4099, 2, 32),
                              plain_attention(1, 1, 4128, 33, 32, true)})
        grade_type<__half>(
            shape, chosen_keys(shape, 1), ", seven keys of eight chosen");
#ifdef SIMT_CPU
    constexpr int64_t kKeys = 8193;
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
    grade(shape, inputs, ", the last score 16, the others 0");
}

TEST_CASE("logits from -10000 to 10000 neither overflow nor vanish") {
    for (const bool rising : {true, false}) {
        const auto shape = plain_attention(1, 1, 9, 131, 64);
        grade(shape,
              wb::testing::large_logits(shape, 1e4, rising, 1),
              rising ? ", logits up to 10^4, rising" : ", logits up to 10^4, falling");
    }
}

TEST_CASE("logits far from zero, close to each other") {
    // 60000 is a score that half still has, but its neighbours there are 32 apart, and
    // bf16's 256: scores must stay floats until their maximum is subtracted.
    auto shape = plain_attention(1, 1, 3, 70, 32);
    shape.scale = 1.0f;
    auto inputs = wb::testing::random_attention(shape, 1);
    for (size_t i = 0; i < inputs.q.size(); ++i)
        inputs.q[i] = i % 32 == 0 ? 240.0f : (i % 32 == 1 ? 1.0f : 0.0f);
    for (size_t i = 0; i < inputs.k.size(); ++i) {
        if (i % 32 == 0) inputs.k[i] = 250.0f;
    }
    grade(shape, inputs, ", scores 60000 and a little");
}

TEST_CASE("a NaN reaches the rows that see it, and no others") {
    const auto graded = [](auto zero, int64_t D) {
        using T = decltype(zero);
        const NotFinite numbers(2, 2, D);
        const auto inputs = as_stored<T>(random_attention(numbers.shape, 1));
        grade_type<T>(numbers.shape,
                      numbers.spoilt(inputs),
                      numbers.spoilt(expect_attention(numbers.shape, inputs)),
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
        grade_type<T>(shape,
                      inputs,
                      expect_subnormal(shape, inputs, kSmallest, expect_attention),
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
        auto shape = plain_attention(1, 2, 33, 33, 32);
        shape.scale = scale;
        grade(shape);
        shape.causal = true;  // a mask of -inf that is scaled by 0 is no number
        if (scale == 0.0f) grade(shape);
    }
}

TEST_CASE("what is stored in 16 bits fails the test of a float kernel") {
    // Chapter 02's bound is that of float arithmetic on float inputs. The rounding of
    // q, k, v and o to 16 bits is far outside of it, which is why this chapter has a
    // bound of its own, and compares with the exact result of the rounded inputs.
    const auto shape = plain_attention(1, 1, 33, 70, 64);
    const auto inputs = wb::testing::random_attention(shape, 1);
    const auto of_floats = expect_attention(shape, inputs);
    const auto rejected = [&](auto zero) {
        using T = decltype(zero);
        const auto of_stored = expect_attention(shape, as_stored<T>(inputs));
        Grader grade("mixed_precision_attention",
                     std::string(Format<T>::kName) + ", beside chapter 02's bound");
        const T* d_q = grade.input("q", rounded<T>(inputs.q));
        const T* d_k = grade.input("k", rounded<T>(inputs.k));
        const T* d_v = grade.input("v", rounded<T>(inputs.v));
        T* d_o = grade.output<T>("o", {33, 64});
        grade.run([&](cudaStream_t s) {
            mixed_precision_attention(shape, d_q, d_k, d_v, d_o, nullptr, s);
        });
        grade.expect("o", of_stored.o, [&](int64_t i) {
            const auto at = static_cast<size_t>(i);
            return stored_bound<T>(of_stored.o[at], of_stored.o_bound[at]);
        });
        const wb::testing::Observed got = {
            "o", {33, 64}, grade.read("o"), std::vector<bool>(33 * 64, false)};
        const auto verdict = wb::testing::compare(got, of_floats.o, [&](int64_t i) {
            return of_floats.o_bound[static_cast<size_t>(i)];
        });
        INFO(Format<T>::kName << ": " << verdict.wrong << " of " << 33 * 64
                              << " elements are outside of chapter 02's bound");
        CHECK(verdict.wrong > 33 * 64 / 4);
    };
    rejected(__half());
    rejected(__nv_bfloat16());
}

TEST_CASE("no memory for scores", "[serial]") {
    expect_no_scores_in_memory<__half>(implementations_of<__half>(), 32);
}

TEST_CASE("more than 4096 batches, heads, or queries", "[long]") {
    for (const auto& shape : shapes_of_many(32, false, 515))
        grade_type<__half>(shape,
                           uneven_rows(shape, 1),
                           ", rows of scores far from each other",
                           true,
                           true);
}

TEST_CASE("right whatever order the threads run in") {
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3);
    wb::testing::shuffle_threads(seed);
    grade(plain_attention(1, 1, 40, 70, 32, true), seed);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("rows and keys of one head past 2^31 elements", "[large][serial]") {
    Grader("mixed_precision_attention", "queries = 0")
        .expect_no_work([](cudaStream_t s) {
            __half* const none = nullptr;
            const auto empty = plain_attention(1, 1, 0, 1, 32);
            mixed_precision_attention(empty, none, none, none, none, nullptr, s);
        });
#ifdef SIMT_CPU
    WB_SKIP("sixteen million keys of 128 numbers are too much for the simulator");
#else
    const auto contract = [](auto... arguments) {
        mixed_precision_attention(arguments...);
    };
    wb::testing::grade_far_keys<__half>("mixed_precision_attention", contract);
    wb::testing::grade_far_rows<__half>("mixed_precision_attention", contract);
#endif
}

TEST_CASE("keys of more than 2^31 elements", "[large]") {
    // What is not solved must fail here, too, and not be skipped.
    Grader unsolved("mixed_precision_attention", "queries = 0");
    unsolved.expect_no_work([](cudaStream_t s) {
        __half* const none = nullptr;
        const auto empty = plain_attention(1, 1, 0, 1, 32);
        mixed_precision_attention(empty, none, none, none, none, nullptr, s);
    });
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

TEST_CASE("no queries: nothing is launched") {
    Grader grade("mixed_precision_attention", "queries = 0, batch = 0, or no heads");
    grade.expect_no_work([](cudaStream_t s) {
        __half* const fp16 = nullptr;
        __nv_bfloat16* const bf16 = nullptr;
        for (const auto& shape : {plain_attention(1, 1, 0, 7, 32),
                                  plain_attention(0, 2, 7, 7, 32),
                                  plain_attention(2, 0, 7, 7, 32)}) {
            mixed_precision_attention(shape, fp16, fp16, fp16, fp16, nullptr, s);
            mixed_precision_attention(shape, bf16, bf16, bf16, bf16, nullptr, s);
        }
    });
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    Grader memory("mixed_precision_attention", "wrong arguments");
    __half* d = memory.output<__half>("d", {2 * 4 * 32 + 8});
    __half host[256] = {};
    const auto good = plain_attention(1, 2, 4, 4, 32);
    const auto refused = [&](const std::string& part, const AttentionShape& shape) {
        expect_refused("mixed_precision_attention", describe(shape), part, [&] {
            mixed_precision_attention(shape, d, d, d, d, nullptr, nullptr);
        });
    };
    refused("shape.batch is -1", plain_attention(-1, 2, 4, 4, 32));
    refused("shape.queries is -4", plain_attention(1, 2, -4, 4, 32));
    refused("shape.keys is 2147483648", plain_attention(1, 2, 4, int64_t{1} << 31, 32));
    refused("shape.head_dim is 48", plain_attention(1, 2, 4, 4, 48));
    refused("shape.head_dim is 256", plain_attention(1, 2, 4, 4, 256));
    auto grouped = good;
    grouped.query_heads = 4;
    refused("shape.kv_heads is 2", grouped);
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
        expect_refused("mixed_precision_attention", what, part, [&] {
            mixed_precision_attention(good, q, k, v, o, lse, nullptr);
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
