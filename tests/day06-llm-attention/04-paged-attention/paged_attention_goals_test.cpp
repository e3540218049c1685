// Grades day06-llm-attention/04-paged-attention: what loads cost, in counters.
#include "paged_grading.h"

#include <wb/testing/goal.h>
#include <wb/testing/simulator.h>
#ifdef SIMT_CPU
#include <simt/counters.h>
#endif

#include <string>
#include <vector>

using namespace paged_grading;
using wb::testing::FewMultiprocessors;
using wb::testing::Goal;

namespace {

/// A lone sequence, eight parts of 128 tokens, with four query heads for its K/V head.
constexpr int64_t kTokens = 1024;

PagedShape lone_sequence() {
    PagedShape shape{{kTokens}};
    shape.query_heads = 4;
    shape.kv_heads = 1;
    shape.head_dim = 128;
    shape.spare_entries = 0;
    return shape;
}

/// The contract's function alone, where there are eight multiprocessors.
template <class Check>
void count_attention(Check check) {
    const FewMultiprocessors few(8);
    const PagedInputs inputs = random_paged(lone_sequence(), 1, 7);
    const AttentionExpected expected = expect_paged(inputs);
    const Goal goal("paged_attention");
    attend("paged_attention", paged_attention, inputs, &expected, with_seed(inputs, 1));
    check(goal);
}

/// Warps of all launches since the goal began; 0 on a GPU, where no goal is counted.
uint64_t warps() {
#ifdef SIMT_CPU
    return simt::check::counters("").warps;
#else
    return 0;
#endif
}

}  // namespace

TEST_CASE("K and V are loaded once for four heads, 16 bytes a lane",
          "[.][goal][fast]") {
    count_attention([](const Goal& goal) {
        constexpr double kBytes = 2.0 * kTokens * 128 * 2;
        // Queries, the table, the parts and what merges them: a quarter as much again.
        goal.loads_at_most(1.25 * kBytes / 32, 1.5 * kBytes / 512);
    });
}

TEST_CASE("a lone sequence has work for eight blocks", "[.][goal][fast]") {
    count_attention([](const Goal& goal) {
        goal.require(warps() >= 8 * 8,
                     std::to_string(warps()) + " warps work on a lone sequence, " +
                         std::to_string(8 * 8) + " could");
    });
}

TEST_CASE("a token's numbers are copied 16 bytes a lane", "[.][goal][fast]") {
    PagedShape shape{{32}};
    shape.kv_heads = 4;
    shape.head_dim = 128;
    const PagedInputs inputs = random_paged(shape, 2, 7);
    const Append append = tokens_of(inputs, {{0, 0, 32}});
    const std::vector<uint16_t> stale(inputs.k_pool.size(), 0xFFFF);
    const auto pool = static_cast<int64_t>(stale.size());
    const wb::PagedWorkspace workspace(1);
    const Goal goal("append_kv");
    Grader grade("append_kv", with_seed(inputs, 2));
    wb::PagedCache cache = cache_on_device(grade, inputs);
    cache.k = reinterpret_cast<__nv_bfloat16*>(
        grade.in_out<uint16_t>("new cache.k", {pool}, stale));
    cache.v = reinterpret_cast<__nv_bfloat16*>(
        grade.in_out<uint16_t>("new cache.v", {pool}, stale));
    const auto* k = grade.input("k", append.k);
    const auto* v = grade.input("v", append.v);
    const auto* sequences = grade.input("sequences", append.sequences);
    const auto* positions = grade.input("positions", append.positions);
    grade.run([&](cudaStream_t s) {
        append_kv(cache, k, v, sequences, positions, append.tokens(), workspace, s);
    });
    const auto k_bits = bits_of(inputs.k_pool);
    grade.expect(
        "new cache.k", {k_bits.begin(), k_bits.end()}, [](int64_t) { return 0.0; });
    constexpr double kBytes = 2.0 * 32 * 4 * 128 * 2;
    // Each warp looks up sequence, position and page of its four rows.
    constexpr double kLookups = 3.0 * kBytes / 1024;
    goal.loads_at_most(kBytes / 32 + kLookups, kBytes / 512 + kLookups);
}
