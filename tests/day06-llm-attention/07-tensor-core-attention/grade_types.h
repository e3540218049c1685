// grade_types.h: one problem, given to every rung, in fp16 or in bf16, and how far from
// the exact result a kernel on tensor cores may be.
#pragma once
#include "tensor_core_attention.h"

#include <wb/implementations.h>
#include <wb/testing/attention.h>
#include <wb/testing/attention_cases.h>
#include <wb/testing/attention_stored.h>
#include <wb/testing/attention_triples.h>
#include <wb/testing/grader.h>
#include <wb/testing/stored_types.h>

#include <cmath>
#include <string>
#include <vector>

namespace wb::testing {

/// Every rung for a type.
template <class T>
auto implementations_of() {
    return wb::implementations<StoredAttention<T>>(
        std::string("tensor_core_attention_") + Format<T>::kName,
        tensor_core_attention);
}

/// What is expected of a kernel for these numbers of T.
///
///   the softmax and the sums in float           as in chapter 02
///   each weight w is rounded before it is       u * sum of w |v|, and half of the
///   multiplied with v: a factor of 1 +- u, or   smallest number for each weight that
///   what is lost below the smallest number      is so small
///   o is rounded                                u |o|
///
/// The sum of the weights, and so lse, has nothing to do with the rounded weights.
template <class T>
AttentionExpected expect_stored(const AttentionShape& shape,
                                const AttentionInputs& stored) {
    AttentionExpected expected = expect_attention(shape, stored);
    const auto dim = static_cast<std::size_t>(shape.head_dim);
    for (int64_t r = 0; r < shape.rows(); ++r) {
        const auto row = reference::attention_row(shape, stored.q, stored.k, r);
        std::vector<double> lost(dim, 0.0);
        for (std::size_t j = 0; j < row.weights.size(); ++j) {
            const float* const v =
                &stored.v[static_cast<std::size_t>(row.first_kv) + j * dim];
            const double error =
                Format<T>::kUnit * row.weights[j] + 0.5 * Format<T>::kSmallest;
            for (std::size_t d = 0; d < dim; ++d)
                lost[d] += error * std::abs(double{v[d]});
        }
        for (std::size_t d = 0; d < dim; ++d) {
            const std::size_t at = static_cast<std::size_t>(r) * dim + d;
            expected.o_bound[at] =
                stored_bound<T>(expected.o[at], expected.o_bound[at] + lost[d]);
        }
    }
    return expected;
}

/// Runs one rung, or the contract's function.
/// @param stored    numbers of T
/// @param with_lse  the log-sum-exp is wanted; else lse is null
template <class T, class Attention>
void grade_rung(const std::string& name,
                Attention attention,
                const AttentionShape& shape,
                const AttentionInputs& stored,
                const AttentionExpected& expected,
                const std::string& text,
                bool with_lse = true) {
    Grader grade(name, std::string(Format<T>::kName) + ", " + describe(shape) + text);
    const T* d_q = grade.input("q", rounded<T>(stored.q), Begin::vectors);
    const T* d_k = grade.input("k", rounded<T>(stored.k), Begin::vectors);
    const T* d_v = grade.input("v", rounded<T>(stored.v), Begin::vectors);
    T* d_o =
        grade.output<T>("o",
                        {shape.batch, shape.query_heads, shape.queries, shape.head_dim},
                        Begin::vectors);
    float* d_lse = nullptr;
    if (with_lse) {
        d_lse = grade.output<float>(
            "lse", {shape.batch, shape.query_heads, shape.queries}, Begin::anywhere);
    }
    grade.run([&](cudaStream_t stream) {
        attention(shape, d_q, d_k, d_v, d_o, d_lse, stream);
    });
    grade.expect("o", expected.o, [&](int64_t i) {
        return expected.o_bound[static_cast<std::size_t>(i)];
    });
    if (!with_lse) return;
    grade.expect("lse", expected.lse, [&](int64_t i) {
        return expected.lse_bound[static_cast<std::size_t>(i)];
    });
}

/// Runs every rung for one type.
template <class T>
void grade_stored(const AttentionShape& shape,
                  const AttentionInputs& stored,
                  const AttentionExpected& expected,
                  const std::string& text,
                  bool with_lse = true) {
    for (const auto& [name, idea, attention] : implementations_of<T>())
        grade_rung<T>(name, attention, shape, stored, expected, text, with_lse);
}

/// Runs every rung for one type on these numbers, after rounding.
template <class T>
void grade_type(const AttentionShape& shape,
                const AttentionInputs& inputs,
                const std::string& text,
                bool with_lse = true) {
    const auto stored = as_stored<T>(inputs);
    grade_stored<T>(shape, stored, expect_stored<T>(shape, stored), text, with_lse);
}

/// What grade_triple() asks of a type.
template <class T>
using InType = wb::testing::StoredTriples<T, expect_stored<T>>;

/// Runs the last rung, or the contract's function, on a case of strength three.
template <class T>
void grade_triple_of(const TripleCase& c) {
    const auto graded = [&](const AttentionInputs& inputs,
                            const AttentionExpected& expected,
                            const std::string& text,
                            bool with_lse) {
        for (const auto& [name, idea, attention] : last_of(implementations_of<T>()))
            grade_rung<T>(name, attention, c.shape, inputs, expected, text, with_lse);
    };
    grade_triple<InType<T>>(c, graded);
}

/// Runs every rung for both types.
inline void grade(const AttentionShape& shape,
                  const AttentionInputs& inputs,
                  const std::string& text) {
    grade_type<__half>(shape, inputs, text);
    grade_type<__nv_bfloat16>(shape, inputs, text);
}

/// The same on random inputs.
inline void grade(const AttentionShape& shape, uint64_t seed = 1) {
    grade(shape, random_attention(shape, seed), ", seed " + std::to_string(seed));
}

/// A shape with fewer K/V heads than query heads.
inline AttentionShape grouped(AttentionShape shape, int64_t kv_heads) {
    shape.kv_heads = kv_heads;
    return shape;
}

/// Errors of a result, over all of its elements.
struct Errors {
    double largest = 0.0;
    double mean_square = 0.0;
};
inline Errors errors_of(const std::vector<double>& got,
                        const std::vector<double>& exact) {
    Errors errors;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        const double error = std::abs(got[i] - exact[i]);
        // Not std::max, which would drop a NaN.
        if (!(error <= errors.largest)) errors.largest = error;
        errors.mean_square += error * error / static_cast<double>(exact.size());
    }
    return errors;
}

/// Attention in three plain steps, in double but for what must be of T: the weights, as
/// they are multiplied with v, and o.
template <class T>
std::vector<double> plain_steps(const AttentionShape& shape,
                                const AttentionInputs& stored) {
    const auto round = [](double x) {
        return static_cast<double>(
            static_cast<float>(static_cast<T>(static_cast<float>(x))));
    };
    std::vector<double> o;
    for (int64_t r = 0; r < shape.rows(); ++r) {
        auto row = reference::attention_row(shape, stored.q, stored.k, r);
        for (double& weight : row.weights)
            weight = round(weight);
        for (int64_t d = 0; d < shape.head_dim; ++d)
            o.push_back(round(attention_element(shape, row, stored.v, d)));
    }
    return o;
}

}  // namespace wb::testing
