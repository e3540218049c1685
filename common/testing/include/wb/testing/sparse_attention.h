/// wb/testing/sparse_attention.h: patterns, expected values, and grading of sparse
/// attention.
#pragma once

#include <wb/implementations.h>
#include <wb/reference/sparse_attention.h>
#include <wb/sparse_builders.h>
#include <wb/testing/attention.h>
#include <wb/testing/grader.h>

#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

namespace wb::testing {

/// The contract over rows of keys, and the one over blocks.
template <class Pattern>
using SparseAttentionFunction = void(const AttentionShape& shape,
                                     const Pattern& pattern,
                                     const float* q,
                                     const float* k,
                                     const float* v,
                                     float* o,
                                     float* lse,
                                     PatternStatus* status,
                                     cudaStream_t stream);

/// The shape of a problem with this pattern, and the usual scale.
inline AttentionShape shape_of(const HostCsr& pattern,
                               int64_t head_dim,
                               int64_t batch = 1,
                               int64_t heads = 1) {
    return plain_attention(batch, heads, pattern.queries, pattern.keys, head_dim);
}

/// What is expected of each row: dense attention over the keys that it lists. Bounds
/// are those of <wb/testing/attention.h>, which hold for any order of the keys.
inline AttentionExpected expect_sparse(const AttentionShape& shape,
                                       const HostCsr& pattern,
                                       const AttentionInputs& inputs) {
    AttentionExpected expected;
    for (int64_t row = 0; row < shape.rows(); ++row) {
        auto listed =
            reference::listed_keys(shape, pattern, inputs.q, inputs.k, inputs.v, row);
        const AttentionInputs gathered = {
            std::move(listed.q), std::move(listed.k), std::move(listed.v)};
        expect_row(listed.shape, gathered, 0, expected);
    }
    return expected;
}

/// A pattern with a name for messages.
struct NamedPattern {
    std::string name;
    HostCsr pattern;
};

/// Every builder once.
inline std::vector<NamedPattern> all_patterns(int64_t queries, int64_t keys) {
    return {{"dense", dense_pattern(queries, keys, false)},
            {"causal", dense_pattern(queries, keys, true)},
            {"local 7 + 3", local_pattern(queries, keys, 7, 3)},
            {"window 70", local_pattern(queries, keys, 69, 0)},
            {"window 9 with 4 sinks", window_with_sinks(queries, keys, 9, 4)},
            {"strided 11", strided_pattern(queries, keys, 11)},
            {"random 13", random_pattern(queries, keys, 13, 1)},
            {"hierarchical 4", hierarchical_pattern(queries, keys, 4)},
            {"random blocks", block_sparse_pattern(queries, keys, 0.5, 1)}};
}

/// Gives a pattern's arrays to a grader.
inline CsrPattern upload(Grader& grade,
                         const HostCsr& pattern,
                         Begin begin = Begin::aligned) {
    return {grade.input("offsets", pattern.offsets, begin),
            grade.input("indices", pattern.indices, begin),
            static_cast<int64_t>(pattern.indices.size())};
}
inline BlockPattern upload(Grader& grade,
                           const HostBlocks& pattern,
                           Begin begin = Begin::aligned) {
    const auto list = [&](const std::string& name, const HostBlockList& blocks) {
        return BlockList{grade.input(name + ".offsets", blocks.offsets, begin),
                         grade.input(name + ".blocks", blocks.blocks, begin),
                         static_cast<int64_t>(blocks.blocks.size())};
    };
    return {list("full", pattern.full),
            list("partial", pattern.partial),
            grade.input("masks", pattern.masks, begin),
            grade.input("order", pattern.order, begin)};
}

/// A PatternStatus as the words of an array, so that a grader can compare it.
inline std::vector<double> words(const PatternStatus& status) {
    std::int32_t words[sizeof status / sizeof(std::int32_t)];
    std::memcpy(words, &status, sizeof status);
    return {std::begin(words), std::end(words)};
}

/// Runs these versions of an exercise on these inputs.
///
/// @tparam Host   HostCsr or HostBlocks
/// @param  fault     what status must hold: what is wrong in the pattern
/// @param  with_lse  the log-sum-exp is wanted; else lse is null
/// @param  earlier   what status holds before the call
template <class Pattern, class Host>
void grade_sparse(
    const std::vector<Implementation<SparseAttentionFunction<Pattern>>>& versions,
    const AttentionShape& shape,
    const Host& pattern,
    const AttentionInputs& inputs,
    const AttentionExpected& expected,
    const std::string& text,
    const PatternStatus& fault = {},
    bool with_lse = true,
    const PatternStatus& earlier = {}) {
    const Shape rows = {shape.batch, shape.query_heads, shape.queries};
    const Shape elements = {
        shape.batch, shape.query_heads, shape.queries, shape.head_dim};
    const std::vector<double> expected_status = words(fault);
    const auto num_words = static_cast<std::int64_t>(expected_status.size());
    const std::vector<double> earlier_status = words(earlier);
    for (const auto& [name, idea, attention] : versions) {
        Grader grade(name, describe(shape) + ", " + text);
        // A contract says only of q, k, v and o that they are 16-byte aligned.
        const Pattern d_pattern = upload(grade, pattern, Begin::anywhere);
        const float* d_q = grade.input("q", inputs.q, Begin::vectors);
        const float* d_k = grade.input("k", inputs.k, Begin::vectors);
        const float* d_v = grade.input("v", inputs.v, Begin::vectors);
        float* d_o = grade.output<float>("o", elements, Begin::vectors);
        float* d_lse =
            with_lse ? grade.output<float>("lse", rows, Begin::anywhere) : nullptr;
        auto* d_status = reinterpret_cast<PatternStatus*>(grade.in_out<std::int32_t>(
            "status", {num_words}, {earlier_status.begin(), earlier_status.end()}));
        grade.run([&, attention = attention](cudaStream_t stream) {
            attention(shape, d_pattern, d_q, d_k, d_v, d_o, d_lse, d_status, stream);
        });
        grade.expect("o", expected.o, [&](int64_t i) {
            return expected.o_bound[static_cast<std::size_t>(i)];
        });
        if (with_lse) {
            grade.expect("lse", expected.lse, [&](int64_t i) {
                return expected.lse_bound[static_cast<std::size_t>(i)];
            });
        }
        grade.expect("status", expected_status, [](int64_t) { return 0.0; });
    }
}

/// Runs every rung of an exercise, or the learner's function.
template <class Host, class Pattern, class... Rest>
void grade_sparse(const std::string& exercise,
                  SparseAttentionFunction<Pattern>* contract,
                  const AttentionShape& shape,
                  const Host& pattern,
                  const Rest&... rest) {
    grade_sparse<Pattern>(implementations(exercise, contract), shape, pattern, rest...);
}

}  // namespace wb::testing
