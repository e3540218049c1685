/// CPU reference of rows in 8 bits: rounding, and the migration of scales.
///
/// Source: G. Xiao, J. Lin, M. Seznec, H. Wu, J. Demouth, S. Han, SmoothQuant: Accurate
/// and Efficient Post-Training Quantization for Large Language Models (2023),
/// arXiv:2211.10438.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace wb::reference {

/// Rows of whole numbers: q stands for (q - zero) * scale of its row.
struct Int8Rows {
    int64_t columns;
    std::vector<int8_t> q;  ///< [rows, columns]
    std::vector<float> scales;
    std::vector<int32_t> zeros;  ///< all 0 if symmetric
    std::vector<int32_t> sums;   ///< of the row's q

    int64_t rows() const { return static_cast<int64_t>(scales.size()); }
    /// What element i stands for.
    double value(int64_t i) const {
        const auto row = static_cast<std::size_t>(i / columns);
        return (q[static_cast<std::size_t>(i)] - zeros[row]) * double{scales[row]};
    }
};

/// Rounds each row of x to 8 bits. What is a float operation in the contract of
/// int8_quantize() is one here.
///
/// @param x  [rows, columns]
template <class T>
Int8Rows int8_quantized(const std::vector<T>& x, int64_t columns, bool is_symmetric) {
    Int8Rows result = {columns, {}, {}, {}, {}};
    for (std::size_t i = 0; i < x.size(); i += static_cast<std::size_t>(columns)) {
        float lo = 0.0f;
        float hi = 0.0f;
        bool is_finite = true;
        for (std::size_t c = i; c < i + static_cast<std::size_t>(columns); ++c) {
            const auto value = static_cast<float>(x[c]);
            is_finite = is_finite && std::isfinite(value);
            lo = std::min(lo, value);
            hi = std::max(hi, value);
        }
        float scale = std::numeric_limits<float>::quiet_NaN();
        float r = 0.0f;
        int zero = 0;
        if (is_finite) {
            scale =
                is_symmetric ? std::max(hi, -lo) / 127.0f : hi / 255.0f - lo / 255.0f;
            r = std::min(1.0f / scale, FLT_MAX);
            if (!is_symmetric)
                zero = static_cast<int>(std::nearbyintf(std::fma(-lo, r, -128.0f)));
        }
        int32_t sum = 0;
        for (std::size_t c = i; c < i + static_cast<std::size_t>(columns); ++c) {
            // Of 16 bits times 24: exact in double.
            const double product =
                is_finite ? static_cast<double>(static_cast<float>(x[c])) * r : 0.0;
            const int q = static_cast<int>(std::nearbyint(product)) + zero;
            result.q.push_back(static_cast<int8_t>(std::clamp(q, -128, 127)));
            sum += result.q.back();
        }
        result.scales.push_back(scale);
        result.zeros.push_back(zero);
        result.sums.push_back(sum);
    }
    return result;
}

// #region smooth
/// The factors of SmoothQuant: x[:, j] / s[j] and w[:, j] * s[j] have the same product
/// as x and w, and outliers of x have moved, in part, into w:
///
///     s[j] = max |x[:, j]|^alpha / max |w[:, j]|^(1 - alpha)
///
/// @param x_max  [K] the largest |x| of each column, from calibration
/// @param w_max  [K] of w
/// @param alpha  how much of the difficulty moves: 0 nothing of x's, 1 all of it
inline std::vector<double> smooth_factors(const std::vector<double>& x_max,
                                          const std::vector<double>& w_max,
                                          double alpha) {
    std::vector<double> s;
    for (std::size_t j = 0; j < x_max.size(); ++j) {
        const double factor =
            std::pow(x_max[j], alpha) / std::pow(w_max[j], 1.0 - alpha);
        // A column of zeros needs no factor, and has none.
        s.push_back(factor > 0.0 && std::isfinite(factor) ? factor : 1.0);
    }
    return s;
}
// #endregion smooth

/// The largest |a| of each column.
inline std::vector<double> largest_of_columns(const std::vector<float>& a,
                                              int64_t columns) {
    std::vector<double> largest(static_cast<std::size_t>(columns));
    for (std::size_t i = 0; i < a.size(); ++i) {
        double& of_column = largest[i % static_cast<std::size_t>(columns)];
        of_column = std::max(of_column, std::abs(double{a[i]}));
    }
    return largest;
}

}  // namespace wb::reference
