/// CPU references of losses and of what goes with them, in double.
#pragma once

#include <wb/reference/philox.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace wb::reference {

/// Values, and what their rounding errors are in proportion to.
struct Measured {
    std::vector<double> value;
    std::vector<double> magnitude;
};

/// A mean, and the mean of the absolute values.
struct Mean {
    double value = 0.0;
    double magnitude = 0.0;
};

/// Rows of length 1.
struct L2 {
    std::vector<double> y;      ///< [rows, columns]
    std::vector<double> norms;  ///< [rows] infinite where a float's sum would be
};

/// x / max(norm, eps), row by row; a NaN in a row makes all of it NaN.
/// @param x  [rows, columns] row-major
inline L2 l2_normalize(const std::vector<float>& x,
                       int64_t rows,
                       int64_t columns,
                       float eps) {
    L2 result;
    for (int64_t row = 0; row < rows; ++row) {
        const float* g_x = x.data() + row * columns;
        double sum = 0.0;
        for (int64_t c = 0; c < columns; ++c)
            sum += double{g_x[c]} * double{g_x[c]};
        if (sum >= 0x1p128) sum = std::numeric_limits<double>::infinity();
        const double norm = std::sqrt(sum);
        result.norms.push_back(norm);
        for (int64_t c = 0; c < columns; ++c)
            result.y.push_back(double{g_x[c]} / (norm < eps ? double{eps} : norm));
    }
    return result;
}

/// The gradient by x: (dy - y * dot(y, dy)) / norm, or dy / eps below eps.
/// @param dy, y  [rows, columns]
/// @param norms  [rows]
inline Measured l2_normalize_backward(const std::vector<float>& dy,
                                      const std::vector<float>& y,
                                      const std::vector<float>& norms,
                                      int64_t columns,
                                      float eps) {
    Measured dx;
    for (std::size_t row = 0; row < norms.size(); ++row) {
        const std::size_t first = row * static_cast<std::size_t>(columns);
        const double norm = norms[row];
        double dot = 0.0;
        double size = 0.0;
        for (std::size_t i = first; i < first + static_cast<std::size_t>(columns);
             ++i) {
            dot += double{y[i]} * double{dy[i]};
            size += std::abs(double{y[i]} * double{dy[i]});
        }
        for (std::size_t i = first; i < first + static_cast<std::size_t>(columns);
             ++i) {
            if (norm < eps) {
                dx.value.push_back(double{dy[i]} / double{eps});
                dx.magnitude.push_back(std::abs(dx.value.back()));
            } else {
                dx.value.push_back((double{dy[i]} - double{y[i]} * dot) / norm);
                dx.magnitude.push_back(
                    (std::abs(double{dy[i]}) + std::abs(double{y[i]}) * size) / norm);
            }
        }
    }
    return dx;
}

/// log(1 + exp(x)), with all its digits for every x.
inline double softplus(double x) {
    return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

inline double sigmoid(double x) {
    return 1.0 / (1.0 + std::exp(-x));
}

/// The mean binary cross entropy of n logits; 0 for none.
/// @param weights  [n], or empty: 1 each
inline Mean bce_with_logits(const std::vector<float>& logits,
                            const std::vector<float>& targets,
                            const std::vector<float>& weights,
                            float pos_weight) {
    Mean mean;
    for (std::size_t i = 0; i < logits.size(); ++i) {
        const double x = logits[i];
        const double t = targets[i];
        const double w = weights.empty() ? 1.0 : double{weights[i]};
        const double yes = t * pos_weight * softplus(-x);
        const double no = (1.0 - t) * softplus(x);
        mean.value += w * (yes + no);
        mean.magnitude += std::abs(w) * (std::abs(yes) + std::abs(no));
    }
    const double n = std::max(1.0, static_cast<double>(logits.size()));
    return {mean.value / n, mean.magnitude / n};
}

/// Its gradient by the logits, times grad_loss.
inline Measured bce_with_logits_backward(const std::vector<float>& logits,
                                         const std::vector<float>& targets,
                                         const std::vector<float>& weights,
                                         float pos_weight,
                                         float grad_loss) {
    Measured result;
    const double scale = double{grad_loss} / static_cast<double>(logits.size());
    for (std::size_t i = 0; i < logits.size(); ++i) {
        const double x = logits[i];
        const double t = targets[i];
        const double w = scale * (weights.empty() ? 1.0 : double{weights[i]});
        const double no = (1.0 - t) * sigmoid(x);
        const double yes = t * pos_weight * sigmoid(-x);
        result.value.push_back(w * (no - yes));
        result.magnitude.push_back(std::abs(w) * (std::abs(no) + std::abs(yes)));
    }
    return result;
}

/// Number i of the sample of a step, in [0, items): the first two words of
/// Philox4x32-10 are a fraction of 2^64.
inline int32_t draw_negative(uint64_t seed, uint64_t step, uint64_t i, int32_t items) {
    const auto low = [](uint64_t bits) { return static_cast<uint32_t>(bits); };
    const auto word = philox({low(i), low(i >> 32), low(step), low(step >> 32)}, seed);
    __extension__ using Wide = unsigned __int128;
    const uint64_t bits = uint64_t{word[1]} << 32 | word[0];
    return static_cast<int32_t>(Wide{bits} * static_cast<uint32_t>(items) >> 64);
}

/// Logits of queries with their items and with drawn ones; what is empty is 0.
struct Sampled {
    std::vector<float> positive;        ///< [queries]
    std::vector<float> negative;        ///< [queries, negatives]
    std::vector<int32_t> positive_ids;  ///< [queries]
    std::vector<int32_t> negative_ids;  ///< [negatives]
    std::vector<float> positive_log_q;  ///< [queries], or empty
    std::vector<float> negative_log_q;  ///< [negatives], or empty
    std::vector<int64_t> offsets;       ///< [batch + 1]

    std::size_t queries() const { return positive.size(); }
    std::size_t negatives() const { return negative_ids.size(); }
    std::size_t real() const {
        const auto most = static_cast<int64_t>(queries());
        return static_cast<std::size_t>(std::clamp(offsets.back(), int64_t{0}, most));
    }
    double s(std::size_t r) const {
        const double q = positive_log_q.empty() ? 0.0 : double{positive_log_q[r]};
        return positive[r] - q;
    }
    /// -inf for an accidental hit.
    double s(std::size_t r, std::size_t c) const {
        if (negative_ids[c] == positive_ids[r])
            return -std::numeric_limits<double>::infinity();
        const double q = negative_log_q.empty() ? 0.0 : double{negative_log_q[c]};
        return negative[r * negatives() + c] - q;
    }
    /// What the rounding errors of both are in proportion to.
    double size(std::size_t r) const {
        const double q = positive_log_q.empty() ? 0.0 : double{positive_log_q[r]};
        return std::abs(double{positive[r]}) + std::abs(q);
    }
    double size(std::size_t r, std::size_t c) const {
        const double q = negative_log_q.empty() ? 0.0 : double{negative_log_q[c]};
        return std::abs(double{negative[r * negatives() + c]}) + std::abs(q);
    }
};

/// The loss of each query, 0 where it is not real; and the sizes of the logits that it
/// is made of, each as much as it counts.
inline Measured sampled_softmax(const Sampled& in) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Measured losses = {std::vector<double>(in.queries(), 0.0),
                       std::vector<double>(in.queries(), 0.0)};
    for (std::size_t r = 0; r < in.real(); ++r) {
        double max = -kInfinity;
        for (std::size_t c = 0; c < in.negatives(); ++c)
            max = std::max(max, in.s(r, c));
        const double below = max == -kInfinity ? 0.0 : max;
        double sum = 0.0;
        double size = 0.0;
        for (std::size_t c = 0; c < in.negatives(); ++c) {
            const double weight = std::exp(in.s(r, c) - below);
            sum += weight;
            if (weight > 0.0) size += weight * in.size(r, c);
        }
        losses.value[r] = softplus(below + std::log(sum) - in.s(r));
        losses.magnitude[r] =
            in.size(r) + std::abs(below) + (sum > 0.0 ? 2.0 * size / sum : 0.0);
    }
    return losses;
}

/// Its gradients by the logits, for losses that are given.
struct SampledGradient {
    std::vector<double> positive;  ///< [queries]
    std::vector<double> negative;  ///< [queries, negatives]
};

inline SampledGradient sampled_softmax_backward(const Sampled& in,
                                                const std::vector<float>& losses,
                                                float grad_loss) {
    SampledGradient result;
    const double scale = double{grad_loss} / static_cast<double>(in.real());
    for (std::size_t r = 0; r < in.queries(); ++r) {
        const bool real = r < in.real();
        result.positive.push_back(real ? scale * std::expm1(-double{losses[r]}) : 0.0);
        for (std::size_t c = 0; c < in.negatives(); ++c) {
            const bool hit = in.negative_ids[c] == in.positive_ids[r];
            result.negative.push_back(
                real && !hit ? scale * std::exp(in.s(r, c) - in.s(r) - losses[r])
                             : 0.0);
        }
    }
    return result;
}

}  // namespace wb::reference
