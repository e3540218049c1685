// The pieces of a block in double, and how far from them a kernel may be that was given
// the same numbers.
#pragma once

#include "transformer_block.h"

#include <wb/reference/activations.h>
#include <wb/reference/layernorm.h>
#include <wb/testing/bounds.h>
#include <wb/testing/norms.h>
#include <wb/testing/stored_types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace block_grading {

using Bf16 = __nv_bfloat16;

inline std::size_t at(int64_t i) {
    return static_cast<std::size_t>(i);
}

template <class T>
std::vector<double> doubles(const std::vector<T>& numbers) {
    std::vector<double> result;
    for (const T x : numbers)
        result.push_back(double{static_cast<float>(x)});
    return result;
}

/// Numbers, and how far from each a kernel may be.
struct Wanted {
    std::vector<double> values;
    std::vector<double> bounds;

    void add(double value, double bound) {
        values.push_back(value);
        bounds.push_back(bound);
    }
    /// Exact numbers.
    static Wanted of(std::vector<double> values) {
        const std::size_t count = values.size();
        return {std::move(values), std::vector<double>(count)};
    }
    /// After their rounding to bf16.
    Wanted stored() const {
        Wanted result;
        for (std::size_t i = 0; i < values.size(); ++i)
            result.add(values[i],
                       wb::testing::stored_bound<Bf16>(values[i], bounds[i]));
        return result;
    }
};

/// Weights [N, K] and bias [N], or none, as they are after their storage.
struct Layer {
    int64_t N = 0;
    int64_t K = 0;
    std::vector<double> weights, bias;
    bool is_quantized = false;
};

inline double activated_exactly(double z, Activation activation) {
    if (activation == Activation::silu) return wb::reference::silu(z);
    if (activation == Activation::gelu) return wb::reference::gelu_tanh(z);
    return z;
}

/// act(x w^T + bias) + residual, before it is stored. Errors of x reach the sums
/// through |w|. Sums themselves: chapter 02's bound, gamma(2 K + 16) of 2^-23. They may
/// be rounded to bf16, in 4 bits to half; x, which is bf16, is a half without rounding,
/// unless it is small. act has a slope of
/// 1.13 at most, and an error of its own of 2^-13 of it.
///
/// @param residual  [M, N], or empty
inline Wanted linear(const Wanted& x,
                     const Layer& layer,
                     Activation activation,
                     const Wanted& residual = {}) {
    constexpr double kU = 0x1p-24;
    const double relative =
        wb::testing::gamma(2.0 * static_cast<double>(layer.K) + 16.0, 0x1p-23);
    const auto M = static_cast<int64_t>(x.values.size()) / layer.K;
    Wanted y;
    for (int64_t m = 0; m < M; ++m)
        for (int64_t n = 0; n < layer.N; ++n) {
            double sum = 0.0;
            double magnitude = 0.0;
            double error = 0.0;
            for (int64_t k = 0; k < layer.K; ++k) {
                const double w = layer.weights[at(n * layer.K + k)];
                const double factor = x.values[at(m * layer.K + k)];
                double off = x.bounds[at(m * layer.K + k)];
                if (layer.is_quantized) off += 0x1p-25;
                sum += factor * w;
                magnitude += (std::abs(factor) + off) * std::abs(w);
                error += off * std::abs(w);
            }
            error += relative * magnitude;
            error = layer.is_quantized
                        ? error + 0x1p-11 * (std::abs(sum) + error) + 0x1p-25
                        : wb::testing::stored_bound<Bf16>(sum, error);
            if (!layer.bias.empty()) sum += layer.bias[at(n)];
            error += 4.0 * kU * (std::abs(sum) + magnitude);
            double value = activated_exactly(sum, activation);
            if (activation != Activation::none)
                error = 1.13 * error + 0x1p-13 * std::abs(value) + 0x1p-24;
            if (!residual.values.empty()) {
                value += residual.values[at(m * layer.N + n)];
                error += residual.bounds[at(m * layer.N + n)];
            }
            y.add(value, error + 4.0 * kU * (std::abs(value) + error));
        }
    return y;
}

/// The LayerNorm of each row of x, before it is stored.
///
/// With e how far the elements may be off and E their mean, the mean is off by E, a
/// distance d from it by e + E, and the variance by dv, the mean of 2 |d| (e + E) + (e
/// + E)^2. So rstd is between those of v + dv and v - dv. What float arithmetic adds is
/// the contract's bound, of chapter 03/04: twice, for it may be that of others.
inline Wanted normed(const Wanted& x,
                     const std::vector<double>& gamma,
                     const std::vector<double>& beta,
                     double eps) {
    const auto columns = static_cast<int64_t>(gamma.size());
    const auto n = static_cast<double>(columns);
    Wanted y;
    for (int64_t first = 0; first < static_cast<int64_t>(x.values.size());
         first += columns) {
        const double* const row = &x.values[at(first)];
        wb::reference::RowMoments moments;
        double mean_off = 0.0;
        for (int64_t c = 0; c < columns; ++c) {
            moments.mean += row[c] / n;
            moments.size += std::abs(row[c]) / n;
            mean_off += x.bounds[at(first + c)] / n;
        }
        for (int64_t c = 0; c < columns; ++c)
            moments.variance += (row[c] - moments.mean) * (row[c] - moments.mean) / n;
        moments.rstd = 1.0 / std::sqrt(moments.variance + eps);
        const wb::testing::RowBounds bounds(moments, columns, eps, true);
        double dv = 0.0;
        for (int64_t c = 0; c < columns; ++c) {
            const double off = x.bounds[at(first + c)] + mean_off;
            dv += (2.0 * std::abs(row[c] - moments.mean) * off + off * off) / n;
        }
        const double largest =
            1.0 / std::sqrt(std::max(moments.variance - dv, 0.0) + eps);
        const double smallest = 1.0 / std::sqrt(moments.variance + dv + eps);
        const double of_rstd =
            std::max(largest - moments.rstd, moments.rstd - smallest);
        for (int64_t c = 0; c < columns; ++c) {
            const double distance = row[c] - moments.mean;
            const double off = x.bounds[at(first + c)] + mean_off;
            const double passed_on =
                std::abs(gamma[at(c)]) * (std::abs(distance) * of_rstd + off * largest);
            y.add(distance * moments.rstd * gamma[at(c)] + beta[at(c)],
                  passed_on + 2.0 * bounds.of_element(
                                        row[c], moments, gamma[at(c)], beta[at(c)]));
        }
    }
    return y;
}

/// One head's numbers, turned by their position, before they are stored.
///
/// @param angles  of the position: cosine, sine of each pair
inline Wanted turned(const std::vector<double>& head,
                     const float* angles,
                     int64_t rotary_dim) {
    Wanted result = Wanted::of(head);
    const int64_t half = rotary_dim / 2;
    for (int64_t j = 0; j < half; ++j) {
        const double c = double{angles[2 * j]};
        const double s = double{angles[2 * j + 1]};
        const double a = head[at(j)];
        const double b = head[at(j + half)];
        const double relative = wb::testing::gamma(4.0, 0x1p-24);
        result.values[at(j)] = a * c - b * s;
        result.values[at(j + half)] = b * c + a * s;
        result.bounds[at(j)] = relative * (std::abs(a * c) + std::abs(b * s));
        result.bounds[at(j + half)] = relative * (std::abs(b * c) + std::abs(a * s));
    }
    // What does not turn is stored as it was.
    const Wanted stored = result.stored();
    for (int64_t j = 0; j < 2 * half; ++j)
        result.bounds[at(j)] = stored.bounds[at(j)];
    return result;
}

/// softmax(scale q k^T) v of one query, before it is stored, added to o.
///
/// With e how far the numbers of q and k may be off, a score is off by scale times the
/// sum of |q| e_k + e_q (|k| + e_k), and by what float arithmetic adds, gamma(2 D + 16)
/// of 2^-23. If no score is off by more than delta, no weight is by more than
/// exp(2 delta) - 1 of itself; exp in float adds a few roundings of the exponent. A
/// weight may be rounded to bf16, 2^-8.
///
/// @param k  [keys][D]
/// @param v  [keys][D]
inline void add_attention(Wanted& o,
                          const Wanted& q,
                          const std::vector<const Wanted*>& k,
                          const std::vector<const double*>& v,
                          double scale) {
    const auto D = static_cast<int64_t>(q.values.size());
    const double relative =
        wb::testing::gamma(2.0 * static_cast<double>(D) + 16.0, 0x1p-23);
    std::vector<double> scores;
    double delta = 0.0;
    for (const Wanted* key : k) {
        double score = 0.0;
        double off = 0.0;
        for (int64_t d = 0; d < D; ++d) {
            const double a = std::abs(q.values[at(d)]);
            const double b = std::abs(key->values[at(d)]);
            score += q.values[at(d)] * key->values[at(d)];
            off += a * key->bounds[at(d)] + q.bounds[at(d)] * (b + key->bounds[at(d)]) +
                   relative * a * b;
        }
        scores.push_back(scale * score);
        delta = std::max(delta, scale * off);
    }
    const double max = *std::max_element(scores.begin(), scores.end());
    double sum = 0.0;
    for (const double score : scores)
        sum += std::exp(score - max);
    for (int64_t d = 0; d < D; ++d) {
        double value = 0.0;
        double error = 0.0;
        double of_weights = 0.0;
        for (std::size_t j = 0; j < scores.size(); ++j) {
            const double weight = std::exp(scores[j] - max) / sum;
            const double off =
                std::expm1(2.0 * delta) + 0x1p-22 * (16.0 + max - scores[j]);
            value += weight * v[j][d];
            error += weight * (off + 0x1p-8) * std::abs(v[j][d]);
            of_weights += weight * off;
        }
        o.add(value, error + of_weights * std::abs(value));
    }
}

}  // namespace block_grading
