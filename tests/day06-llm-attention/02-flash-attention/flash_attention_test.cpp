// Grades day06-llm-attention/02-flash-attention.
#include "flash_attention.h"

#include <wb/check.h>
#include <wb/implementations.h>
#include <wb/scratch.h>
#include <wb/testing/attention.h>
#include <wb/testing/attention_arguments.h>
#include <wb/testing/attention_grade.h>
#include <wb/testing/attention_sizes.h>
#include <wb/testing/attention_traps.h>
#include <wb/testing/attention_triples.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/independent_calls.h>
#include <wb/testing/memory_watch.h>
#include <wb/testing/other_device.h>
#include <wb/testing/simulator.h>
#include <wb/testing/special_attention.h>

#include <algorithm>
#include <cmath>

#include "flash_limits.h"

namespace {

using wb::AttentionShape;
using wb::testing::Grader;
using wb::testing::plain_attention;

void grade(const AttentionShape& shape, uint64_t seed = 1) {
    wb::testing::grade_random_attention(
        "flash_attention", flash_attention, shape, seed);
}

/// An unsolved starter says so in every test, also in those that are skipped here.
void expect_not_unsolved() {
    Grader("flash_attention", "queries = 0").expect_no_work([](cudaStream_t s) {
        flash_attention(plain_attention(1, 1, 0, 1, 32),
                        nullptr,
                        nullptr,
                        nullptr,
                        nullptr,
                        nullptr,
                        s);
    });
}

/// The covering design of this chapter, and what of it has this mask.
void grade_edges(wb::testing::Mask mask) {
    static const auto cases = wb::testing::attention_cases();
    wb::testing::grade_cases("flash_attention", flash_attention, cases, mask);
}

/// The design of strength three.
void grade_triples(bool causal) {
    static const auto cases = wb::testing::triple_cases();
    wb::testing::grade_triples("flash_attention", flash_attention, cases, causal);
}

}  // namespace

TEST_CASE("one query and one key: the output is the value") {
    grade(plain_attention(1, 1, 1, 1, 64));
}

TEST_CASE("as many queries as keys, from one to odd primes") {
    for (const int64_t n : wb::testing::lengths())
        grade(plain_attention(1, 2, n, n, 32), static_cast<uint64_t>(n));
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
    // Threads race for the tiles of a shape, not for its heads.
    if (wb::testing::is_watched()) return;
    grade(plain_attention(9, 2, 1, 3, 32));
    grade(plain_attention(2, 67, 1, 3, 32));
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
    grade(plain_attention(1, 1, 131, 132, 32, true));  // a block sees one key of a tile
    for (const auto [queries, keys] : wb::testing::unequal_lengths())
        grade(plain_attention(2, 1, queries, keys, 32, true));
}

TEST_CASE("a query that sees no key gives zeros and minus infinity") {
    grade(plain_attention(1, 2, 5, 1, 32, true));
    grade(plain_attention(1, 2, 100, 40, 64, true));
}

TEST_CASE("no keys at all: zeros and minus infinity, and they are written") {
    wb::testing::grade_no_keys("flash_attention", flash_attention);
}

TEST_CASE("equal weights: whole numbers add up exactly", "[values]") {
    for (const int64_t keys : {1, 2, 31, 64, 97, 1100, 2049}) {
        // Of 2049 keys one is behind the last tile, and a single query sees it.
        const auto shape = plain_attention(1, 2, keys == 2049 ? 1 : 5, keys, 32);
        const auto inputs = wb::testing::equal_weights(shape, 1);
        wb::testing::grade_attention("flash_attention",
                                     flash_attention,
                                     shape,
                                     inputs,
                                     expect_equal_weights(shape, inputs),
                                     ", q = 0, v whole numbers");
    }
}

TEST_CASE("logits from -10000 to 10000 neither overflow nor vanish", "[values]") {
    wb::testing::grade_large_logits("flash_attention", flash_attention, 1, 1);
}

TEST_CASE("scores of a million, all alike, of either sign", "[values]") {
    wb::testing::grade_far_scores("flash_attention", flash_attention, 2, 2);
}

TEST_CASE("small weights count: thousands of keys, each next to nothing", "[values]") {
    wb::testing::grade_small_weights("flash_attention", flash_attention, 1, 1);
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
    for (const auto& shape : {plain_attention(1, 1, 1, 4133, 32),
                              plain_attention(1, 1, 1, 12'301, 256),
                              plain_attention(1, 1, 3, 4128, 32, true),
                              plain_attention(1, 1, 2, 4099, 64, true),
                              plain_attention(1, 1, 2, 1301, 128, true),
                              plain_attention(1, 1, 1, 1301, 256),
                              plain_attention(1, 1, 4099, 12, 64),
                              plain_attention(1, 1, 4128, 5, 32, true)})
        wb::testing::grade_chosen_keys("flash_attention", flash_attention, shape);
    wb::testing::grade_gentle_rise("flash_attention", flash_attention);
    wb::testing::grade_far_peak(
        "flash_attention", flash_attention, plain_attention(1, 1, 1, 4131, 64));
}

TEST_CASE("many keys of each head dimension, seen or masked", "[long]") {
    wb::testing::grade_many_keys("flash_attention", flash_attention);
}

TEST_CASE("many keys, of which few have all the weight", "[long]") {
    wb::testing::grade_two_of_many("flash_attention", flash_attention);
}

TEST_CASE("any three edges meet: no mask", "[long]") {
    grade_triples(false);
}

TEST_CASE("any three edges meet: causal", "[long]") {
    grade_triples(true);
}

TEST_CASE("a NaN reaches the rows that see it, and no others") {
    wb::testing::grade_not_finite("flash_attention", flash_attention, 2, 2);
}

TEST_CASE("values below the smallest number with all its digits keep the rest",
          "[values]") {
    wb::testing::grade_subnormal("flash_attention", flash_attention);
}

TEST_CASE("small queries and small keys have all their digits", "[values]") {
    wb::testing::grade_small_numbers("flash_attention", flash_attention);
}

TEST_CASE("what counts is neither skipped nor shared nor hidden") {
    wb::testing::grade_traps("flash_attention", flash_attention, 2, 2);
}

TEST_CASE("more batches and heads than a byte counts with a mask and a scale",
          "[long]") {
    wb::testing::grade_many_masked("flash_attention", flash_attention, false);
}

TEST_CASE("nothing is kept from call to call with many keys and heads", "[long]") {
    wb::testing::expect_large_independent("flash_attention", flash_attention, 1);
}

TEST_CASE("nothing belongs to an address") {
    wb::testing::grade_same_arrays("flash_attention", flash_attention, 2, 2);
}

TEST_CASE("a GPU with little shared memory") {
    const wb::testing::LittleSharedMemory little;  // not enough for all tiles
    for (const auto& shape : wb::testing::shapes_of_another_kernel({32, 64, 128}, 1))
        grade(shape);
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
         wb::implementations("flash_attention", flash_attention)) {
#ifdef SIMT_CPU
        // 66,000 blocks with shuffles or large tiles take the simulator half a minute.
        if (name != "flash_attention" && name != "flash_attention_v1") continue;
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
    wb::testing::grade_uneven_rows("flash_attention",
                                   flash_attention,
                                   wb::testing::shapes_of_many(32, false, 515));
}

TEST_CASE("many of two sizes at once", "[long]") {
    wb::testing::grade_uneven_rows(
        "flash_attention",
        flash_attention,
        wb::testing::shapes_of_pairs({32, 64, 128, 256}, false));
}

TEST_CASE("right whatever order the threads run in") {
    const auto seed = GENERATE(as<unsigned>(), 1, 2, 3);
    wb::testing::shuffle_threads(seed);
    grade(plain_attention(1, 1, 40, 70, 32, true), seed);
    wb::testing::shuffle_threads(0);
}

TEST_CASE("no memory that grows with queries times keys", "[serial][long]") {
    // A matrix of scores of 512 x 512 would take 1 MiB. Two arrays that a caller of
    // such a length has anyway, q and o, take 64 KiB each.
    constexpr uint64_t kAllowed = 128 << 10;
    const auto shape = plain_attention(1, 1, 512, 512, 32);
    const auto one = plain_attention(1, 1, 1, 1, 32);
    const auto inputs = wb::testing::equal_weights(shape, 1);
    for (const auto& [name, idea, attention] :
         wb::implementations("flash_attention", flash_attention)) {
        Grader grade(name, describe(shape) + ", q = 0, v whole numbers");
        const float* d_q = grade.input("q", inputs.q);
        const float* d_k = grade.input("k", inputs.k);
        const float* d_v = grade.input("v", inputs.v);
        float* d_o = grade.output<float>("o", {512, 32});
        // The first launch of a kernel loads its code, which takes memory, too.
        grade.run([&, attention = attention](cudaStream_t s) {
            attention(one, d_q, d_k, d_v, d_o, nullptr, s);
        });
        const wb::testing::MemoryWatch watch;
        grade.run([&, attention = attention](cudaStream_t s) {
            attention(shape, d_q, d_k, d_v, d_o, nullptr, s);
        });
        watch.expect_at_most(kAllowed, name + ", " + describe(shape));
        // Every row of o is the mean of v.
        std::vector<double> mean(32, 0.0);
        for (size_t i = 0; i < inputs.v.size(); ++i)
            mean[i % 32] += double{inputs.v[i]} / 512.0;
        std::vector<double> expected;
        for (int row = 0; row < 512; ++row)
            expected.insert(expected.end(), mean.begin(), mean.end());
        grade.expect("o", expected, [&](int64_t i) {
            return wb::testing::float_bound(3, std::abs(expected[size_t(i)]));
        });
    }
}

TEST_CASE("65,536 queries and keys, and memory for none of their scores",
          "[large][serial]") {
    expect_not_unsolved();
#ifdef SIMT_CPU
    WB_SKIP("2^32 scores of 64 products are too much for the simulator");
#else
    // 16 GiB of scores. Rows are sampled: each takes the reference a while.
    constexpr int64_t kN = 65'536;
    const auto one = plain_attention(1, 1, 1, 1, 64);
    for (const bool causal : {false, true}) {
        const auto shape = plain_attention(1, 1, kN, kN, 64, causal);
        const auto inputs = wb::testing::random_attention(shape, 1);
        const std::vector<int64_t> rows = {0, 1, 4097, kN / 2, kN - 2, kN - 1};
        wb::testing::AttentionExpected expected;
        for (const int64_t row : rows)
            wb::testing::expect_row(shape, inputs, row, expected);
        for (const auto& [name, idea, attention] :
             wb::implementations("flash_attention", flash_attention)) {
            Grader grade(name, describe(shape));
            const float* d_q = grade.input("q", inputs.q);
            const float* d_k = grade.input("k", inputs.k);
            const float* d_v = grade.input("v", inputs.v);
            float* d_all = grade.output<float>("all of o", {kN, 64});
            float* d_o = grade.output<float>("o", {int64_t(rows.size()), 64});
            grade.run([&, attention = attention](cudaStream_t s) {
                attention(one, d_q, d_k, d_v, d_all, nullptr, s);
            });
            const wb::testing::MemoryWatch watch;
            grade.run([&, attention = attention](cudaStream_t s) {
                attention(shape, d_q, d_k, d_v, d_all, nullptr, s);
                for (size_t i = 0; i < rows.size(); ++i) {
                    CUDA_CHECK(cudaMemcpyAsync(d_o + 64 * i,
                                               d_all + 64 * rows[i],
                                               64 * sizeof(float),
                                               cudaMemcpyDeviceToDevice,
                                               s));
                }
            });
            watch.expect_at_most(64 << 20, name + ", " + describe(shape));
            grade.expect("o", expected.o, [&](int64_t i) {
                return expected.o_bound[static_cast<size_t>(i)];
            });
        }
    }
#endif
}

TEST_CASE("tensors of more than 2^31 elements", "[large]") {
    expect_not_unsolved();
#ifdef SIMT_CPU
    WB_SKIP("34 GB of memory are too much for the simulator");
#else
    flash_limits::grade_last_heads();
    wb::testing::grade_far_rows<float>("flash_attention", flash_attention);
#endif
}

TEST_CASE("keys of one head past 2^31 elements", "[large]") {
    expect_not_unsolved();
#ifdef SIMT_CPU
    WB_SKIP("eight million keys of 256 numbers are too much for the simulator");
#else
    flash_limits::grade_last_key();
#endif
}

TEST_CASE("no queries: nothing is launched") {
    Grader grade("flash_attention", "queries = 0, batch = 0, or no heads");
    grade.expect_no_work([](cudaStream_t s) {
        for (const auto& shape : {plain_attention(1, 1, 0, 7, 32),
                                  plain_attention(0, 2, 7, 7, 32),
                                  plain_attention(2, 0, 7, 7, 32)}) {
            flash_attention(shape, nullptr, nullptr, nullptr, nullptr, nullptr, s);
        }
    });
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    Grader memory("flash_attention", "wrong arguments");
    float* d = memory.output<float>("d", {2 * 4 * 32});
    const auto good = plain_attention(1, 2, 4, 4, 32);
    const auto refused = [&](const std::string& part, const AttentionShape& shape) {
        expect_refused("flash_attention", describe(shape), part, [&] {
            flash_attention(shape, d, d, d, d, nullptr, nullptr);
        });
    };
    refused("does not fit into 64 bits", plain_attention(1 << 30, 1 << 30, 9, 9, 32));
    wb::testing::expect_shapes_refused(
        "flash_attention", good, /*groups=*/false, [&](const AttentionShape& shape) {
            flash_attention(shape, d, d, d, d, nullptr, nullptr);
        });
    wb::testing::expect_pointers_refused(
        "flash_attention", flash_attention, good, true);
}
