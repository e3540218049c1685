// grade_types.h: one problem, given to every rung, in fp16 or in bf16.
#pragma once
#include "mixed_precision_attention.h"

#include <wb/ladder.h>
#include <wb/testing/attention.h>
#include <wb/testing/grader.h>

#include <cmath>
#include <string>
#include <vector>

namespace wb::testing {

/// What the tests know of a 16-bit type.
template <class T>
struct Format;
template <>
struct Format<__half> {
    static constexpr const char* kName = "fp16";
    static constexpr double kUnit = 0x1p-11;      ///< u: half the distance of 1 and the
                                                  ///< next number
    static constexpr double kSmallest = 0x1p-24;  ///< distance of the numbers around 0
    static constexpr double kLargest = 65504.0;
};
template <>
struct Format<__nv_bfloat16> {
    static constexpr const char* kName = "bf16";
    static constexpr double kUnit = 0x1p-8;
    static constexpr double kSmallest = 0x1p-133;
    static constexpr double kLargest = 0x1.FEp127;
};

/// The contract, for one type.
template <class T>
using Function = void(const AttentionShape& shape,
                      const T* q,
                      const T* k,
                      const T* v,
                      T* o,
                      float* lse,
                      cudaStream_t stream);

/// Every rung for a type, or the learner's function.
template <class T>
auto implementations_of() {
    return wb::implementations<Function<T>>(
        std::string("mixed_precision_attention_") + Format<T>::kName,
        mixed_precision_attention);
}

template <class T>
std::vector<T> rounded(const std::vector<float>& values) {
    std::vector<T> result;
    result.reserve(values.size());
    for (const float value : values)
        result.push_back(static_cast<T>(value));
    return result;
}

/// The same numbers after rounding to T, as floats: what the kernel really gets, and so
/// what the reference is computed from. Storing numbers in 16 bits is no error of the
/// kernel's.
template <class T>
AttentionInputs as_stored(const AttentionInputs& inputs) {
    const auto widened = [](const std::vector<float>& values) {
        std::vector<float> result;
        result.reserve(values.size());
        for (const float value : values)
            result.push_back(static_cast<float>(static_cast<T>(value)));
        return result;
    };
    return {widened(inputs.q), widened(inputs.k), widened(inputs.v)};
}

/// The error of an element of o: that of a float kernel, and one rounding to T of what
/// such a kernel has, however small.
template <class T>
double stored_bound(double exact, double float_bound) {
    return float_bound + Format<T>::kUnit * (std::abs(exact) + float_bound) +
           0.5 * Format<T>::kSmallest;
}

/// Runs every rung for one type.
/// @param expected  of as_stored<T>(inputs), by a float kernel
template <class T>
void grade_type(const AttentionShape& shape,
                const AttentionInputs& inputs,
                const AttentionExpected& expected,
                const std::string& text) {
    for (const auto& [name, idea, attention] : implementations_of<T>()) {
        Grader grade(name,
                     std::string(Format<T>::kName) + ", " + describe(shape) + text);
        const T* d_q = grade.input("q", rounded<T>(inputs.q));
        const T* d_k = grade.input("k", rounded<T>(inputs.k));
        const T* d_v = grade.input("v", rounded<T>(inputs.v));
        T* d_o = grade.output<T>(
            "o", {shape.batch, shape.query_heads, shape.queries, shape.head_dim});
        float* d_lse =
            grade.output<float>("lse", {shape.batch, shape.query_heads, shape.queries});
        grade.run([&, attention = attention](cudaStream_t stream) {
            attention(shape, d_q, d_k, d_v, d_o, d_lse, stream);
        });
        grade.expect("o", expected.o, [&](int64_t i) {
            const auto at = static_cast<size_t>(i);
            return stored_bound<T>(expected.o[at], expected.o_bound[at]);
        });
        grade.expect("lse", expected.lse, [&](int64_t i) {
            return expected.lse_bound[static_cast<size_t>(i)];
        });
    }
}

template <class T>
void grade_type(const AttentionShape& shape,
                const AttentionInputs& inputs,
                const std::string& text) {
    const auto stored = as_stored<T>(inputs);
    grade_type<T>(shape, stored, expect_attention(shape, stored), text);
}

}  // namespace wb::testing
