// Grades day06-llm-attention/04-paged-attention: one multiprocessor, where a version
// with as many blocks as run at once has one, which goes from sequence to sequence.
#include "paged_grading.h"

#include <wb/testing/attention_cases.h>
#include <wb/testing/simulator.h>
#include <wb/testing/special_attention.h>

#include <vector>

using namespace paged_grading;
using wb::testing::FewMultiprocessors;

TEST_CASE("one block for all: as many tiles as warps, fewer, and more") {
    // Of 16 keys: 1, 3 and 6 for each of eight warps, one less, one more, and 33.
    const FewMultiprocessors few(1);
    for (const int64_t D : {64, 128}) {
        for (const int64_t tiles : {7, 8, 9, 23, 24, 25, 47, 48, 49, 8 * 33}) {
            PagedShape shape{{16 * tiles - 3}};
            shape.query_heads = 1;
            shape.head_dim = D;
            grade_last(shape, static_cast<uint64_t>(tiles));
        }
    }
}

TEST_CASE("one block for all: scores that rise slowly, and huge values") {
    // Who keeps an old maximum, for a new one is not much larger, has sums past the
    // largest float at last.
    const FewMultiprocessors few(1);
    for (const int64_t D : {64, 128}) {
        PagedShape shape{{2'101}};
        shape.query_heads = 1;
        shape.head_dim = D;
        PagedInputs inputs = random_paged(shape, 52, 7);
        const auto problem = problem_of(inputs, 0);
        auto made =
            wb::testing::with_logits(problem, wb::testing::Logits::gentle, {}, 52);
        made.v = wb::testing::huge_values(problem).v;
        set_sequence(inputs, 0, made);
        const AttentionExpected expected = expect_paged(inputs);
        for (const auto& [name, idea, function] : wb::testing::last_of(attentions()))
            attend(name, function, inputs, &expected, "huge v, gently rising logits");
    }
}

TEST_CASE("one block for all: from sequence to sequence, and from head to head") {
    // v5 has two warps for each of four heads: with 32 tiles each, a few more, one tile
    // for both, none. Then eight warps for each of three heads, one after the other.
    const FewMultiprocessors few(1);
    for (const int64_t D : {64, 128}) {
        PagedShape shape{{1'024, 17, 1, 0, 1'061, 16, 500, 0, 33}};
        shape.kv_heads = 4;
        shape.query_heads = 8;
        shape.head_dim = D;
        grade_last(shape, 50);
        shape.kv_heads = shape.query_heads = 3;
        grade_last(shape, 51);
    }
}
