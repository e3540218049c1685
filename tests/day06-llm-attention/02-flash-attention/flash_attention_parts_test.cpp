// Grades day06-llm-attention/02-flash-attention: few queries and many keys, which
// versions may cut into parts and merge.
#include "flash_attention.h"

#include <wb/implementations.h>
#include <wb/testing/attention.h>
#include <wb/testing/attention_grade.h>
#include <wb/testing/attention_traps.h>
#include <wb/testing/catch.h>
#include <wb/testing/simulator.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using wb::AttentionShape;
using wb::testing::plain_attention;

/// All versions; where threads are watched, which takes long, the last one.
auto versions() {
    const auto all = wb::implementations("flash_attention", flash_attention);
    return wb::testing::is_watched() ? wb::testing::last_of(all) : all;
}

/// Random inputs whose scores rise from 0 to 60 along the keys, or fall, so that of
/// two parts of the keys one has next to all of the weight.
void grade_slope(const AttentionShape& shape, bool falling, bool with_lse) {
    auto inputs = wb::testing::random_attention(shape, 1);
    const auto dim = static_cast<size_t>(shape.head_dim);
    const auto keys = static_cast<size_t>(shape.keys);
    for (size_t i = 0; i < inputs.q.size(); i += dim)
        inputs.q[i] = 1.0f / shape.scale;
    for (size_t i = 0; i < inputs.k.size(); i += dim) {
        const size_t key = i / dim % keys;
        const size_t rank = falling ? keys - 1 - key : key;
        inputs.k[i] = 60.0f * static_cast<float>(rank) / static_cast<float>(keys);
    }
    wb::testing::grade_attention(versions(),
                                 shape,
                                 inputs,
                                 expect_attention(shape, inputs),
                                 falling ? ", falling scores" : ", rising scores",
                                 with_lse);
}

}  // namespace

TEST_CASE("few queries: as many keys as parts have, one less, and one more") {
    for (const int64_t keys : {63, 64, 65, 128, 129, 193}) {
        grade_slope(plain_attention(1, 2, 3, keys, 32), keys % 2 == 0, true);
        grade_slope(plain_attention(2, 1, 1, keys, 32, true), keys % 2 != 0, false);
    }
    for (const int64_t D : {64, 128, 256})
        grade_slope(plain_attention(1, 1, 2, 131, D), false, true);
}

TEST_CASE("few queries: parts of which a row, or a block of rows, sees no key") {
    // With 32 rows to a block and 64 keys to a step, block 0 sees one step of the four,
    // for two parts; or two, of which row 0 sees one.
    for (const auto& [queries, keys] : {std::pair{190, 210}, std::pair{190, 240}})
        grade_slope(plain_attention(1, 1, queries, keys, 32, true), true, true);
}

TEST_CASE("few queries: parts of unequal size") {
    grade_slope(plain_attention(1, 1, 190, 290, 32), false, true);
}

TEST_CASE("few queries: the parts take no more memory than k and v", "[serial]") {
    // Of the second, a part more than there is room for would be of use; its 2 sums of
    // each row, beside the D of o, are what does not fit.
    for (const auto& [queries, keys] : {std::pair{7, 1000}, std::pair{130, 195}}) {
        const auto shape = plain_attention(1, 1, queries, keys, 32);
        wb::testing::expect_memory_at_most(
            "flash_attention",
            flash_attention,
            shape,
            static_cast<uint64_t>(2 * shape.kv_elements()) * sizeof(float));
    }
}
