// Grades day06-llm-attention/04-paged-attention: one multiprocessor, whose blocks go
// from sequence to sequence, with copies under way for the next.
#include "paged_grading.h"

#include <wb/testing/simulator.h>

#include <vector>

using namespace paged_grading;
using wb::testing::FewMultiprocessors;

namespace {

/// The last version alone, or the learner's function.
void grade_last(const PagedShape& shape, uint64_t seed) {
    const PagedInputs inputs = random_paged(shape, seed, 7);
    const AttentionExpected expected = expect_paged(inputs);
    for (const auto& [name, idea, function] : wb::testing::last_of(attentions()))
        attend(name, function, inputs, &expected, with_seed(inputs, seed));
}

}  // namespace

TEST_CASE("one block for all: tiles that eight warps have under way, fewer, and more") {
    // Of 16 keys: 3 and 6 for each warp, one less, one more, and 33.
    const FewMultiprocessors few(1);
    for (const int64_t D : {64, 128}) {
        for (const int64_t tiles : {23, 24, 25, 47, 48, 49, 8 * 33}) {
            PagedShape shape{{16 * tiles - 3}};
            shape.query_heads = 1;
            shape.head_dim = D;
            grade_last(shape, static_cast<uint64_t>(tiles));
        }
    }
}

TEST_CASE("one block for all: the next sequence's tiles are asked for early") {
    // Two warps share the tiles of each of four heads: 32 a warp, a few more, one for
    // one of the two, none. Then a warp for each head.
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
