// Weights of several kinds, and calls of every version of gptq_dequantize() and
// gptq_matmul() with them.
#pragma once

#include "gptq_int4.h"

#include <wb/check.h>
#include <wb/implementations.h>
#include <wb/reference/gptq.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/random.h>
#include <wb/testing/simulator.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../gptq_calls.h"

namespace gptq_grading {

using namespace gptq_calls;
using wb::testing::FewMultiprocessors;

/// One launch.
struct Call {
    int64_t M;
    int64_t N;
    int64_t K;
    int64_t group = -1;
    bool zeros_minus_one = true;
    Order order = none;

    GptqShape shape() const { return {M, N, K, group, zeros_minus_one}; }
    std::string text() const {
        return "M = " + std::to_string(M) + ", N = " + std::to_string(N) +
               ", K = " + std::to_string(K) + ", group = " + std::to_string(group) +
               (zeros_minus_one ? ", zeros minus one, " : ", zeros as they are, ") +
               text_of(order);
    }
};

inline GptqWeights random_weights(const Call& c, uint64_t seed) {
    return random_weights_of(c.shape(), c.order, seed);
}
inline GptqWeights exact_weights(const Call& c, uint64_t seed) {
    return exact_weights_of(c.shape(), c.order, seed);
}

inline GptqWeights equal_weights(const Call& c, float scale) {
    return equal_weights_of(c.shape(), c.order, scale);
}

inline std::vector<__half> whole_x(const Call& c) {
    std::vector<__half> x;
    for (int64_t i = 0; i < c.M * c.K; ++i)
        x.push_back(static_cast<__half>(
            static_cast<float>((7 * (i / c.K) + 3 * (i % c.K)) % 5 - 2)));
    return x;
}

inline std::vector<__half> random_x(const Call& c, uint64_t seed) {
    std::vector<__half> x;
    for (const float value : wb::testing::random_normal(c.M * c.K, seed))
        x.push_back(static_cast<__half>(value));
    return x;
}

/// All versions of gptq_dequantize(): every element is known to the last bit.
inline void grade_dequantize(const Call& c, const GptqWeights& w, const char* what) {
    const auto exact = wb::reference::dequantized(w);
    for (const auto& [name, idea, launcher] :
         wb::implementations("gptq_dequantize", gptq_dequantize)) {
        Grader grade(name, c.text() + what);
        const GptqTensors tensors = tensors_of(grade, w);
        __half* const d_w =
            grade.output<__half>("w", {c.K, c.N}, wb::testing::Begin::vectors);
        unsigned long long* const d_bad =
            w.g_idx.empty() ? nullptr : bad_counter(grade);
        grade.run([&, launcher = launcher](cudaStream_t stream) {
            launcher(c.shape(), tensors, d_w, d_bad, stream);
        });
        grade.expect("w", std::vector<double>(exact.begin(), exact.end()), [](int64_t) {
            return 0.0;
        });
        if (d_bad != nullptr) expect_bad(grade, w);
    }
}

/// What gptq_repack() makes of W.
inline std::vector<uint4> packed_of(const Call& c, const GptqWeights& w) {
    const int64_t vectors = gptq_packed_vectors(c.shape(), !w.g_idx.empty());
    return packed_by("gptq_repack", c.text(), w, vectors, [&](auto... to) {
        gptq_repack(c.shape(), to...);
    });
}

/// What y must be, and how far from it a kernel may be.
struct Expected {
    std::vector<double> y;
    std::vector<double> bounds;
};

/// Products of two halves are exact. Tensor cores add a few of them at a time to a sum,
/// at one exponent, the largest, and cut off what lies below 24 bits: each of K + 1
/// terms may lose a unit of 2^-23 of the largest one, and so may each sum. Sums of
/// parts, of which there are few, and rounding to float in any order are less. Then the
/// sum is rounded to half, which is all that is left where sums are exact.
inline Expected expected_of(const Call& c,
                            const GptqWeights& w,
                            const std::vector<__half>& x,
                            bool is_exact) {
    const auto weights = wb::reference::dequantized(w);
    Expected e;
    const double relative =
        wb::testing::gamma(2.0 * static_cast<double>(c.K) + 16.0, 0x1p-23);
    for (int64_t m = 0; m < c.M; ++m) {
        std::vector<double> sums(at(c.N));
        std::vector<double> magnitudes(at(c.N));
        for (int64_t k = 0; k < c.K; ++k) {
            const double factor =
                static_cast<double>(static_cast<float>(x[at(m * c.K + k)]));
            // A row without a group is zeros, whatever x is.
            if (!w.has_group(k)) continue;
            for (int64_t n = 0; n < c.N; ++n) {
                const double term = factor * double{weights[at(k * c.N + n)]};
                sums[at(n)] += term;
                magnitudes[at(n)] += std::abs(term);
            }
        }
        for (int64_t n = 0; n < c.N; ++n) {
            const double sum = sums[at(n)];
            if (is_exact || !std::isfinite(sum)) {
                e.y.push_back(static_cast<double>(
                    static_cast<float>(static_cast<__half>(static_cast<float>(sum)))));
                e.bounds.push_back(0.0);
                continue;
            }
            const double of_sum = relative * magnitudes[at(n)];
            e.y.push_back(sum);
            e.bounds.push_back(of_sum + 0x1p-11 * (std::abs(sum) + of_sum) + 0x1p-25);
        }
    }
    return e;
}

/// One launcher on these numbers.
inline void grade_one(const std::string& name,
                      decltype(&gptq_matmul) launcher,
                      const Call& c,
                      const GptqWeights& w,
                      const std::vector<uint4>& packed,
                      const std::vector<__half>& x,
                      const Expected& expected,
                      const std::string& what) {
    Grader grade(name, c.text() + what);
    const GptqTensors tensors = tensors_of(grade, w);
    using wb::testing::Begin;
    const uint4* const d_packed = grade.input("packed", packed, Begin::vectors);
    const __half* const d_x = grade.input("x", x, Begin::vectors);
    __half* const d_y = grade.output<__half>("y", {c.M, c.N}, Begin::vectors);
    grade.run([&](cudaStream_t stream) {
        launcher(c.shape(), tensors, d_packed, d_x, d_y, stream);
    });
    grade.expect("y", expected.y, [&](int64_t i) { return expected.bounds[at(i)]; });
}

/// All versions of gptq_matmul().
inline void grade_matmul(const Call& c,
                         const GptqWeights& w,
                         const std::vector<__half>& x,
                         const std::string& what,
                         bool is_exact = false) {
    const auto packed = packed_of(c, w);
    const Expected expected = expected_of(c, w, x, is_exact);
    for (const auto& [name, idea, launcher] :
         wb::implementations("gptq_matmul", gptq_matmul))
        grade_one(name, launcher, c, w, packed, x, expected, what);
}

inline void grade_random(const Call& c, uint64_t seed = 1) {
    grade_matmul(c,
                 random_weights(c, seed),
                 random_x(c, seed + 3),
                 ", seed " + std::to_string(seed));
}

/// Whole numbers: every sum is exact.
inline void grade_whole(const Call& c, uint64_t seed = 1) {
    grade_matmul(c, exact_weights(c, seed), whole_x(c), ", whole numbers", true);
}

}  // namespace gptq_grading
