// Rows in 8 bits of several kinds, and calls of every version of int8_quantize() and
// int8_matmul() with them.
#pragma once

#include "int8.h"

#include <wb/check.h>
#include <wb/implementations.h>
#include <wb/reference/int8.h>
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

namespace int8_grading {

using wb::reference::Int8Rows;
using wb::testing::Begin;
using wb::testing::FewMultiprocessors;
using wb::testing::Grader;

inline std::size_t at(int64_t i) {
    return static_cast<std::size_t>(i);
}

/// What a call of int8_quantize() asks for.
enum class Wanted { scales, sums, zeros, zeros_and_sums };

inline bool wants_zeros(Wanted wanted) {
    return wanted == Wanted::zeros || wanted == Wanted::zeros_and_sums;
}
inline bool wants_sums(Wanted wanted) {
    return wanted == Wanted::sums || wanted == Wanted::zeros_and_sums;
}

inline std::vector<__nv_bfloat16> stored(const std::vector<float>& values) {
    std::vector<__nv_bfloat16> result;
    for (const float value : values)
        result.push_back(static_cast<__nv_bfloat16>(value));
    return result;
}

inline std::vector<__nv_bfloat16> random_rows(int64_t rows,
                                              int64_t columns,
                                              uint64_t seed) {
    return stored(wb::testing::random_normal(rows * columns, seed));
}

/// One version of int8_quantize() on these rows: everything is known to the last bit.
inline void grade_quantize_one(const std::string& name,
                               decltype(&int8_quantize) launcher,
                               const std::vector<__nv_bfloat16>& x,
                               int64_t columns,
                               Wanted wanted,
                               const std::string& what) {
    const bool is_symmetric = !wants_zeros(wanted);
    const Int8Rows exact = wb::reference::int8_quantized(x, columns, is_symmetric);
    const int64_t rows = exact.rows();
    Grader grade(name,
                 std::to_string(rows) + " x " + std::to_string(columns) +
                     (is_symmetric ? ", symmetric" : ", asymmetric") + what);
    const __nv_bfloat16* const d_x = grade.input("x", x, Begin::vectors);
    int8_t* const d_q = grade.output<int8_t>("q", {rows, columns}, Begin::vectors);
    const auto of_rows = [&]<class T>(const char* array, bool is_wanted, T) {
        return is_wanted ? grade.output<T>(array, {rows}, Begin::anywhere) : nullptr;
    };
    float* const d_scales = of_rows("scales", true, float{});
    int32_t* const d_zeros = of_rows("zeros", !is_symmetric, int32_t{});
    int32_t* const d_sums = of_rows("sums", wants_sums(wanted), int32_t{});
    grade.run([&](cudaStream_t stream) {
        launcher(d_x, rows, columns, d_q, d_scales, d_zeros, d_sums, stream);
    });
    const auto no_error = [](int64_t) { return 0.0; };
    const auto doubles = [](const auto& values) {
        return std::vector<double>(values.begin(), values.end());
    };
    grade.expect("q", doubles(exact.q), no_error);
    grade.expect("scales", doubles(exact.scales), no_error);
    if (d_zeros != nullptr) grade.expect("zeros", doubles(exact.zeros), no_error);
    if (d_sums != nullptr) grade.expect("sums", doubles(exact.sums), no_error);
}

inline void grade_quantize(const std::vector<__nv_bfloat16>& x,
                           int64_t columns,
                           Wanted wanted,
                           const std::string& what) {
    for (const auto& [name, idea, launcher] :
         wb::implementations("int8_quantize", int8_quantize))
        grade_quantize_one(name, launcher, x, columns, wanted, what);
}

/// What a layer is given, on the host.
struct Layer {
    Int8Shape shape;
    std::vector<int8_t> x;
    std::vector<float> x_scales;
    std::vector<int32_t> x_zeros;  ///< empty: symmetric
    std::vector<int8_t> w;
    std::vector<float> w_scales;
    std::vector<int32_t> w_sums;  ///< empty without zeros
    std::vector<float> bias;      ///< empty: none

    std::string text() const {
        return "M = " + std::to_string(shape.M) + ", N = " + std::to_string(shape.N) +
               ", K = " + std::to_string(shape.K) +
               (x_zeros.empty() ? ", symmetric" : ", asymmetric") +
               (bias.empty() ? "" : ", bias");
    }

    /// What the product is without any rounding: whole numbers.
    std::vector<int64_t> sums() const {
        std::vector<int64_t> result;
        for (int64_t m = 0; m < shape.M; ++m)
            for (int64_t n = 0; n < shape.N; ++n) {
                const int8_t* const row = x.data() + m * shape.K;
                const int8_t* const column = w.data() + n * shape.K;
                int64_t sum = 0;
                for (int64_t k = 0; k < shape.K; ++k)
                    sum += row[k] * column[k];
                if (!x_zeros.empty()) sum -= int64_t{x_zeros[at(m)]} * w_sums[at(n)];
                result.push_back(sum);
            }
        return result;
    }

    /// The sums of the rows of w, where zeros want them.
    void add_sums() {
        for (int64_t n = 0; n < shape.N; ++n) {
            w_sums.push_back(0);
            for (int64_t k = 0; k < shape.K; ++k)
                w_sums.back() += w[at(n * shape.K + k)];
        }
    }
};

/// Whole numbers: scales are powers of two, the bias is one of a few, and the sums are
/// small, so that bf16 holds most of them: a product too many or too few is seen.
inline Layer whole_layer(const Int8Shape& shape,
                         bool zeros,
                         bool bias,
                         uint64_t seed = 1) {
    wb::testing::Random random(seed);
    Layer layer = {shape, {}, {}, {}, {}, {}, {}, {}};
    for (int64_t i = 0; i < shape.M * shape.K; ++i)
        layer.x.push_back(static_cast<int8_t>(random.below(3) - 1));
    for (int64_t i = 0; i < shape.N * shape.K; ++i)
        layer.w.push_back(static_cast<int8_t>(random.below(5) - 2));
    for (int64_t m = 0; m < shape.M; ++m) {
        layer.x_scales.push_back(m % 3 == 0 ? 0.5f : 2.0f);
        if (zeros) layer.x_zeros.push_back(static_cast<int32_t>(m % 3) - 1);
    }
    for (int64_t n = 0; n < shape.N; ++n) {
        layer.w_scales.push_back(n % 5 == 0 ? 4.0f : 1.0f);
        if (bias) layer.bias.push_back(static_cast<float>(n % 7) - 3.0f);
    }
    if (zeros) layer.add_sums();
    return layer;
}

/// All bytes that there are, scales of any size.
inline Layer random_layer(const Int8Shape& shape,
                          bool zeros,
                          bool bias,
                          uint64_t seed = 1) {
    wb::testing::Random random(seed);
    Layer layer = {shape, {}, {}, {}, {}, {}, {}, {}};
    for (int64_t i = 0; i < shape.M * shape.K; ++i)
        layer.x.push_back(static_cast<int8_t>(random.below(256) - 128));
    for (int64_t i = 0; i < shape.N * shape.K; ++i)
        layer.w.push_back(static_cast<int8_t>(random.below(255) - 127));
    for (int64_t m = 0; m < shape.M; ++m) {
        layer.x_scales.push_back(static_cast<float>(0.01 + 0.01 * random.uniform()));
        if (zeros)
            layer.x_zeros.push_back(static_cast<int32_t>(random.below(256)) - 128);
    }
    for (int64_t n = 0; n < shape.N; ++n) {
        layer.w_scales.push_back(static_cast<float>(0.001 + random.uniform() / 500));
        if (bias) layer.bias.push_back(static_cast<float>(random.normal()));
    }
    if (zeros) layer.add_sums();
    return layer;
}

/// What y must be, and how far from it a kernel may be: the sum is exact. It is rounded
/// to float; so are two products and the sum with the bias; then y to bf16.
struct Expected {
    std::vector<double> y;
    std::vector<double> bounds;
};

inline Expected expected_of(const Layer& layer) {
    Expected e;
    const auto sums = layer.sums();
    for (int64_t i = 0; i < static_cast<int64_t>(sums.size()); ++i) {
        const auto m = at(i / layer.shape.N);
        const auto n = at(i % layer.shape.N);
        double product = 0.0;
        if (layer.shape.K > 0)
            product = static_cast<double>(sums[at(i)]) * layer.x_scales[m] *
                      layer.w_scales[n];
        const double y = product + (layer.bias.empty() ? 0.0 : layer.bias[n]);
        const double of_float = wb::testing::gamma(3.0, 0x1p-24) * std::abs(product) +
                                0x1p-24 * std::abs(y);
        e.y.push_back(y);
        const double bound = of_float + 0x1p-8 * (std::abs(y) + of_float) + 0x1p-134;
        e.bounds.push_back(std::isfinite(bound) ? bound : 0.0);
    }
    return e;
}

/// y where every step is exact but the last one, which rounds to bf16.
inline Expected exact_of(const Layer& layer) {
    Expected e = expected_of(layer);
    for (std::size_t i = 0; i < e.y.size(); ++i) {
        e.y[i] = static_cast<double>(
            static_cast<float>(static_cast<__nv_bfloat16>(static_cast<float>(e.y[i]))));
        e.bounds[i] = 0.0;
    }
    return e;
}

/// A layer's arrays as inputs of a launch.
inline Int8Inputs inputs_of(Grader& grade, const Layer& layer) {
    const auto maybe =
        [&](const char* name, const auto& values, Begin begin = Begin::vectors) {
            return values.empty() ? nullptr : grade.input(name, values, begin);
        };
    return {maybe("in.x", layer.x),
            maybe("in.x_scales", layer.x_scales, Begin::anywhere),
            maybe("in.x_zeros", layer.x_zeros, Begin::anywhere),
            maybe("in.w", layer.w),
            maybe("in.w_scales", layer.w_scales),
            maybe("in.w_sums", layer.w_sums),
            maybe("in.bias", layer.bias)};
}

inline void grade_one(const std::string& name,
                      decltype(&int8_matmul) launcher,
                      const Layer& layer,
                      const Expected& expected,
                      const std::string& what) {
    Grader grade(name, layer.text() + what);
    const Int8Inputs in = inputs_of(grade, layer);
    __nv_bfloat16* const d_y = grade.output<__nv_bfloat16>(
        "y", {layer.shape.M, layer.shape.N}, Begin::vectors);
    grade.run([&](cudaStream_t stream) { launcher(layer.shape, in, d_y, stream); });
    grade.expect("y", expected.y, [&](int64_t i) { return expected.bounds[at(i)]; });
}

/// All versions of int8_matmul().
inline void grade_layer(const Layer& layer,
                        const Expected& expected,
                        const std::string& what) {
    for (const auto& [name, idea, launcher] :
         wb::implementations("int8_matmul", int8_matmul))
        grade_one(name, launcher, layer, expected, what);
}

inline void grade_whole(const Int8Shape& shape, bool zeros, bool bias) {
    const Layer layer = whole_layer(shape, zeros, bias);
    grade_layer(layer, exact_of(layer), ", whole numbers");
}

inline void grade_random(const Int8Shape& shape,
                         bool zeros,
                         bool bias,
                         uint64_t seed = 1) {
    const Layer layer = random_layer(shape, zeros, bias, seed);
    grade_layer(layer, expected_of(layer), ", seed " + std::to_string(seed));
}

}  // namespace int8_grading
