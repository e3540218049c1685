// Grades day06-llm-attention/04-paged-attention: calls right behind each other, more
// heads and pages than 16 bits count.
#include "far_pages.h"
#include "paged_grading.h"

#include <wb/testing/catch.h>
#include <wb/testing/grader.h>

#include <vector>

using namespace paged_grading;

TEST_CASE("a step of decoding reads what has been appended right before") {
    // Nothing is between the launches: one that may begin early must wait itself.
    PagedShape shape{{5, 33}};
    shape.kv_heads = 2;
    const PagedInputs inputs = random_paged(shape, 1, 7);
    const AttentionExpected expected = expect_paged(inputs);
    const Append prompts = tokens_of(inputs, {{0, 0, 4}, {1, 0, 32}});
    const Append tokens = tokens_of(inputs, {{0, 4, 1}, {1, 32, 1}});
    const wb::PagedWorkspace workspace(4);
    Grader grade("append_kv and paged_attention", "two prompts, and a token of each");
    wb::PagedCache cache = sizes_of(inputs);
    const auto pool = static_cast<int64_t>(inputs.k_pool.size());
    const std::vector<__nv_bfloat16> stale(inputs.k_pool.size(),
                                           wb::testing::stale_number());
    cache.k = grade.in_out<__nv_bfloat16>("cache.k", {pool}, stale);
    cache.v = grade.in_out<__nv_bfloat16>("cache.v", {pool}, stale);
    cache.block_table = grade.input("cache.block_table", inputs.table);
    wb::PagedCache before = cache;
    before.lengths = grade.input("lengths before", std::vector<int32_t>{4, 32});
    cache.lengths = grade.input("cache.lengths", inputs.lengths);
    const auto* q = grade.input("q", inputs.q);
    auto* o = grade.output<__nv_bfloat16>("o", {2, 2, 64});
    struct Arrays {
        const __nv_bfloat16* k;
        const __nv_bfloat16* v;
        const int32_t* sequences;
        const int32_t* positions;
        int64_t count;
    };
    const auto arrays = [&](const std::string& of, const Append& append) {
        return Arrays{grade.input("k of " + of, append.k),
                      grade.input("v of " + of, append.v),
                      grade.input("sequences of " + of, append.sequences),
                      grade.input("positions of " + of, append.positions),
                      append.tokens()};
    };
    const Arrays first = arrays("prompts", prompts);
    const Arrays then = arrays("tokens", tokens);
    grade.run([&](cudaStream_t s) {
        for (const auto& [cache_then, a] :
             {std::pair{before, first}, std::pair{cache, then}}) {
            append_kv(
                cache_then, a.k, a.v, a.sequences, a.positions, a.count, workspace, s);
            paged_attention(cache_then, q, o, nullptr, 2, inputs.scale(), workspace, s);
        }
    });
    workspace.check(nullptr);
    grade.expect("o", expected.o, [&](int64_t i) {
        return expected.o_bound[static_cast<size_t>(i)];
    });
}

TEST_CASE("more query heads than a grid has blocks along y", "[long]") {
    PagedShape shape{{2}};
    shape.query_heads = 65'539;
    grade_last(shape, 1, /*with_lse=*/false);
}

TEST_CASE("more pages than 16 bits count") {
    grade_far_page({{16, 64}, 1, 65'541}, "the second page is number 65541");
}
