// grade.h: patterns for the tests of this chapter, and one call for each of its two
// contracts.
#pragma once

#include "sparse_attention.h"

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/testing/attention_grade.h>
#include <wb/testing/random.h>
#include <wb/testing/sparse_attention.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using wb::AttentionShape;
using wb::HostBlocks;
using wb::HostCsr;
using wb::PatternFault;
using wb::PatternStatus;
using wb::testing::AttentionExpected;
using wb::testing::AttentionInputs;
using wb::testing::expect_sparse;
using wb::testing::Grader;
using wb::testing::random_attention;
using wb::testing::shape_of;

/// What kernels are compiled for: what is tried in special places is tried for each.
inline constexpr int64_t kHeadDims[] = {32, 64, 128};

inline void grade_rows(const AttentionShape& shape,
                       const HostCsr& pattern,
                       const AttentionInputs& inputs,
                       const AttentionExpected& expected,
                       const std::string& text,
                       const PatternStatus& fault = {},
                       bool with_lse = true,
                       const PatternStatus& earlier = {}) {
    wb::testing::grade_sparse("sparse_attention",
                              sparse_attention,
                              shape,
                              pattern,
                              inputs,
                              expected,
                              text,
                              fault,
                              with_lse,
                              earlier);
}

inline void grade_rows(const AttentionShape& shape,
                       const HostCsr& pattern,
                       const std::string& text) {
    const auto inputs = random_attention(shape, 1);
    grade_rows(shape, pattern, inputs, expect_sparse(shape, pattern, inputs), text);
}

inline void grade_blocks(const AttentionShape& shape,
                         const HostBlocks& pattern,
                         const AttentionInputs& inputs,
                         const AttentionExpected& expected,
                         const std::string& text,
                         const PatternStatus& fault = {},
                         bool with_lse = true,
                         const PatternStatus& earlier = {}) {
    wb::testing::grade_sparse("block_sparse_attention",
                              block_sparse_attention,
                              shape,
                              pattern,
                              inputs,
                              expected,
                              text,
                              fault,
                              with_lse,
                              earlier);
}

inline void grade_blocks(const AttentionShape& shape,
                         const HostCsr& pattern,
                         const std::string& text) {
    const auto inputs = random_attention(shape, 1);
    grade_blocks(
        shape, to_blocks(pattern), inputs, expect_sparse(shape, pattern, inputs), text);
}

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

/// Weights that are all equal, or 0, and whole numbers as values: one key that is
/// missing among thousands shows, or one that is read from another place.
/// @param last_only   not all versions, but the last one, or the learner's function
/// @param with_fault  behind the keys of the last row there is one that does not exist
inline void grade_equal(const HostCsr& pattern,
                        bool blocks,
                        const std::string& text,
                        int64_t head_dim = 32,
                        bool last_only = false,
                        bool with_fault = false) {
    const auto shape = shape_of(pattern, head_dim);
    const auto inputs = wb::testing::chosen_keys(shape, 1);
    auto expected = expect_sparse(shape, pattern, inputs);
    // A quotient, or a reciprocal and a product; exp(0) and the sums are exact. And the
    // reference's own rounding.
    for (std::size_t i = 0; i < expected.o.size(); ++i)
        expected.o_bound[i] =
            wb::testing::float_bound(3, std::abs(expected.o[i])) + 1e-12;
    PatternStatus fault;
    const auto graded = [&](const auto& all, const auto& host) {
        wb::testing::grade_sparse(last_only ? wb::testing::last_of(all) : all,
                                  shape,
                                  host,
                                  inputs,
                                  expected,
                                  "seven keys of eight chosen, " + text,
                                  fault);
    };
    if (with_fault) {
        HostCsr wrong = pattern;
        const auto key = static_cast<int32_t>(pattern.keys);
        wrong.indices.push_back(key);
        fault = {static_cast<int32_t>(PatternFault::index),
                 static_cast<int32_t>(pattern.queries) - 1,
                 wrong.offsets.back()++,
                 key};
        graded(wb::implementations("sparse_attention", sparse_attention), wrong);
        return;
    }
    if (blocks)
        graded(wb::implementations("block_sparse_attention", block_sparse_attention),
               to_blocks(pattern));
    else
        graded(wb::implementations("sparse_attention", sparse_attention), pattern);
}

/// The same problem by rows and by blocks.
inline void grade_both(const AttentionShape& shape,
                       const HostCsr& pattern,
                       const AttentionInputs& inputs,
                       const std::string& text) {
    const auto expected = expect_sparse(shape, pattern, inputs);
    grade_rows(shape, pattern, inputs, expected, text);
    grade_blocks(shape, to_blocks(pattern), inputs, expected, text);
}

/// Row i has the keys i, i + 1, ... of `keys`, as many as lengths[i], cyclically.
inline HostCsr rows_of_lengths(int64_t keys, const std::vector<int64_t>& lengths) {
    std::vector<std::vector<int32_t>> rows;
    for (const int64_t length : lengths) {
        rows.emplace_back();
        for (int64_t j = 0; j < length; ++j) {
            const auto first = static_cast<int64_t>(rows.size()) * 7;
            rows.back().push_back(static_cast<int32_t>((first + j) % keys));
        }
    }
    return rows_of(keys, rows);
}

/// The same keys in each row, in another order.
inline HostCsr shuffled(HostCsr pattern, uint64_t seed) {
    wb::testing::Random random(seed);
    for (std::size_t row = 0; row + 1 < pattern.offsets.size(); ++row) {
        const int64_t begin = pattern.offsets[row];
        for (int64_t i = pattern.offsets[row + 1] - 1; i > begin; --i) {
            const int64_t other = begin + random.below(i - begin + 1);
            std::swap(pattern.indices[static_cast<std::size_t>(i)],
                      pattern.indices[static_cast<std::size_t>(other)]);
        }
    }
    return pattern;
}

/// Keys that are values as well, of which only the first 64 and those from kFar on are
/// there: the others are memory that nobody ever touches.
struct FarKeys {
    static constexpr int64_t kDim = 128;
    static constexpr int64_t kFar = 1 << 24;  // kFar * kDim is 2^31
    static constexpr int64_t kKeys = kFar + wb::BlockPattern::kKeys;
    struct Free {
        void operator()(float* memory) const { (void)cudaFree(memory); }
    };

    std::unique_ptr<float, Free> memory;  ///< [kKeys, kDim]; null: not enough of it

    /// @param rows  [2 * 64, kDim]
    explicit FarKeys(const std::vector<float>& rows) {
        constexpr std::size_t kBytes = std::size_t{kKeys * kDim} * sizeof(float);
        float* data = nullptr;
        if (cudaMalloc(reinterpret_cast<void**>(&data), kBytes) != cudaSuccess) {
            (void)cudaGetLastError();
            return;
        }
        memory.reset(data);
        const std::size_t half = rows.size() / 2;
        const std::size_t bytes = half * sizeof(float);
        CUDA_CHECK(cudaMemcpy(data, rows.data(), bytes, cudaMemcpyHostToDevice));
        CUDA_CHECK(cudaMemcpy(
            data + kFar * kDim, rows.data() + half, bytes, cudaMemcpyHostToDevice));
    }
};

/// Runs every rung on three queries and FarKeys.
/// @param near  the pattern in which the keys from kFar on are 64, 65, ...
template <class Host, class Pattern>
void grade_far(const std::string& exercise,
               wb::testing::SparseAttentionFunction<Pattern>* contract,
               const HostCsr& near,
               const Host& pattern,
               const AttentionInputs& inputs,
               const FarKeys& keys) {
    const auto expected = expect_sparse(shape_of(near, FarKeys::kDim), near, inputs);
    const auto shape =
        wb::testing::plain_attention(1, 1, near.queries, FarKeys::kKeys, FarKeys::kDim);
    const wb::PatternCheck check;
    for (const auto& [name, idea, attention] :
         wb::implementations(exercise, contract)) {
        Grader grade(name, describe(shape) + ", keys 0 and 2^24 among others");
        const Pattern d_pattern = upload(grade, pattern);
        const float* d_q = grade.input("q", inputs.q);
        float* d_o = grade.output<float>("o", {near.queries, FarKeys::kDim});
        const float* d_kv = keys.memory.get();
        grade.only_read("k and v", d_kv, FarKeys::kKeys * FarKeys::kDim);
        grade.run([&, attention = attention](cudaStream_t s) {
            attention(
                shape, d_pattern, d_q, d_kv, d_kv, d_o, nullptr, check.status(), s);
        });
        grade.expect("o", expected.o, [&](int64_t i) {
            return expected.o_bound[static_cast<std::size_t>(i)];
        });
    }
}

/// Runs every rung on a list of two blocks, each of which is listed many times; on a
/// GPU so often that there are more than 1024 places, and tiles.
/// @param once     rows that are alike, with keys of both blocks
/// @param partial  they are partial blocks, else full ones
/// @param longest  more than 4096 places, for the last version, or the learner's
///                 function, alone
inline void grade_long_list(const HostCsr& once, bool partial, bool longest = false) {
#ifdef SIMT_CPU
    const std::size_t kTimes[] = {longest ? 4090U : 5U, longest ? 13U : 2U};
#else
    const std::size_t kTimes[] = {longest ? 65'530U : 1024U, 76};
#endif
    constexpr auto kRows = static_cast<std::size_t>(wb::BlockPattern::kRows);
    HostBlocks blocks = to_blocks(once);
    const auto masks = std::exchange(blocks.masks, {});
    wb::HostBlockList& list = partial ? blocks.partial : blocks.full;
    list.blocks.clear();
    std::vector<int32_t> row;
    for (const int32_t block : {0, 1}) {
        for (std::size_t i = 0; i < kTimes[block]; ++i) {
            list.blocks.push_back(block);
            for (int64_t j = 0; j < once.offsets[1]; ++j) {
                const int32_t key = once.indices[static_cast<std::size_t>(j)];
                if (key / wb::BlockPattern::kKeys == block) row.push_back(key);
            }
            if (!partial) continue;
            const auto first = masks.begin() + static_cast<int64_t>(block * kRows);
            blocks.masks.insert(blocks.masks.end(), first, first + kRows);
        }
    }
    list.offsets.back() = static_cast<int64_t>(list.blocks.size());
    const auto shape = shape_of(once, 32);
    const auto inputs = random_attention(shape, 1);
    const auto many =
        rows_of(once.keys, std::vector(static_cast<std::size_t>(once.queries), row));
    const auto all =
        wb::implementations("block_sparse_attention", block_sparse_attention);
    wb::testing::grade_sparse(longest ? wb::testing::last_of(all) : all,
                              shape,
                              blocks,
                              inputs,
                              expect_sparse(shape, many, inputs),
                              partial ? "partial blocks 0 and 1, many times"
                                      : "full blocks 0 and 1, many times");
}

/// Runs every rung on a pattern whose order names a row of blocks that is not there.
/// A kernel that follows the order cannot write the row of blocks that is missing in
/// it: then it must say so. One that does not must write all, and report nothing. What
/// is written is not looked at.
inline void grade_wrong_order(int32_t wrong) {
    const auto rows = wb::dense_pattern(200, 5, false);
    const auto shape = shape_of(rows, 32, 2);
    const auto inputs = random_attention(shape, 1);
    HostBlocks blocks = to_blocks(rows);
    blocks.order[1] = wrong;
    const PatternStatus status = {
        static_cast<int32_t>(PatternFault::order), 1, 1, wrong};
    const auto words = wb::testing::words(status);
    for (const auto& [name, idea, attention] :
         wb::implementations("block_sparse_attention", block_sparse_attention)) {
        Grader grade(name, "order[1] is " + std::to_string(wrong));
        const wb::BlockPattern pattern = upload(grade, blocks);
        const float* d_q = grade.input("q", inputs.q);
        const float* d_k = grade.input("k", inputs.k);
        const float* d_v = grade.input("v", inputs.v);
        float* d_o = grade.output<float>("o", {2, 200, 32});
        const auto num_words = static_cast<int64_t>(words.size());
        auto* d_status = reinterpret_cast<PatternStatus*>(grade.in_out<int32_t>(
            "status", {num_words}, std::vector<int32_t>(words.size())));
        grade.run([&, attention = attention](cudaStream_t s) {
            attention(shape, pattern, d_q, d_k, d_v, d_o, nullptr, d_status, s);
        });
        const auto o = grade.read("o");
        const bool complete = std::none_of(
            o.begin(), o.end(), [](double value) { return std::isnan(value); });
        grade.expect("status",
                     complete ? std::vector<double>(words.size()) : words,
                     [](int64_t) { return 0.0; });
    }
}
