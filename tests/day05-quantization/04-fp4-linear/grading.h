// Weights of three kinds, and calls of every version of fp4_quantize() and fp4_linear()
// with them.
#pragma once

#include "fp4_linear.h"

#include <wb/check.h>
#include <wb/implementations.h>
#include <wb/reference/activations.h>
#include <wb/reference/fp4.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>
#include <wb/testing/simulator.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace fp4_grading {

using wb::reference::Fp4Kind;
using wb::reference::Fp4Matrix;
using wb::testing::Grader;

inline std::size_t at(int64_t i) {
    return static_cast<std::size_t>(i);
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

inline Fp4Scales any_scales() {
    return GENERATE(Fp4Scales::channel, Fp4Scales::mx, Fp4Scales::nvfp4);
}

/// One launch.
struct Call {
    int64_t M;
    int64_t N;
    int64_t K;
    Fp4Scales scales = Fp4Scales::nvfp4;
    Fp4Activation activation = Fp4Activation::none;
    bool has_bias = false;
    float more_bias = 0.0f;   ///< of column 5
    bool odd_scales = false;  ///< those of a byte begin at an odd address

    Fp4Shape shape() const { return {M, N, K, scales}; }
    Fp4Kind kind() const { return static_cast<Fp4Kind>(scales); }
    std::string text() const {
        const char* const kinds[] = {"channel", "mx", "nvfp4"};
        const char* const acts[] = {"", ", silu", ", gelu"};
        return "M = " + std::to_string(M) + ", N = " + std::to_string(N) +
               ", K = " + std::to_string(K) + ", " + kinds[at(int64_t(scales))] +
               acts[at(int64_t(activation))] + (has_bias ? ", bias" : "") +
               (odd_scales ? ", scales at an odd address" : "");
    }
};

/// Random bits and random scales, each other one of them negative for channel.
inline Fp4Matrix random_weights(const Call& c, uint64_t seed) {
    wb::testing::Random random(seed);
    Fp4Matrix w = wb::reference::empty_fp4(c.N, c.K, c.kind());
    for (uint8_t& byte : w.values)
        byte = static_cast<uint8_t>(random.below(256));
    for (float& scale : w.float_scales)
        scale = static_cast<float>(0.1 * random.normal());
    for (uint8_t& scale : w.byte_scales)
        scale = static_cast<uint8_t>(c.scales == Fp4Scales::mx ? 118 + random.below(8)
                                                               : random.below(127));
    w.global_scale = c.scales == Fp4Scales::nvfp4 ? 0.0071f : 1.0f;
    return w;
}

/// The same with scales that are powers of two. With x of small whole numbers all sums
/// are exact, in any order.
inline Fp4Matrix exact_weights(const Call& c, uint64_t seed) {
    Fp4Matrix w = random_weights(c, seed);
    wb::testing::Random random(seed + 2);
    for (float& scale : w.float_scales)
        scale = random.below(2) == 0 ? 0.25f : -0.5f;
    for (uint8_t& scale : w.byte_scales)
        scale =
            static_cast<uint8_t>(c.scales == Fp4Scales::mx ? 125 + random.below(3)
                                                           : 8 * (6 + random.below(3)));
    w.global_scale = c.scales == Fp4Scales::nvfp4 ? 0.5f : 1.0f;
    return w;
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

/// Whole and half numbers, so that sums stay exact.
inline std::vector<float> bias_of(const Call& c) {
    std::vector<float> bias;
    for (int64_t n = 0; n < c.N && c.has_bias; ++n)
        bias.push_back(0.5f * static_cast<float>(n % 13 - 6) +
                       (n == 5 ? c.more_bias : 0.0f));
    return bias;
}

/// W's tensors as inputs of a launch, which the grader watches.
inline Fp4Weights tensors_of(Grader& grade,
                             const Fp4Matrix& w,
                             bool odd_scales = false) {
    using wb::testing::Begin;
    const void* scales = nullptr;
    if (w.kind == Fp4Kind::channel)
        scales = grade.input("scales", w.float_scales, Begin::anywhere);
    else
        scales = grade.input(
            "scales", w.byte_scales, odd_scales ? Begin::anywhere : Begin::aligned);
    const float* const global =
        w.kind == Fp4Kind::nvfp4 && w.N > 0 && w.K > 0
            ? grade.input(
                  "global_scale", std::vector<float>{w.global_scale}, Begin::anywhere)
            : nullptr;
    return {const_cast<uint8_t*>(grade.input("values", w.values, Begin::vectors)),
            const_cast<void*>(scales),
            global,
            static_cast<int64_t>(w.values.size()),
            static_cast<int64_t>(w.float_scales.size() + w.byte_scales.size())};
}

/// What y must be, and how far from it a kernel may be.
struct Expected {
    std::vector<double> y;
    std::vector<double> bounds;
};

inline double act(double z, Fp4Activation activation) {
    if (activation == Fp4Activation::silu) return wb::reference::silu(z);
    if (activation == Fp4Activation::gelu) return wb::reference::gelu_tanh(z);
    return z;
}

/// Products of a half and four bits are exact, and with a scale of E4M3 as well. Tensor
/// cores add a few of them at a time to a sum, at one exponent, the largest, and cut
/// off what lies below 24 bits: each of K + 1 terms may lose a unit of 2^-23 of the
/// largest one, and so may each sum. Sums of parts, scales and the bias are a few
/// roundings more.
///
/// act's slope is at most 1.13. Its own error: an argument s of up to 88 is off by 4
/// roundings, and so is exp(-s), times |s|; a quotient and a product more. Below -88
/// act is less than half's smallest number. Then y is rounded to half.
inline Expected expected_of(const Call& c,
                            const Fp4Matrix& w,
                            const std::vector<__half>& x,
                            const std::vector<float>& bias,
                            bool is_exact) {
    std::vector<double> weights;
    for (int64_t n = 0; n < c.N; ++n)
        for (int64_t k = 0; k < c.K; ++k)
            weights.push_back(w.weight(n, k));
    Expected e;
    const double relative =
        wb::testing::gamma(2.0 * static_cast<double>(c.K) + 16.0, 0x1p-23);
    for (int64_t m = 0; m < c.M; ++m) {
        for (int64_t n = 0; n < c.N; ++n) {
            double sum = c.has_bias ? double{bias[at(n)]} : 0.0;
            double magnitude = std::abs(sum);
            for (int64_t k = 0; k < c.K; ++k) {
                const double term = double{static_cast<float>(x[at(m * c.K + k)])} *
                                    weights[at(n * c.K + k)];
                sum += term;
                magnitude += std::abs(term);
            }
            const double y = act(sum, c.activation);
            const bool is_exact_too = is_exact && c.activation == Fp4Activation::none;
            if (is_exact_too || !std::isfinite(sum)) {
                e.y.push_back(double{
                    static_cast<float>(static_cast<__half>(static_cast<float>(y)))});
                e.bounds.push_back(0.0);
                continue;
            }
            double error = is_exact ? 0.0 : 1.13 * relative * magnitude;
            if (c.activation != Fp4Activation::none)
                error += 0x1p-24 * 12.0 * 89.0 * std::min(std::abs(y), 1.0) +
                         0x1p-24 * 12.0 * std::abs(y);
            e.y.push_back(y);
            e.bounds.push_back(error + 0x1p-11 * (std::abs(y) + error) + 0x1p-25);
        }
    }
    return e;
}

/// One launcher on these numbers.
inline void grade_one(const std::string& name,
                      decltype(&fp4_linear) launcher,
                      const Call& c,
                      const Fp4Matrix& w,
                      const std::vector<__half>& x,
                      const Expected& expected,
                      const std::string& what) {
    Grader grade(name, c.text() + what);
    const Fp4Weights tensors = tensors_of(grade, w, c.odd_scales);
    using wb::testing::Begin;
    const __half* const d_x = grade.input("x", x, Begin::vectors);
    const float* const d_bias =
        c.has_bias ? grade.input("bias", bias_of(c), Begin::anywhere) : nullptr;
    __half* const d_y = grade.output<__half>("y", {c.M, c.N}, Begin::vectors);
    grade.run([&](cudaStream_t stream) {
        launcher(c.shape(), c.activation, tensors, d_x, d_bias, d_y, stream);
    });
    grade.expect("y", expected.y, [&](int64_t i) { return expected.bounds[at(i)]; });
}

/// All versions of fp4_linear().
inline void grade_linear(const Call& c,
                         const Fp4Matrix& w,
                         const std::vector<__half>& x,
                         const std::string& what,
                         bool is_exact = false) {
    const Expected expected = expected_of(c, w, x, bias_of(c), is_exact);
    for (const auto& [name, idea, launcher] :
         wb::implementations("fp4_linear", fp4_linear))
        grade_one(name, launcher, c, w, x, expected, what);
}

inline void grade_random(const Call& c, uint64_t seed = 1) {
    grade_linear(c,
                 random_weights(c, seed),
                 random_x(c, seed + 3),
                 ", seed " + std::to_string(seed));
}

/// Whole numbers: every sum is exact.
inline void grade_whole(const Call& c, uint64_t seed = 1) {
    grade_linear(c, exact_weights(c, seed), whole_x(c), ", whole numbers", true);
}

/// All versions of fp4_quantize(): each bit is known.
inline void grade_quantize(const Call& c,
                           const std::vector<float>& weights,
                           const std::string& what,
                           float global_scale) {
    const Fp4Matrix right =
        wb::reference::fp4_quantized(weights, c.N, c.K, c.kind(), global_scale);
    const bool is_float = c.scales == Fp4Scales::channel;
    for (const auto& [name, idea, launcher] :
         wb::implementations("fp4_quantize", fp4_quantize)) {
        Grader grade(name, c.text() + what);
        using wb::testing::Begin;
        const float* const d_weights = grade.input("weights", weights, Begin::vectors);
        uint8_t* const values =
            grade.output<uint8_t>("values", {c.N, c.K / 2}, Begin::vectors);
        const int64_t scales = c.shape().num_scales();
        void* d_scales = nullptr;
        if (is_float)
            d_scales = grade.output<float>("scales", {scales}, Begin::anywhere);
        else
            d_scales = grade.output<uint8_t>("scales", {scales}, Begin::anywhere);
        const float* const global =
            c.scales == Fp4Scales::nvfp4
                ? grade.input("global_scale", std::vector<float>{global_scale})
                : nullptr;
        const Fp4Weights w = {values, d_scales, global, c.N * c.K / 2, scales};
        grade.run([&, launcher = launcher](cudaStream_t stream) {
            launcher(c.shape(), d_weights, w, stream);
        });
        const auto exactly = [](int64_t) { return 0.0; };
        grade.expect("values",
                     std::vector<double>(right.values.begin(), right.values.end()),
                     exactly);
        if (is_float)
            grade.expect("scales",
                         std::vector<double>(right.float_scales.begin(),
                                             right.float_scales.end()),
                         exactly);
        else
            grade.expect(
                "scales",
                std::vector<double>(right.byte_scales.begin(), right.byte_scales.end()),
                exactly);
    }
}

inline void grade_quantize(const Call& c,
                           const std::vector<float>& weights,
                           const std::string& what) {
    grade_quantize(c, weights, what, wb::reference::fp4_global_scale(weights));
}

}  // namespace fp4_grading
