// grade_types.h: one problem, given to every rung, in fp16 or in bf16.
#pragma once
#include "mixed_precision_attention.h"

#include <wb/implementations.h>
#include <wb/testing/attention.h>
#include <wb/testing/attention_cases.h>
#include <wb/testing/attention_triples.h>
#include <wb/testing/grader.h>
#include <wb/testing/stored_types.h>

#include <cmath>
#include <string>
#include <vector>

namespace wb::testing {

/// Every rung for a type, or the learner's function.
template <class T>
auto implementations_of() {
    return wb::implementations<StoredAttention<T>>(
        std::string("mixed_precision_attention_") + Format<T>::kName,
        mixed_precision_attention);
}

/// Runs every rung for one type.
/// @param expected  of as_stored<T>(inputs), by a float kernel
/// @param with_lse  the log-sum-exp is wanted; else lse is null
/// @param last_only  not every rung, but the last one
template <class T>
void grade_type(const AttentionShape& shape,
                const AttentionInputs& inputs,
                const AttentionExpected& expected,
                const std::string& text,
                bool with_lse = true,
                bool last_only = false) {
    const auto all = implementations_of<T>();
    for (const auto& [name, idea, attention] : last_only ? last_of(all) : all) {
        Grader grade(name,
                     std::string(Format<T>::kName) + ", " + describe(shape) + text);
        const T* d_q = grade.input("q", rounded<T>(inputs.q), Begin::vectors);
        const T* d_k = grade.input("k", rounded<T>(inputs.k), Begin::vectors);
        const T* d_v = grade.input("v", rounded<T>(inputs.v), Begin::vectors);
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
        grade.expect("o", expected.o, [&](int64_t i) {
            const auto at = static_cast<size_t>(i);
            return stored_bound<T>(expected.o[at], expected.o_bound[at]);
        });
        if (!with_lse) continue;
        grade.expect("lse", expected.lse, [&](int64_t i) {
            return expected.lse_bound[static_cast<size_t>(i)];
        });
    }
}

template <class T>
void grade_type(const AttentionShape& shape,
                const AttentionInputs& inputs,
                const std::string& text,
                bool with_lse = true,
                bool last_only = false) {
    const auto stored = as_stored<T>(inputs);
    const auto expected = expect_attention(shape, stored);
    grade_type<T>(shape, stored, expected, text, with_lse, last_only);
}

/// What grade_triple() asks of a type. Kernels are those of floats, as is what is
/// expected, before o is rounded.
template <class T>
struct InType : InFloat {
    static AttentionInputs stored(const AttentionInputs& inputs) {
        return as_stored<T>(inputs);
    }
    static AttentionExpected stepped(const AttentionShape& shape,
                                     const AttentionInputs& inputs) {
        return expect_stepped(shape, inputs);
    }
};

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

}  // namespace wb::testing
