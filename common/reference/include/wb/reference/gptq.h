/// CPU reference of weights in 4 bits, as GPTQ makes and stores them.
///
/// Source: E. Frantar, S. Ashkboos, T. Hoefler, D. Alistarh, GPTQ: Accurate
/// Post-Training Quantization for Generative Pre-trained Transformers (2022),
/// arXiv:2210.17323.
#pragma once

#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace wb::reference {

/// A matrix W [K, N] in 4 bits, as the files of GPTQ have it.
struct GptqWeights {
    int64_t N;
    int64_t K;
    int64_t group;  ///< rows of a group, > 0
    bool zeros_minus_one;
    std::vector<int32_t> qweight;  ///< [K / 8, N]
    std::vector<int32_t> qzeros;   ///< [groups, N / 8]
    std::vector<__half> scales;    ///< [groups, N]
    std::vector<int32_t> g_idx;    ///< [K], or empty

    int64_t groups() const { return K == 0 ? 0 : K / group; }

    /// The group of row k, which may be none.
    int64_t group_of(int64_t k) const {
        return g_idx.empty() ? k / group : g_idx[static_cast<std::size_t>(k)];
    }
    bool has_group(int64_t k) const {
        return group_of(k) >= 0 && group_of(k) < groups();
    }
    /// The four bits of W[k, n].
    int number(int64_t k, int64_t n) const {
        const auto word =
            static_cast<uint32_t>(qweight[static_cast<std::size_t>(k / 8 * N + n)]);
        return static_cast<int>(word >> k % 8 * 4 & 15);
    }
    int zero(int64_t g, int64_t n) const {
        const auto word = static_cast<uint32_t>(
            qzeros[static_cast<std::size_t>(g * (N / 8) + n / 8)]);
        return static_cast<int>(word >> n % 8 * 4 & 15) + (zeros_minus_one ? 1 : 0);
    }
    float scale(int64_t g, int64_t n) const {
        return static_cast<float>(scales[static_cast<std::size_t>(g * N + n)]);
    }

    void set_number(int64_t k, int64_t n, int number) {
        put(qweight[static_cast<std::size_t>(k / 8 * N + n)], k % 8, number);
    }
    void set_zero(int64_t g, int64_t n, int zero) {
        put(qzeros[static_cast<std::size_t>(g * (N / 8) + n / 8)],
            n % 8,
            zero - (zeros_minus_one ? 1 : 0));
    }

 private:
    static void put(int32_t& word, int64_t nibble, int value) {
        const auto bits = static_cast<uint32_t>(word);
        const uint32_t mask = 15u << nibble * 4;
        word = static_cast<int32_t>((bits & ~mask) | static_cast<uint32_t>(value)
                                                         << nibble * 4);
    }
};

/// No matrix yet: all zeros, and room for everything.
inline GptqWeights empty_gptq(
    int64_t N, int64_t K, int64_t group, bool zeros_minus_one, bool has_order) {
    GptqWeights w = {N, K, group, zeros_minus_one, {}, {}, {}, {}};
    w.qweight.resize(static_cast<std::size_t>(K / 8 * N));
    w.qzeros.resize(static_cast<std::size_t>(w.groups() * (N / 8)));
    w.scales.resize(static_cast<std::size_t>(w.groups() * N));
    if (has_order) w.g_idx.resize(static_cast<std::size_t>(K));
    return w;
}

/// W [K, N] as halves: (q - zero) * scale, rounded once. A row without a group is
/// zeros.
inline std::vector<float> dequantized(const GptqWeights& w) {
    std::vector<float> result(static_cast<std::size_t>(w.K * w.N));
    for (int64_t k = 0; k < w.K; ++k) {
        if (!w.has_group(k)) continue;
        const int64_t g = w.group_of(k);
        for (int64_t n = 0; n < w.N; ++n) {
            // Five bits times eleven: exact as a float.
            const float exact =
                static_cast<float>(w.number(k, n) - w.zero(g, n)) * w.scale(g, n);
            result[static_cast<std::size_t>(k * w.N + n)] =
                static_cast<float>(static_cast<__half>(exact));
        }
    }
    return result;
}

namespace detail {

/// How a group of a column is stored: the smallest and the largest weight, and 0, are
/// within 15 steps.
struct GptqStep {
    float scale;
    int zero;

    GptqStep(double least, double most, int smallest_zero) {
        const double width = std::max(most, 0.0) - std::min(least, 0.0);
        scale = static_cast<float>(
            static_cast<__half>(static_cast<float>(width > 0.0 ? width / 15.0 : 1.0)));
        const double wanted = std::round(-std::min(least, 0.0) / double{scale});
        zero = std::clamp(static_cast<int>(wanted), smallest_zero, smallest_zero + 15);
    }
    int number(double weight) const {
        const double wanted = std::round(weight / double{scale}) + zero;
        return static_cast<int>(std::clamp(wanted, 0.0, 15.0));
    }
    double value(int number) const { return (number - zero) * double{scale}; }
};

/// The upper triangular U [K, K] with U^T U = the inverse of H, which is symmetric and
/// positive definite: the Cholesky factor, transposed.
inline std::vector<double> inverse_cholesky(std::vector<double> H, int64_t K) {
    const auto at = [K](std::vector<double>& matrix, int64_t i, int64_t j) -> double& {
        return matrix[static_cast<std::size_t>(i * K + j)];
    };
    // The inverse, by Gauss and Jordan; H needs no pivots.
    for (int64_t p = 0; p < K; ++p) {
        const double pivot = at(H, p, p);
        at(H, p, p) = 1.0;
        for (int64_t j = 0; j < K; ++j)
            at(H, p, j) /= pivot;
        for (int64_t i = 0; i < K; ++i) {
            if (i == p) continue;
            const double factor = at(H, i, p);
            at(H, i, p) = 0.0;
            for (int64_t j = 0; j < K; ++j)
                at(H, i, j) -= factor * at(H, p, j);
        }
    }
    std::vector<double> U(static_cast<std::size_t>(K * K));
    for (int64_t i = 0; i < K; ++i) {
        for (int64_t j = i; j < K; ++j) {
            double rest = at(H, i, j);
            for (int64_t p = 0; p < i; ++p)
                rest -= at(U, p, i) * at(U, p, j);
            at(U, i, j) = j == i ? std::sqrt(rest) : rest / at(U, i, i);
        }
    }
    return U;
}

}  // namespace detail

/// How a matrix is quantised.
struct GptqOptions {
    int64_t group;
    bool zeros_minus_one = true;
    bool act_order = false;       ///< rows whose inputs are largest come first
    bool propagate_error = true;  ///< false: each weight is rounded to the nearest
    double damping = 0.01;        ///< added to H's diagonal, relative to its mean
};

/// GPTQ: rows of W, one after the other, are rounded to 4 bits, and what that changes
/// in the layer's output for the calibration inputs is made up for in the rows that are
/// left, as far as possible: after row k, with error e = (w_k - q_k) / U[k, k], all
/// rows j > k are reduced by e U[k, j]. U belongs to the inverse of H = X^T X.
///
/// @param weights  [K, N]
/// @param inputs   [samples, K]: x of the layer, for calibration
inline GptqWeights gptq_quantize(const std::vector<double>& weights,
                                 const std::vector<double>& inputs,
                                 int64_t N,
                                 int64_t K,
                                 const GptqOptions& options) {
    const auto samples = static_cast<int64_t>(inputs.size()) / K;
    std::vector<int64_t> order(static_cast<std::size_t>(K));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::vector<double> H(static_cast<std::size_t>(K * K));
    const auto hessian = [&] {  // rows and columns in this order
        for (int64_t i = 0; i < K; ++i)
            for (int64_t j = 0; j < K; ++j) {
                double sum = 0.0;
                for (int64_t s = 0; s < samples; ++s)
                    sum += inputs[static_cast<std::size_t>(
                               s * K + order[static_cast<std::size_t>(i)])] *
                           inputs[static_cast<std::size_t>(
                               s * K + order[static_cast<std::size_t>(j)])];
                H[static_cast<std::size_t>(i * K + j)] = sum;
            }
    };
    hessian();
    if (options.act_order) {
        const auto size = [&](int64_t k) {
            return H[static_cast<std::size_t>(k * (K + 1))];
        };
        std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
            return size(i) > size(j);
        });
        hessian();
    }
    double mean = 0.0;
    for (int64_t k = 0; k < K; ++k)
        mean += H[static_cast<std::size_t>(k * (K + 1))] / static_cast<double>(K);
    for (int64_t k = 0; k < K; ++k)
        H[static_cast<std::size_t>(k * (K + 1))] += options.damping * mean;
    const auto U = detail::inverse_cholesky(H, K);

    auto result =
        empty_gptq(N, K, options.group, options.zeros_minus_one, options.act_order);
    auto left = weights;  // [K, N]: what is still to be rounded
    const auto weight = [&](int64_t i, int64_t n) -> double& {
        return left[static_cast<std::size_t>(order[static_cast<std::size_t>(i)] * N +
                                             n)];
    };
    for (int64_t n = 0; n < N; ++n) {
        detail::GptqStep step(0.0, 0.0, 0);
        for (int64_t i = 0; i < K; ++i) {
            const int64_t g = i / options.group;
            if (i % options.group == 0) {
                double least = 0.0;
                double most = 0.0;
                for (int64_t j = i; j < i + options.group; ++j) {
                    least = std::min(least, weight(j, n));
                    most = std::max(most, weight(j, n));
                }
                step = detail::GptqStep(least, most, options.zeros_minus_one ? 1 : 0);
                result.scales[static_cast<std::size_t>(g * N + n)] =
                    static_cast<__half>(step.scale);
                result.set_zero(g, n, step.zero);
            }
            const int64_t k = order[static_cast<std::size_t>(i)];
            const int number = step.number(weight(i, n));
            result.set_number(k, n, number);
            if (options.act_order)
                result.g_idx[static_cast<std::size_t>(k)] = static_cast<int32_t>(g);
            if (!options.propagate_error) continue;
            const double error = (weight(i, n) - step.value(number)) /
                                 U[static_cast<std::size_t>(i * (K + 1))];
            for (int64_t j = i + 1; j < K; ++j)
                weight(j, n) -= error * U[static_cast<std::size_t>(i * K + j)];
        }
    }
    return result;
}

}  // namespace wb::reference
