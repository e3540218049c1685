// fp8_grading.h: one call of v6 of Hopper attention, on e4m3 numbers, and how large its
// error may be.
#pragma once

#include "fp8_attention.h"

#include <wb/testing/attention_grade.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../hopper_grading.h"

namespace fp8_grading {

using namespace hopper_grading;
using T = __nv_bfloat16;

/// Root of the mean square of the error, divided by that of the result, over the
/// elements from `first` to `last` - 1.
inline double relative_error(const std::vector<double>& got,
                             const std::vector<double>& exact,
                             size_t first = 0,
                             size_t last = std::numeric_limits<size_t>::max()) {
    double error = 0.0;
    double size = 0.0;
    for (size_t i = first; i < std::min(last, exact.size()); ++i) {
        error += (got[i] - exact[i]) * (got[i] - exact[i]);
        size += exact[i] * exact[i];
    }
    if (error == 0.0) return 0.0;  // of zeros, too
    return std::sqrt(error / size);
}

struct Result {
    std::vector<double> o;
    std::vector<double> lse;
    AttentionExpected expected;
    std::string why_not;  ///< why it cannot run here
};

inline Result run(const AttentionShape& shape,
                  const AttentionInputs& inputs,
                  bool with_lse = true) {
    Result result;
    const auto stored = as_stored<T>(inputs);
    result.expected = expect_half<T>(shape, stored);
    Grader grade("hopper_attention_fp8", describe(shape));
    const T* q = grade.input("q", rounded<T>(stored.q), Begin::vectors);
    const T* k = grade.input("k", rounded<T>(stored.k), Begin::vectors);
    const T* v = grade.input("v", rounded<T>(stored.v), Begin::vectors);
    T* o = grade.output<T>(
        "o", {shape.batch, shape.query_heads, shape.queries, 128}, Begin::vectors);
    float* lse = nullptr;
    if (with_lse)
        lse = grade.output<float>(
            "lse", {shape.batch, shape.query_heads, shape.queries}, Begin::anywhere);
    grade.run([&](cudaStream_t stream) {
        try {
            hopper_attention_fp8(shape, q, k, v, o, lse, stream);
        } catch (const wb::InvalidArgument& error) {
            result.why_not = error.what();
            if (result.why_not.find("capability") == std::string::npos) throw;
        }
    });
    result.o = grade.read("o");
    if (with_lse) result.lse = grade.read("lse");
    if (!result.why_not.empty()) return result;
    const auto has_nan = [](const auto& numbers) {
        return std::any_of(
            numbers.begin(), numbers.end(), [](auto x) { return std::isnan(x); });
    };
    // Then the case has another complaint: something was not written, perhaps.
    if (has_nan(result.o) != has_nan(result.expected.o)) return result;
    if (has_nan(result.lse) && !has_nan(result.expected.lse)) return result;
    // How near these are, a test looks at by itself. Another call of the same numbers
    // gives the same bits, whatever was called before: each tile of rows has its sums.
    const auto none = [](int64_t) { return 0.0; };
    grade.expect("o", result.o, none);
    if (with_lse) grade.expect("lse", result.lse, none);
    return result;
}

/// Each block of 64 queries of each head has an error of a few percent, and so has its
/// log-sum-exp, where it is wanted: an error of one scale alone shows.
inline void expect_small_errors(const AttentionShape& shape, const Result& result) {
    const auto queries = static_cast<size_t>(shape.queries);
    const size_t rows = static_cast<size_t>(shape.rows());
    for (size_t first = 0, last = 0; first < rows; first = last) {
        const size_t end = (first / queries + 1) * queries;  // of the head
        last = std::min(first + 64 - first % queries % 64, end);
        INFO(describe(shape) << ": rows from " << first << " to " << last - 1
                             << " of all");
        REQUIRE(relative_error(result.o, result.expected.o, first * 128, last * 128) <
                0.12);
        double mean = 0.0;
        for (size_t row = first; row < std::min(last, result.lse.size()); ++row)
            if (result.lse[row] != result.expected.lse[row])  // not both infinite
                mean += result.lse[row] - result.expected.lse[row];
        // Scores of rounded numbers are off by up to 0.4 here, to either side.
        const auto count = static_cast<double>(last - first);
        REQUIRE(std::abs(mean) / count < 0.05 + 0.4 / std::sqrt(count));
    }
}

/// Graded by expect_small_errors().
inline void grade_random(const AttentionShape& shape, bool with_lse = true) {
    expect_small_errors(shape, run(shape, random_attention(shape, 1), with_lse));
}

/// Why the kernels cannot run here: the function's own words.
inline std::string why_no_fp8_here() {
    const auto shape = plain_attention(1, 1, 1, 1, 128);
    return run(shape, random_attention(shape, 1)).why_not;
}

}  // namespace fp8_grading

/// Leaves a test case on machines that lack the instructions.
#define NEEDS_FP8()                                                \
    do {                                                           \
        const std::string reason = fp8_grading::why_no_fp8_here(); \
        if (!reason.empty()) WB_SKIP(reason);                      \
    } while (0)
