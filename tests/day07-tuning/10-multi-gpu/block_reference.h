/// block_reference.h: the block in double, and how far floats may be from it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "multi_gpu.h"

/// The weights of all ranks together, row-major.
struct BlockWeights {
    std::vector<float> qkv;   ///< [W, 3, H, D]
    std::vector<float> out;   ///< [W, W]
    std::vector<float> up;    ///< [W, F]
    std::vector<float> down;  ///< [F, W]
};

/// Numbers, and a bound of the error that each may have in float.
struct Approximate {
    std::vector<double> value, error;
    explicit Approximate(int64_t n)
        : value(static_cast<size_t>(n)), error(static_cast<size_t>(n)) {}
};

constexpr double kRounding = 0x1p-24;  // of one operation in float

/// A B. A product and its sum are rounded, and so is each rank's sum when it is added.
///
/// @param A  [rows, inner]    @param B  [inner, columns]
inline Approximate reference_product(const Approximate& A,
                                     const std::vector<float>& B,
                                     int64_t rows,
                                     int64_t inner,
                                     int64_t columns,
                                     int ranks) {
    Approximate C(rows * columns);
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c) {
            double sum = 0, magnitude = 0, error = 0;
            for (int64_t k = 0; k < inner; ++k) {
                const auto at = static_cast<size_t>(r * inner + k);
                const double b = B[static_cast<size_t>(k * columns + c)];
                sum += A.value[at] * b;
                magnitude += std::abs(A.value[at] * b);
                error += A.error[at] * std::abs(b);
            }
            const auto at = static_cast<size_t>(r * columns + c);
            C.value[at] = sum;
            C.error[at] = error + static_cast<double>(inner + ranks + 2) * kRounding *
                                      (magnitude + error);
        }
    return C;
}

/// Causal attention of all heads.
///
/// @param qkv  [tokens, 3, heads, head_dim]
inline Approximate reference_attention(const Approximate& qkv,
                                       const BlockShape& shape) {
    const int64_t W = shape.width();
    const int64_t D = shape.head_dim;
    const double scale = 1.0 / std::sqrt(static_cast<double>(D));
    Approximate o(shape.tokens * W);
    for (int64_t head = 0; head < shape.heads; ++head)
        for (int64_t i = 0; i < shape.tokens; ++i) {
            const auto element = [&](int64_t token, int which, int64_t d) {
                return static_cast<size_t>((token * 3 + which) * W + head * D + d);
            };
            std::vector<double> weight;
            double worst = 0;  // error of a score
            for (int64_t j = 0; j <= i; ++j) {
                double score = 0, error = 0;
                for (int64_t d = 0; d < D; ++d) {
                    const size_t q = element(i, 0, d), k = element(j, 1, d);
                    score += qkv.value[q] * qkv.value[k];
                    error += std::abs(qkv.value[q]) * qkv.error[k] +
                             (std::abs(qkv.value[k]) + qkv.error[k]) * qkv.error[q] +
                             static_cast<double>(D + 4) * kRounding *
                                 std::abs(qkv.value[q] * qkv.value[k]);
                }
                weight.push_back(score * scale);
                worst = std::max(worst, error * scale);
            }
            const double max = *std::max_element(weight.begin(), weight.end());
            double sum = 0, far = 0;
            for (double& w : weight) {
                far = std::max(far, max - w);
                w = std::exp(w - max);
                sum += w;
            }
            // Numerator and denominator have the scores' errors, those of exp(), whose
            // argument is rounded, and one of each step of the sum, shrinking included.
            const double steps = static_cast<double>(i + 1);
            const double relative =
                std::expm1(2 * worst) + (6 * steps + 2 * far + 16) * kRounding;
            for (int64_t d = 0; d < D; ++d) {
                double value = 0, magnitude = 0, error = 0;
                for (int64_t j = 0; j <= i; ++j) {
                    const double p = weight[static_cast<size_t>(j)] / sum;
                    const size_t v = element(j, 2, d);
                    value += p * qkv.value[v];
                    magnitude += p * std::abs(qkv.value[v]);
                    error += p * qkv.error[v];
                }
                const auto at = static_cast<size_t>(i * W + head * D + d);
                o.value[at] = value;
                o.error[at] = error + relative * (magnitude + error);
            }
        }
    return o;
}

/// y of multi_gpu(), on so many ranks.
inline Approximate reference_block(const BlockShape& shape,
                                   const BlockWeights& weights,
                                   const std::vector<float>& x,
                                   int ranks) {
    const int64_t N = shape.tokens;
    const int64_t W = shape.width();
    const int64_t F = shape.hidden;
    const auto add = [&](Approximate& to, const Approximate& from) {
        for (size_t i = 0; i < to.value.size(); ++i) {
            // The residual is one of the summands of the ranks.
            to.error[i] +=
                from.error[i] + static_cast<double>(ranks + 1) * kRounding *
                                    (std::abs(to.value[i]) + std::abs(from.value[i]));
            to.value[i] += from.value[i];
        }
    };
    Approximate input(N * W);
    std::copy(x.begin(), x.end(), input.value.begin());
    const Approximate qkv = reference_product(input, weights.qkv, N, W, 3 * W, 1);
    const Approximate o = reference_attention(qkv, shape);
    Approximate h = reference_product(o, weights.out, N, W, W, ranks);
    add(h, input);
    Approximate g = reference_product(h, weights.up, N, W, F, 1);
    for (size_t i = 0; i < g.value.size(); ++i) {
        const double u = g.value[i];
        g.value[i] = 0.5 * u * (1 + std::erf(u * std::sqrt(0.5)));
        g.error[i] = 1.13 * g.error[i] + 8 * kRounding * std::abs(u);  // gelu' < 1.13
    }
    Approximate y = reference_product(g, weights.down, N, F, W, ranks);
    add(y, h);
    return y;
}
