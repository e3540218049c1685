/// CPU references of a GPT's layers and of their gradients, in double. Rows are tokens.
#pragma once

#include <wb/attention.h>
#include <wb/reference/activations.h>
#include <wb/reference/attention_backward.h>
#include <wb/reference/rope.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace wb::reference {

using Numbers = std::vector<double>;

inline std::size_t place(int64_t i) {
    return static_cast<std::size_t>(i);
}

/// y = x w^T + bias. w is [outputs, inputs]; bias may be null.
inline Numbers linear(const Numbers& x,
                      const double* w,
                      const double* bias,
                      int64_t outputs,
                      int64_t inputs) {
    const int64_t rows = static_cast<int64_t>(x.size()) / inputs;
    Numbers y(place(rows * outputs));
    for (int64_t r = 0; r < rows; ++r) {
        for (int64_t n = 0; n < outputs; ++n) {
            double sum = bias == nullptr ? 0.0 : bias[n];
            for (int64_t k = 0; k < inputs; ++k)
                sum += x[place(r * inputs + k)] * w[n * inputs + k];
            y[place(r * outputs + n)] = sum;
        }
    }
    return y;
}

/// Adds to dw and dbias (which may be null), and returns dx.
inline Numbers linear_backward(const Numbers& dy,
                               const Numbers& x,
                               const double* w,
                               int64_t outputs,
                               int64_t inputs,
                               double* dw,
                               double* dbias) {
    const int64_t rows = static_cast<int64_t>(x.size()) / inputs;
    Numbers dx(x.size());
    for (int64_t r = 0; r < rows; ++r) {
        for (int64_t n = 0; n < outputs; ++n) {
            const double slope = dy[place(r * outputs + n)];
            if (dbias != nullptr) dbias[n] += slope;
            for (int64_t k = 0; k < inputs; ++k) {
                dw[n * inputs + k] += slope * x[place(r * inputs + k)];
                dx[place(r * inputs + k)] += slope * w[n * inputs + k];
            }
        }
    }
    return dx;
}

/// Mean and 1 / standard deviation of a row.
struct RowStatistics {
    double mean;
    double rstd;
};

inline RowStatistics row_statistics(const double* x, int64_t width, double eps) {
    const auto count = static_cast<double>(width);
    double mean = 0.0;
    double variance = 0.0;
    for (int64_t c = 0; c < width; ++c)
        mean += x[c] / count;
    for (int64_t c = 0; c < width; ++c)
        variance += (x[c] - mean) * (x[c] - mean) / count;
    return {mean, 1.0 / std::sqrt(variance + eps)};
}

inline Numbers layer_norm(const Numbers& x,
                          const double* gamma,
                          const double* beta,
                          int64_t width,
                          double eps) {
    Numbers y(x.size());
    for (std::size_t row = 0; row < x.size(); row += place(width)) {
        const RowStatistics of = row_statistics(&x[row], width, eps);
        for (int64_t c = 0; c < width; ++c)
            y[row + place(c)] =
                (x[row + place(c)] - of.mean) * of.rstd * gamma[c] + beta[c];
    }
    return y;
}

/// Adds to dgamma and dbeta, and returns dx.
inline Numbers layer_norm_backward(const Numbers& dy,
                                   const Numbers& x,
                                   const double* gamma,
                                   int64_t width,
                                   double eps,
                                   double* dgamma,
                                   double* dbeta) {
    Numbers dx(x.size());
    const auto count = static_cast<double>(width);
    for (std::size_t row = 0; row < x.size(); row += place(width)) {
        const RowStatistics of = row_statistics(&x[row], width, eps);
        double mean_g = 0.0;
        double mean_gh = 0.0;
        for (int64_t c = 0; c < width; ++c) {
            const double h = (x[row + place(c)] - of.mean) * of.rstd;
            const double slope = dy[row + place(c)];
            dgamma[c] += slope * h;
            dbeta[c] += slope;
            mean_g += slope * gamma[c] / count;
            mean_gh += slope * gamma[c] * h / count;
        }
        for (int64_t c = 0; c < width; ++c) {
            const double h = (x[row + place(c)] - of.mean) * of.rstd;
            dx[row + place(c)] =
                of.rstd * (dy[row + place(c)] * gamma[c] - mean_g - h * mean_gh);
        }
    }
    return dx;
}

/// The first `rotary` numbers of each row, of [batch, heads, tokens, head_dim], turned
/// by their position: number i with number i + rotary / 2, by position times
/// 10000^(-2 i / rotary).
/// @param direction  -1: turned back, which is the gradient
inline void turn(
    Numbers& x, int64_t tokens, int64_t head_dim, int64_t rotary, double direction) {
    const int64_t half = rotary / 2;
    for (int64_t row = 0; row * head_dim < static_cast<int64_t>(x.size()); ++row) {
        const auto position = static_cast<double>(row % tokens);
        for (int64_t i = 0; i < half; ++i) {
            const double exponent =
                -2.0 * static_cast<double>(i) / static_cast<double>(rotary);
            const double angle = position * std::pow(10000.0, exponent);
            double& a = x[place(row * head_dim + i)];
            double& b = x[place(row * head_dim + i + half)];
            const TurnedPair pair =
                turned_pair(a, b, std::cos(angle), direction * std::sin(angle));
            a = pair.a;
            b = pair.b;
        }
    }
}

/// What attention gives, and the logarithm of each row's sum.
struct Attended {
    Numbers o;    ///< [B, Hq, N, D]
    Numbers lse;  ///< [B, Hq, N]
};

/// o = softmax(scale * q k^T) v.
inline Attended attend(const AttentionShape& shape,
                       const Numbers& q,
                       const Numbers& k,
                       const Numbers& v) {
    const int64_t D = shape.head_dim;
    Attended result;
    result.o.assign(place(shape.query_elements()), 0.0);
    for (int64_t row = 0; row < shape.rows(); ++row) {
        const int64_t head = row / shape.queries;
        const int64_t kv_head = head / (shape.query_heads / shape.kv_heads);
        const int64_t seen =
            visible_keys(shape.queries, shape.keys, shape.causal, row % shape.queries);
        Numbers score(place(seen));
        double most = -std::numeric_limits<double>::infinity();
        for (int64_t key = 0; key < seen; ++key) {
            double sum = 0.0;
            for (int64_t d = 0; d < D; ++d)
                sum += q[place(row * D + d)] *
                       k[place((kv_head * shape.keys + key) * D + d)];
            score[place(key)] = double{shape.scale} * sum;
            most = std::max(most, score[place(key)]);
        }
        double total = 0.0;
        for (const double s : score)
            total += std::exp(s - most);
        for (int64_t key = 0; key < seen; ++key) {
            const double weight = std::exp(score[place(key)] - most) / total;
            for (int64_t d = 0; d < D; ++d)
                result.o[place(row * D + d)] +=
                    weight * v[place((kv_head * shape.keys + key) * D + d)];
        }
        result.lse.push_back(most + std::log(total));
    }
    return result;
}

}  // namespace wb::reference
