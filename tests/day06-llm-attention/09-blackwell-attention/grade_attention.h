// grade_attention.h: runs the kernel that is given, with the learner's functions in it,
// where a GPU or the simulator can.
#pragma once

#include "blackwell_attention.h"

#include <wb/arguments.h>
#include <wb/implementations.h>
#include <wb/testing/attention.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>
#include <wb/testing/stored_types.h>

#include <cmath>
#include <string>
#include <vector>

namespace blackwell_grading {

using namespace wb::testing;
using wb::AttentionShape;
using Stored = __nv_bfloat16;

/// The learner's function.
inline auto attentions() {
    return wb::implementations("blackwell_attention", blackwell_attention);
}

/// What is expected of numbers of bfloat16: the bound of float kernels, one rounding of
/// each weight, and one of the result.
inline AttentionExpected expect_stored(const AttentionShape& shape,
                                       const AttentionInputs& stored) {
    AttentionExpected expected = expect_attention(shape, stored);
    AttentionInputs sizes = stored;
    for (float& value : sizes.v)
        value = std::fabs(value);
    const AttentionExpected magnitude = expect_attention(shape, sizes);
    for (size_t i = 0; i < expected.o.size(); ++i)
        expected.o_bound[i] = stored_bound<Stored>(
            expected.o[i],
            expected.o_bound[i] + Format<Stored>::kUnit * magnitude.o[i]);
    return expected;
}

/// Runs the learner's function.
/// @param stored     numbers of bfloat16
/// @param with_lse   the log-sum-exp is wanted; else lse is null
/// @param null_keys  k and v are null: there are none
inline void grade_stored(const AttentionShape& shape,
                         const AttentionInputs& stored,
                         const AttentionExpected& expected,
                         const std::string& text,
                         bool with_lse = true,
                         bool null_keys = false) {
    Grader grader("blackwell_attention", wb::describe(shape) + text);
    const auto* q = grader.input("q", rounded<Stored>(stored.q), Begin::vectors);
    const auto keys = [&](const char* name, const std::vector<float>& numbers) {
        const std::vector<Stored> all = rounded<Stored>(numbers);
        return null_keys ? nullptr : grader.input(name, all, Begin::vectors);
    };
    const auto* k = keys("k", stored.k);
    const auto* v = keys("v", stored.v);
    auto* o = grader.output<Stored>(
        "o",
        {shape.batch, shape.query_heads, shape.queries, shape.head_dim},
        Begin::vectors);
    float* lse = nullptr;
    if (with_lse)
        lse = grader.output<float>(
            "lse", {shape.batch, shape.query_heads, shape.queries}, Begin::anywhere);
    grader.run([&](cudaStream_t stream) {
        blackwell_attention(shape, q, k, v, o, lse, stream);
    });
    grader.expect("o", expected.o, [&](int64_t i) {
        return expected.o_bound[static_cast<size_t>(i)];
    });
    if (!with_lse) return;
    grader.expect("lse", expected.lse, [&](int64_t i) {
        return expected.lse_bound[static_cast<size_t>(i)];
    });
}

/// Null pointers, but it is the shape, or the GPU, that must be refused first.
inline void expect_refusal(const AttentionShape& shape, const char* text) {
    std::string message = "nothing was thrown";
    result_of([&] {
        try {
            blackwell_attention(
                shape, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
        } catch (const wb::InvalidArgument& error) {
            message = error.what();
        }
        return 0;
    });
    if (message.find(text) == std::string::npos)
        fail(Kind::wrong_result,
             "blackwell_attention does not refuse " + wb::describe(shape) + " with \"" +
                 text + "\"",
             message);
    CHECK(message.find(text) != std::string::npos);
}

/// True where the kernel can run: in the simulator, and on a Blackwell. Elsewhere it
/// must say so, whatever the shape.
inline bool has_tensor_memory() {
#ifdef SIMT_CPU
    return true;
#else
    cudaDeviceProp prop;
    return cudaGetDeviceProperties(&prop, 0) == cudaSuccess && prop.major == 10 &&
           prop.minor == 0;
#endif
}

/// On random inputs, or refused.
inline void grade(const AttentionShape& shape, uint64_t seed, bool with_lse = true) {
    if (!has_tensor_memory()) return expect_refusal(shape, "sm_100a");
    const auto stored = as_stored<Stored>(random_attention(shape, seed));
    grade_stored(shape,
                 stored,
                 expect_stored(shape, stored),
                 ", seed " + std::to_string(seed),
                 with_lse);
}

}  // namespace blackwell_grading
