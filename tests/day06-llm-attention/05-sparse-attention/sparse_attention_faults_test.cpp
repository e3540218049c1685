// Grades day06-llm-attention/05-sparse-attention: what is wrong in a list is reported,
// and what is wrong in a call is refused.
#include "sparse_attention.h"

#include <wb/testing/attention_arguments.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/simulator.h>

#include <limits>
#include <string>

#include "faults.h"
#include "grade.h"

TEST_CASE("an index that is no key is reported, and not read", "[first]") {
    for (const int64_t D : kHeadDims) {
        faults::grade_only_index(9, D);
        faults::grade_index(-1, 2, D);
        faults::grade_index(9, 1, D);
        faults::grade_index(std::numeric_limits<int32_t>::max(), 1, D);
        // Its offset in k is 0 in 32 bits.
        faults::grade_index(static_cast<int32_t>((int64_t{1} << 32) / D), 1, D);
        faults::grade_index_of_long_row(D, 35, 1, {0, 1, 2, 3, 5, 16, 33, 34, 35});
        faults::grade_index_of_long_row(D, 259, 130, {257});
    }
    if (wb::testing::is_watched()) return;
    faults::grade_index_of_long_row(32, 1100, 4'099, {1050});
    // The thread that reports it may be another head's.
    for (const unsigned seed : {1u, 2u, 3u, 4u}) {
        wb::testing::shuffle_threads(seed);
        faults::grade_index(9, 5, 32);
    }
    wb::testing::shuffle_threads(0);
}

TEST_CASE("offsets that are no range are reported, and the row is empty") {
    constexpr int64_t kPastInt = int64_t{1} << 32;
    for (const int64_t D : kHeadDims) {
        faults::grade_offsets({0, 2, 4, 99}, 2, 2, D);
        faults::grade_offsets({0, 2, 4, 7}, 2, 1, D);  // there are 6 indices
        faults::grade_offsets({-5, 2, 4, 6}, 0, 2, D);
        faults::grade_offsets({-1, 2, 4, 6}, 0, 1, D);
        faults::grade_offsets({0, 4, 2, 6}, 1, 2, D);
        // The lower halves of these are right.
        faults::grade_offsets({0, 2, 4, kPastInt + 6}, 2, 2, D);
        faults::grade_offsets({-kPastInt, 2, 4, 6}, 0, 1, D);
        faults::grade_offsets_of_nothing(D);
    }
}

TEST_CASE("where there are no keys, each index is wrong") {
    const auto none = rows_of(0, {{}, {}});
    const auto wrong = rows_of(0, {{}, {0}});
    HostBlocks blocks = to_blocks(none);
    blocks.full.blocks = {0};
    blocks.full.offsets.back() = 1;
    const PatternStatus fault = {static_cast<int32_t>(PatternFault::index), 1, 0, 0};
    const PatternStatus of_block = {static_cast<int32_t>(PatternFault::index), 0, 0, 0};
    const auto shape = shape_of(none, 64, 1, 2);
    const auto inputs = random_attention(shape, 1);
    const auto expected = expect_sparse(shape, none, inputs);
    for (const bool lse : {false, true}) {
        grade_rows(shape, wrong, inputs, expected, "an index", fault, lse);
        grade_blocks(shape, blocks, inputs, expected, "a block", of_block, lse);
    }
}

TEST_CASE("what is in status already stays there") {
    faults::grade_earlier_fault();
}

TEST_CASE("wrong arguments are refused by name") {
    using wb::testing::expect_refused;
    Grader memory("sparse_attention", "wrong arguments");
    float* d = memory.output<float>("d", {2 * 4 * 32});
    float host[4] = {};
    const wb::PatternCheck check;
    const auto rows = upload(memory, wb::dense_pattern(4, 4, false));
    Grader more("block_sparse_attention", "wrong arguments");
    const auto blocks = upload(more, to_blocks(wb::dense_pattern(4, 4, false)));
    const auto good = wb::testing::plain_attention(1, 2, 4, 4, 32);
    const auto refused = [&](const std::string& part,
                             const AttentionShape& shape,
                             float* q,
                             PatternStatus* status) {
        expect_refused("sparse_attention", describe(shape), part, [&] {
            sparse_attention(shape, rows, q, d, d, d, nullptr, status, nullptr);
        });
        expect_refused("block_sparse_attention", describe(shape), part, [&] {
            block_sparse_attention(shape, blocks, q, d, d, d, nullptr, status, nullptr);
        });
    };
    refused("q is a null pointer", good, nullptr, check.status());
    refused("status is a null pointer", good, d, nullptr);
    refused("q is a host pointer", good, host, check.status());
    PatternStatus on_host;
    refused("status is a host pointer", good, d, &on_host);
    wb::testing::expect_shapes_refused(
        "sparse_attention", good, /*groups=*/false, [&](const AttentionShape& shape) {
            sparse_attention(shape, rows, d, d, d, d, nullptr, check.status(), nullptr);
        });
    wb::testing::expect_shapes_refused(
        "block_sparse_attention",
        good,
        /*groups=*/false,
        [&](const AttentionShape& shape) {
            block_sparse_attention(
                shape, blocks, d, d, d, d, nullptr, check.status(), nullptr);
        });
    for (const int64_t queries : {4, 0}) {
        auto shape = good;
        shape.queries = queries;
        shape.causal = true;
        refused("shape.causal is 1", shape, d, check.status());
        shape.causal = false;
        shape.head_dim = 256;
        refused("shape.head_dim is 256", shape, d, check.status());
    }
    auto null_offsets = rows;
    null_offsets.offsets = nullptr;
    auto negative = rows;
    negative.num_indices = -1;
    auto negative_full = blocks;
    negative_full.full.num_blocks = -1;
    auto negative_partial = blocks;
    negative_partial.partial.num_blocks = -1;
    const auto rows_refused = [&](const std::string& part,
                                  const AttentionShape& shape,
                                  const wb::CsrPattern& pattern) {
        expect_refused("sparse_attention", part, part, [&] {
            sparse_attention(
                shape, pattern, d, d, d, d, nullptr, check.status(), nullptr);
        });
    };
    const auto blocks_refused = [&](const std::string& part,
                                    const AttentionShape& shape,
                                    const wb::BlockPattern& pattern) {
        expect_refused("block_sparse_attention", part, part, [&] {
            block_sparse_attention(
                shape, pattern, d, d, d, d, nullptr, check.status(), nullptr);
        });
    };
    rows_refused("pattern.offsets is a null pointer", good, null_offsets);
    auto empty = good;
    empty.queries = 0;
    for (const auto& shape : {good, empty}) {
        rows_refused("pattern.num_indices is -1", shape, negative);
        blocks_refused("pattern.full.num_blocks is -1", shape, negative_full);
        blocks_refused("pattern.partial.num_blocks is -1", shape, negative_partial);
    }
    auto null_order = blocks;
    null_order.order = nullptr;
    blocks_refused("pattern.order is", good, null_order);
}
