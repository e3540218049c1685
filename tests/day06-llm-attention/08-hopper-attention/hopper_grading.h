// hopper_grading.h: one problem, given to every rung, in fp16 or in bf16.
#pragma once
#include "hopper_attention.h"

#include <wb/implementations.h>
#include <wb/testing/attention.h>
#include <wb/testing/attention_cases.h>
#include <wb/testing/attention_scores.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>
#include <wb/testing/paged.h>
#include <wb/testing/special_attention.h>
#include <wb/testing/stored_types.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace hopper_grading {

using namespace wb::testing;
using wb::AttentionShape;

/// Every rung for a type, or the learner's function.
template <class T>
auto implementations_of() {
    return wb::implementations<StoredAttention<T>>(
        std::string("hopper_attention_") + Format<T>::kName, hopper_attention);
}

/// What is expected of one row by a kernel whose weights and results are of type T.
///
/// To the bound of float kernels (wb/testing/attention.h), doubled because tensor cores
/// may cut off where they should round, come two roundings to T: of each weight before
/// its product with v, and of the result. A weight is at least as large as it would be
/// beside the largest, 1, so half of the smallest number is what it may lose besides.
template <class T>
void expect_half_row(const AttentionShape& shape,
                     const AttentionInputs& inputs,
                     int64_t row_index,
                     AttentionExpected& expected) {
    constexpr double u = kUnitRoundoff<float>;
    const auto row = wb::reference::attention_row(shape, inputs.q, inputs.k, row_index);
    const size_t n = row.weights.size();
    const auto dim = static_cast<size_t>(shape.head_dim);
    std::vector<double> weight_bound(n);
    double error = 0.0;
    for (size_t j = 0; j < n; ++j) {
        const double in_float = row.weights[j] * 2.0 * weight_error(row, j);
        weight_bound[j] = in_float + Format<T>::kUnit * row.weights[j] +
                          0.5 * Format<T>::kSmallest + kSmallestFloat;
        error += in_float;
    }
    const double shrink = 1.0 / (1.0 - std::min(error, 0.5));
    std::vector<double> o(dim);
    std::vector<double> bound(dim);
    for (size_t j = 0; j < n; ++j) {
        const float* const v = &inputs.v[static_cast<size_t>(row.first_kv) + j * dim];
        wb::reference::add_row(o.data(), row.weights[j], v, dim);
        wb::reference::add_sizes(bound.data(), weight_bound[j], v, dim);
    }
    for (size_t d = 0; d < dim; ++d) {
        bound[d] = (bound[d] + (error + 8.0 * u) * std::abs(o[d])) * shrink;
        expected.o.push_back(o[d]);
        expected.o_bound.push_back(bound[d] +
                                   Format<T>::kUnit * (std::abs(o[d]) + bound[d]) +
                                   0.5 * Format<T>::kSmallest);
    }
    expected.lse.push_back(row.lse);
    const double size = std::abs(row.max) + std::log(static_cast<double>(n)) + 1.0;
    expected.lse_bound.push_back(n == 0 ? 0.0 : error * shrink + 16.0 * u * size);
}

/// What is expected of far_scores(): all weights are 1.
template <class T>
AttentionExpected expect_far_half(const AttentionShape& shape,
                                  const AttentionInputs& inputs) {
    AttentionExpected expected = expect_far_scores(shape, inputs);
    for (size_t i = 0; i < expected.o.size(); ++i)
        expected.o_bound[i] = stored_bound<T>(expected.o[i], expected.o_bound[i]);
    return expected;
}

template <class T>
AttentionExpected expect_half(const AttentionShape& shape,
                              const AttentionInputs& inputs) {
    AttentionExpected expected;
    for (int64_t row = 0; row < shape.rows(); ++row)
        expect_half_row<T>(shape, inputs, row, expected);
    return expected;
}

/// What grade_triple() asks of a type.
template <class T>
struct InType {
    static AttentionInputs stored(const AttentionInputs& inputs) {
        return as_stored<T>(inputs);
    }
    static AttentionExpected expect(const AttentionShape& shape,
                                    const AttentionInputs& inputs) {
        return expect_half<T>(shape, inputs);
    }
    static AttentionExpected chosen(const AttentionShape& shape,
                                    const AttentionInputs& inputs) {
        AttentionExpected expected = expect_equal_weights(shape, inputs);
        for (size_t i = 0; i < expected.o.size(); ++i)
            expected.o_bound[i] +=
                Format<T>::kUnit * (std::abs(expected.o[i]) + expected.o_bound[i]) +
                0.5 * Format<T>::kSmallest;
        return expected;
    }
    static AttentionExpected uneven(const AttentionShape& shape,
                                    const AttentionInputs& inputs) {
        AttentionExpected expected = expect(shape, inputs);
        expected.lse_bound = expect_uneven_choice(shape, inputs).lse_bound;
        return expected;
    }
};

/// Compares both results, or o alone.
inline void expect_both(Grader& grade,
                        const AttentionExpected& expected,
                        bool with_lse = true) {
    grade.expect("o", expected.o, [&](int64_t i) {
        return expected.o_bound[static_cast<size_t>(i)];
    });
    if (!with_lse) return;
    grade.expect("lse", expected.lse, [&](int64_t i) {
        return expected.lse_bound[static_cast<size_t>(i)];
    });
}

/// Runs some rungs for one type.
/// @param stored    numbers of T
/// @param with_lse  the log-sum-exp is wanted; else lse is null
template <class T, class Implementations>
void grade_these(const Implementations& implementations,
                 const AttentionShape& shape,
                 const AttentionInputs& stored,
                 const AttentionExpected& expected,
                 const std::string& text,
                 bool with_lse) {
    for (const auto& [name, idea, attention] : implementations) {
        Grader grade(name,
                     std::string(Format<T>::kName) + ", " + describe(shape) + text);
        const T* d_q = grade.input("q", rounded<T>(stored.q), Begin::vectors);
        const T* d_k = grade.input("k", rounded<T>(stored.k), Begin::vectors);
        const T* d_v = grade.input("v", rounded<T>(stored.v), Begin::vectors);
        T* d_o = grade.output<T>(
            "o",
            {shape.batch, shape.query_heads, shape.queries, shape.head_dim},
            Begin::vectors);
        float* d_lse = nullptr;
        if (with_lse) {
            d_lse = grade.output<float>("lse",
                                        {shape.batch, shape.query_heads, shape.queries},
                                        Begin::anywhere);
        }
        grade.run([&, attention = attention](cudaStream_t stream) {
            attention(shape, d_q, d_k, d_v, d_o, d_lse, stream);
        });
        expect_both(grade, expected, with_lse);
    }
}

/// Runs every rung for one type.
template <class T>
void grade_stored(const AttentionShape& shape,
                  const AttentionInputs& stored,
                  const AttentionExpected& expected,
                  const std::string& text,
                  bool with_lse = true) {
    grade_these<T>(implementations_of<T>(), shape, stored, expected, text, with_lse);
}

/// The same on these numbers, after rounding.
template <class T>
void grade_type(const AttentionShape& shape,
                const AttentionInputs& inputs,
                const std::string& text,
                bool with_lse = true) {
    const auto stored = as_stored<T>(inputs);
    grade_stored<T>(shape, stored, expect_half<T>(shape, stored), text, with_lse);
}

/// Both types, on the same inputs.
inline void grade(const AttentionShape& shape,
                  const AttentionInputs& inputs,
                  const std::string& text) {
    grade_type<__half>(shape, inputs, text);
    grade_type<__nv_bfloat16>(shape, inputs, text);
}

/// On random inputs.
inline void grade(const AttentionShape& shape, uint64_t seed = 1) {
    grade(shape, random_attention(shape, seed), ", seed " + std::to_string(seed));
}

/// One type only, for shapes that differ in what the type does not touch.
inline void grade_bf16(const AttentionShape& shape, uint64_t seed = 1) {
    grade_type<__nv_bfloat16>(
        shape, random_attention(shape, seed), ", seed " + std::to_string(seed));
}

/// Scores that rise from the last key to the first, by a thousandth in a hundred: with
/// each block the largest one moves, but hardly. The values of the first half are -1,
/// those of the other one 1, so that a half that weighs a little more shows.
/// @param step  from key to key
inline AttentionInputs slowly_rising(const AttentionShape& shape, float step = 1e-5f) {
    AttentionInputs inputs = random_attention(shape, 1);
    const auto dim = static_cast<size_t>(shape.head_dim);
    const auto keys = static_cast<size_t>(shape.keys);
    for (size_t i = 0; i < inputs.q.size(); ++i)
        inputs.q[i] = i % dim == 3 ? 0x1p-8f / shape.scale : 0.0f;
    for (size_t i = 0; i < inputs.k.size(); ++i) {
        const size_t key = i / dim % keys;
        inputs.k[i] = i % dim == 3 ? -0x1p8f * step * static_cast<float>(key) : 0.0f;
        inputs.v[i] = key < keys / 2 ? -1.0f : 1.0f;
    }
    return inputs;
}

/// huge_values(), with logits that rise or fall: whichever way a kernel goes through
/// the keys, the largest score moves by 64 with each 128 of them.
inline AttentionInputs huge_values_of(const AttentionShape& shape, Logits logits) {
    AttentionInputs inputs = huge_values(shape);
    const AttentionInputs scores = with_logits(shape, logits, {}, 1);
    inputs.q = scores.q;
    inputs.k = scores.k;
    return inputs;
}

/// Query heads that share K/V heads.
inline AttentionShape grouped(AttentionShape shape, int64_t kv_heads) {
    shape.kv_heads = kv_heads;
    return shape;
}

/// Why the kernels cannot run here: the function's own words. What is not solved fails
/// here, and is not skipped.
inline std::string why_not_here() {
    std::string reason;
    Grader grade("hopper_attention", "queries = 0");
    grade.expect_no_work([&](cudaStream_t s) {
        __half* const none = nullptr;
        const auto empty = plain_attention(1, 1, 0, 1, 64);
        try {
            hopper_attention(empty, none, none, none, none, nullptr, s);
        } catch (const wb::InvalidArgument& error) {
            reason = error.what();
            const bool machine = reason.find("capability") != std::string::npos ||
                                 reason.find("simulator") != std::string::npos;
            if (!machine) throw;
        }
    });
    return reason;
}

/// Leaves a test case on machines that lack the instructions.
#define NEEDS_HOPPER()                                             \
    do {                                                           \
        const std::string reason = hopper_grading::why_not_here(); \
        if (!reason.empty()) WB_SKIP(reason);                      \
    } while (0)

}  // namespace hopper_grading
