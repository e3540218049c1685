// Grades day06-llm-attention/03-grouped-query-attention: what is read of keys and
// values, in counters.
#include "grouped_query_attention.h"

#include <wb/testing/attention.h>
#include <wb/testing/catch.h>
#include <wb/testing/goal.h>
#include <wb/testing/grader.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

#include <string>

using namespace wb::testing;

namespace {

/// Sectors of 32 bytes read from global memory since the goal began; 0 on a GPU, where
/// no goal is counted.
uint64_t sectors() {
#ifdef SIMT_CPU
    const auto c = simt::check::counters("");
    return c.global_load.sectors + c.async_load.sectors;
#else
    return 0;
#endif
}

/// The contract's function alone.
/// @param key_rows  rows of k that all blocks of 128 packed rows have to read together
void count(const wb::AttentionShape& shape, int64_t key_rows) {
    const auto inputs = random_attention(shape, 1);
    const auto expected = expect_attention(shape, inputs);
    const Goal goal("grouped_query_attention");
    Grader grade("grouped_query_attention", describe(shape));
    const float* q = grade.input("q", inputs.q);
    const float* k = grade.input("k", inputs.k);
    const float* v = grade.input("v", inputs.v);
    float* o = grade.output<float>("o", {shape.rows(), shape.head_dim});
    grade.run([&](cudaStream_t stream) {
        grouped_query_attention(shape, q, k, v, o, nullptr, stream);
    });
    grade.expect("o", expected.o, [&](int64_t i) {
        return expected.o_bound[static_cast<size_t>(i)];
    });
    const auto allowed =
        static_cast<uint64_t>((shape.rows() + 2 * key_rows) * shape.head_dim * 4 / 32);
    goal.require(sectors() <= allowed,
                 std::to_string(sectors()) + " sectors are read, " +
                     std::to_string(allowed) + " would do with " + describe(shape));
}

}  // namespace

TEST_CASE("four heads of a group read their keys and values once", "[.][goal][fast]") {
    auto shape = plain_attention(1, 4, 32, 128, 64);
    shape.kv_heads = 1;
    count(shape, 128);
}

TEST_CASE("keys that no row of a block sees are not read", "[.][goal][fast]") {
    // Two heads of 256 queries: blocks of the first 128 see half of the keys.
    auto shape = plain_attention(1, 2, 256, 256, 32, true);
    shape.kv_heads = 1;
    count(shape, 2 * (128 + 256));
}
