/// CPU reference of a LayerNorm or an RMSNorm of rows, and of its gradients, in double.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wb::reference {

/// One row, measured.
struct RowMoments {
    double mean = 0.0;      ///< 0 of an RMSNorm
    double variance = 0.0;  ///< around that mean
    double rstd = 0.0;
    double size = 0.0;  ///< mean of |x|
};

/// Mean and variance of one row, in two passes.
/// @param is_centered  false: an RMSNorm
inline RowMoments row_moments(const float* x,
                              int64_t columns,
                              double eps,
                              bool is_centered) {
    RowMoments row;
    const auto count = static_cast<double>(columns);
    for (int64_t c = 0; c < columns; ++c) {
        row.size += std::abs(double{x[c]}) / count;
        if (is_centered) row.mean += double{x[c]} / count;
    }
    for (int64_t c = 0; c < columns; ++c) {
        const double distance = double{x[c]} - row.mean;
        row.variance += distance * distance / count;
    }
    row.rstd = 1.0 / std::sqrt(row.variance + eps);
    return row;
}

/// (x - mean) * rstd * gamma + beta of one element.
inline double normalized(double x, const RowMoments& row, double gamma, double beta) {
    return (x - row.mean) * row.rstd * gamma + beta;
}

/// The gradients, and the sizes that their rounding errors are measured by.
struct NormGradients {
    std::vector<double> dx, dx_size;          ///< [rows, columns]
    std::vector<double> dgamma, dgamma_size;  ///< [columns] sum of |terms|
    std::vector<double> dbeta, dbeta_size;    ///< [columns]
};

/// What a backward pass is given; mean is empty for an RMSNorm, gamma if all are 1.
/// @tparam Number  double, if dy is itself a result
template <class Number>
struct BasicNormBackward {
    std::vector<Number> dy;
    std::vector<float> x, gamma, mean, rstd;
    int64_t rows, columns;
};
using NormBackward = BasicNormBackward<float>;

template <class Number>
NormGradients norm_backward(const BasicNormBackward<Number>& in) {
    NormGradients out;
    const auto columns = static_cast<size_t>(in.columns);
    out.dx.resize(in.x.size());
    out.dx_size.resize(in.x.size());
    for (auto* sums : {&out.dgamma, &out.dgamma_size, &out.dbeta, &out.dbeta_size})
        sums->resize(columns);
    std::vector<double> h(columns);
    std::vector<double> g(columns);
    for (size_t r = 0; r < static_cast<size_t>(in.rows); ++r) {
        const double mean = in.mean.empty() ? 0.0 : double{in.mean[r]};
        const double rstd = double{in.rstd[r]};
        double mean_g = 0.0;
        double mean_gh = 0.0;
        double size_g = 0.0;
        double size_gh = 0.0;
        for (size_t c = 0; c < columns; ++c) {
            const auto dy = static_cast<double>(in.dy[r * columns + c]);
            h[c] = (double{in.x[r * columns + c]} - mean) * rstd;
            g[c] = in.gamma.empty() ? dy : dy * double{in.gamma[c]};
            out.dgamma[c] += dy * h[c];
            out.dgamma_size[c] += std::abs(dy * h[c]);
            out.dbeta[c] += dy;
            out.dbeta_size[c] += std::abs(dy);
            mean_g += g[c] / static_cast<double>(columns);
            mean_gh += g[c] * h[c] / static_cast<double>(columns);
            size_g += std::abs(g[c]) / static_cast<double>(columns);
            size_gh += std::abs(g[c] * h[c]) / static_cast<double>(columns);
        }
        if (in.mean.empty()) mean_g = size_g = 0.0;
        for (size_t c = 0; c < columns; ++c) {
            const size_t i = r * columns + c;
            out.dx[i] = rstd * (g[c] - mean_g - h[c] * mean_gh);
            out.dx_size[i] =
                rstd * (std::abs(g[c]) + size_g + std::abs(h[c]) * size_gh);
        }
    }
    return out;
}

}  // namespace wb::reference
