// Grades day06-llm-attention/07-tensor-core-attention: errors of many elements.
#include "grade_types.h"

#include <wb/testing/catch.h>
#include <wb/testing/fail.h>
#include <wb/testing/grader.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace wb::testing;
using wb::AttentionShape;

namespace {

/// What a rung makes of these numbers, within the bound of each element.
template <class T, class Attention>
std::vector<double> outputs_of(Grader& grade,
                               Attention attention,
                               const AttentionShape& shape,
                               const AttentionInputs& stored,
                               const AttentionExpected& exact) {
    const T* d_q = grade.input("q", rounded<T>(stored.q));
    const T* d_k = grade.input("k", rounded<T>(stored.k));
    const T* d_v = grade.input("v", rounded<T>(stored.v));
    T* d_o = grade.output<T>("o", {shape.queries, shape.head_dim});
    grade.run(
        [&](cudaStream_t s) { attention(shape, d_q, d_k, d_v, d_o, nullptr, s); });
    grade.expect(
        "o", exact.o, [&](int64_t i) { return exact.o_bound[static_cast<size_t>(i)]; });
    return grade.read("o");
}

/// With two digits behind the point.
std::string in_digits(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", number);
    return text;
}

/// The errors of every rung, or of the last one, beside those of plain steps.
template <class T>
void grade_error_of_all(const AttentionShape& shape, bool last_only = false) {
    const auto stored = as_stored<T>(wb::testing::random_attention(shape, 3));
    const auto exact = expect_stored<T>(shape, stored);
    const Errors plain = errors_of(plain_steps<T>(shape, stored), exact.o);
    const auto all = implementations_of<T>();
    for (const auto& [name, idea, attention] : last_only ? last_of(all) : all) {
        const std::string text = std::string(Format<T>::kName) + ", " + describe(shape);
        Grader grade(name, text);
        const auto o = outputs_of<T>(grade, attention, shape, stored, exact);
        const Errors errors = errors_of(o, exact.o);
        const double largest = errors.largest / plain.largest;
        const double mean = std::sqrt(errors.mean_square / plain.mean_square);
        if (largest <= 2.0 && mean <= 2.0) {
            CHECK(largest <= 2.0);  // counted
            continue;
        }
        fail(Kind::wrong_result,
             name + ": " + text + ": o is less exact than weights and o rounded once",
             "Beside plain steps with these two roundings, the largest error is " +
                 in_digits(largest) + " times as large,\nand the root of the mean " +
                 "square " + in_digits(mean) + " times. Both may be 2.");
    }
}

/// Values are positive, so that what is cut off the weights, or off o, makes all of o
/// smaller: by 0.7 u in the mean, u being half the distance of 1 and the next number.
/// What is rounded to the nearest number cancels out, but for 0.02 u or so.
template <class T>
void grade_mean_error(int64_t head_dim, bool causal) {
    constexpr double kAllowed = 0.25;
    const auto shape = plain_attention(1, 1, 16, 300, head_dim, causal);
    auto inputs = wb::testing::random_attention(shape, 4);
    for (float& value : inputs.v)
        value = 8.0f + std::clamp(value, -3.0f, 3.0f);
    const auto stored = as_stored<T>(inputs);
    const auto exact = expect_stored<T>(shape, stored);
    for (const auto& [name, idea, attention] : implementations_of<T>()) {
        const std::string text =
            std::string(Format<T>::kName) + ", " + describe(shape) + ", v from 5 to 11";
        Grader grade(name, text);
        const auto o = outputs_of<T>(grade, attention, shape, stored, exact);
        double mean = 0.0;  // in units of u
        for (size_t i = 0; i < o.size(); ++i)
            mean += (o[i] / exact.o[i] - 1.0) / Format<T>::kUnit /
                    static_cast<double>(o.size());
        if (std::abs(mean) <= kAllowed) {
            CHECK(std::abs(mean) <= kAllowed);  // counted
            continue;
        }
        fail(Kind::wrong_result,
             name + ": " + text + ": in the mean, o is off by " + in_digits(mean) +
                 " of half the distance of two numbers",
             "Rounded to nearest, weights and outputs are too large as often as too "
             "small.\nAll in one direction: something is cut off, or scaled.");
    }
}

}  // namespace

TEST_CASE("the error is that of rounding the weights and the output, no more",
          "[values]") {
    // The bound of an element must allow for roundings that all go one way. They do
    // not: over all elements, a kernel's error is that of plain steps with the same two
    // roundings. Twice as much is allowed, largest and mean, as the authors of
    // FlashAttention allow themselves. Weights of 8 bits, or an output that is kept in
    // 16 bits between the tiles, are outside.
    grade_error_of_all<__half>(plain_attention(1, 1, 64, 300, 64));
    grade_error_of_all<__nv_bfloat16>(plain_attention(1, 1, 64, 300, 64));
    for (const auto& shape : {plain_attention(1, 1, 64, 300, 128),
                              plain_attention(1, 1, 5, 1301, 64, true),
                              plain_attention(1, 1, 5, 1301, 128)}) {
        grade_error_of_all<__half>(shape, /*last_only=*/true);
        grade_error_of_all<__nv_bfloat16>(shape, /*last_only=*/true);
    }
}

TEST_CASE("weights and outputs are rounded to the nearest number, not cut",
          "[values]") {
    for (const int64_t D : {64, 128})
        for (const bool causal : {false, true}) {
            grade_mean_error<__half>(D, causal);
            grade_mean_error<__nv_bfloat16>(D, causal);
        }
}
