// sparse_grading.h: patterns for the tests of v7 of Hopper attention, over the blocks
// of a pattern, and one call of it.
#pragma once

#include "block_sparse_attention.h"

#include <wb/errors.h>
#include <wb/testing/attention_cases.h>
#include <wb/testing/sparse_attention.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "../hopper_grading.h"

namespace sparse_grading {

using namespace hopper_grading;
using T = __nv_bfloat16;
using wb::BlockPattern;
using wb::HostBlocks;
using wb::HostCsr;
using wb::PatternFault;
using wb::PatternStatus;

inline constexpr int64_t kRows = BlockPattern::kRows;

/// Rows with these keys.
inline HostCsr rows_of(int64_t keys, const std::vector<std::vector<int32_t>>& rows) {
    HostCsr pattern;
    pattern.queries = static_cast<int64_t>(rows.size());
    pattern.keys = keys;
    for (const auto& row : rows) {
        pattern.indices.insert(pattern.indices.end(), row.begin(), row.end());
        pattern.offsets.push_back(static_cast<int64_t>(pattern.indices.size()));
    }
    return pattern;
}

/// The keys of each row.
inline std::vector<std::vector<int32_t>> rows_in(const HostCsr& pattern) {
    std::vector<std::vector<int32_t>> rows;
    for (int64_t row = 0; row < pattern.queries; ++row) {
        const auto at = pattern.offsets.begin() + row;
        rows.emplace_back(pattern.indices.begin() + at[0],
                          pattern.indices.begin() + at[1]);
    }
    return rows;
}

/// The same pattern, but the rows from `first` to `last` - 1 are empty.
inline HostCsr without_rows(const HostCsr& pattern, int64_t first, int64_t last) {
    auto rows = rows_in(pattern);
    for (int64_t row = first; row < std::min(last, pattern.queries); ++row)
        rows[static_cast<size_t>(row)].clear();
    return rows_of(pattern.keys, rows);
}

/// What is expected of each row: dense attention over the keys that it lists.
inline AttentionExpected expect_listed(const AttentionShape& shape,
                                       const HostCsr& listed,
                                       const AttentionInputs& stored) {
    // Each query head gets keys and values of its own.
    AttentionShape alone = shape;
    alone.kv_heads = shape.query_heads;
    AttentionInputs spread = {stored.q, {}, {}};
    const int64_t elements = shape.keys * shape.head_dim;
    for (int64_t head = 0; head < shape.batch * shape.query_heads; ++head) {
        const int64_t kv = head / (shape.query_heads / shape.kv_heads);
        for (const auto& [from, to] :
             {std::pair(&stored.k, &spread.k), {&stored.v, &spread.v}}) {
            const auto first = from->begin() + kv * elements;
            to->insert(to->end(), first, first + elements);
        }
    }
    AttentionExpected expected;
    for (int64_t row = 0; row < shape.rows(); ++row) {
        auto keys = wb::reference::listed_keys(
            alone, listed, spread.q, spread.k, spread.v, row);
        const AttentionInputs gathered = {
            std::move(keys.q), std::move(keys.k), std::move(keys.v)};
        expect_half_row<T>(keys.shape, gathered, 0, expected);
    }
    return expected;
}

/// One call.
///
/// @param stored    numbers of T
/// @param faults    what status must hold, one of them: what is wrong in `blocks`
/// @param with_lse  the log-sum-exp is wanted
/// @param earlier   what status holds before the call
inline void grade_stored(const AttentionShape& shape,
                         const HostBlocks& blocks,
                         const AttentionInputs& stored,
                         const AttentionExpected& expected,
                         const std::string& text,
                         const std::vector<PatternStatus>& faults,
                         bool with_lse = true,
                         const PatternStatus& earlier = {}) {
    const std::vector<double> before = words(earlier);
    Grader grader("hopper_block_sparse_attention", describe(shape) + ", " + text);
    // Where a vector could be read, and where none could.
    const bool aligned = (shape.queries + blocks.full.blocks.size()) % 2 == 0;
    const Begin begin = aligned ? Begin::aligned : Begin::anywhere;
    const BlockPattern pattern = upload(grader, blocks, begin);
    const T* q = grader.input("q", rounded<T>(stored.q), Begin::vectors);
    const T* k = grader.input("k", rounded<T>(stored.k), Begin::vectors);
    const T* v = grader.input("v", rounded<T>(stored.v), Begin::vectors);
    T* o = grader.output<T>(
        "o",
        {shape.batch, shape.query_heads, shape.queries, shape.head_dim},
        Begin::vectors);
    float* lse = nullptr;
    if (with_lse)
        lse = grader.output<float>(
            "lse", {shape.batch, shape.query_heads, shape.queries}, begin);
    auto* d_status = reinterpret_cast<PatternStatus*>(
        grader.in_out<int32_t>("status",
                               {static_cast<int64_t>(before.size())},
                               {before.begin(), before.end()},
                               aligned ? Begin::pairs : Begin::aligned));
    grader.run([&](cudaStream_t stream) {
        hopper_block_sparse_attention(
            shape, pattern, q, k, v, o, lse, d_status, stream);
    });
    expect_both(grader, expected, with_lse);
    // Which of several is noted may change from run to run.
    const std::vector<double> status = grader.read("status");
    for (const PatternStatus& fault : faults)
        if (words(fault) == status && faults.size() > 1) return;
    grader.expect("status", words(faults[0]), [](int64_t) { return 0.0; });
}

/// The same with one fault, or none.
inline void grade_stored(const AttentionShape& shape,
                         const HostBlocks& blocks,
                         const AttentionInputs& stored,
                         const AttentionExpected& expected,
                         const std::string& text,
                         const PatternStatus& fault = {},
                         bool with_lse = true,
                         const PatternStatus& earlier = {}) {
    const std::vector faults = {fault};
    grade_stored(shape, blocks, stored, expected, text, faults, with_lse, earlier);
}

/// The same on these numbers, after rounding.
/// @param listed  the keys that count for each query
/// @param blocks  the same, as the function gets it
inline void grade(const AttentionShape& shape,
                  const HostCsr& listed,
                  const HostBlocks& blocks,
                  const AttentionInputs& inputs,
                  const std::string& text,
                  const PatternStatus& fault = {},
                  bool with_lse = true,
                  const PatternStatus& earlier = {}) {
    const auto stored = as_stored<T>(inputs);
    const auto expected = expect_listed(shape, listed, stored);
    grade_stored(shape, blocks, stored, expected, text, fault, with_lse, earlier);
}

/// On random inputs.
inline void grade(const AttentionShape& shape,
                  const HostCsr& listed,
                  const std::string& text) {
    grade(shape, listed, to_blocks(listed), random_attention(shape, 1), text);
}

/// Why the kernels cannot run here: the function's own words.
inline std::string why_no_blocks_here() {
    T* const none = nullptr;
    try {
        hopper_block_sparse_attention(plain_attention(1, 1, 0, 1, 64),
                                      {},
                                      none,
                                      none,
                                      none,
                                      none,
                                      nullptr,
                                      nullptr,
                                      nullptr);
    } catch (const wb::InvalidArgument& error) {
        const std::string reason = error.what();
        if (reason.find("capability") != std::string::npos) return reason;
        throw;
    }
    return "";
}

/// Leaves a test case on machines that lack the instructions.
#define NEEDS_BLOCKS()                                                   \
    do {                                                                 \
        const std::string reason = sparse_grading::why_no_blocks_here(); \
        if (!reason.empty()) WB_SKIP(reason);                            \
    } while (0)

}  // namespace sparse_grading
