/// wb/testing/norms.h: rows that are normalised: what their mean, their rstd and their
/// elements have to be, and how far from it a result may be. The bounds are those of
/// the contracts of LayerNorm, and of its fusions.
#pragma once

#include <wb/reference/layernorm.h>
#include <wb/testing/bounds.h>
#include <wb/testing/stored_types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace wb::testing {

/// More rows than fit into 16 bits. The simulator needs a while for each block, and has
/// more than fit into 10.
#ifdef SIMT_CPU
inline constexpr int64_t kManyRows = 1061;
#else
inline constexpr int64_t kManyRows = 65'600;
#endif

/// The most additions that one term of a sum of `count` passes, by the contracts.
inline double most_additions(int64_t count) {
    return 64.0 + static_cast<double>(count) / 32.0;
}

/// How far mean, rstd and x - mean of a row may be off.
struct RowBounds {
    double mean = 0.0;
    double rstd = 0.0;      ///< relative
    double distance = 0.0;  ///< of x - mean, beside its own rounding

    RowBounds(const reference::RowMoments& row,
              int64_t columns,
              double eps,
              bool is_centered) {
        if (std::isnan(row.rstd) || std::isinf(row.variance)) return;
        constexpr double kU = kUnitRoundoff<float>;
        const double k = most_additions(columns);
        const double e = is_centered ? gamma(k + 3.0, kU) * row.size : 0.0;
        const double v = row.variance;
        const double error =
            gamma(k + 6.0, kU) * (v + e * e) + e * e + 2.0 * e * std::sqrt(v);
        const double largest = 1.0 / std::sqrt(std::max(v - error, 0.0) + eps);
        const double smallest = 1.0 / std::sqrt(v + error + eps);
        mean = e + kSmallestFloat;
        rstd = std::max(largest / row.rstd - 1.0, 1.0 - smallest / row.rstd) + 8.0 * kU;
        distance = e;
    }

    /// Of (x - mean) * rstd * gamma + beta, as a float.
    double of_element(double x,
                      const reference::RowMoments& row,
                      double gamma,
                      double beta) const {
        constexpr double kU = kUnitRoundoff<float>;
        const double far = std::abs(x - row.mean);
        const double scale = std::abs(gamma) * row.rstd;
        const double factors = (1.0 + rstd) * (1.0 + 4.0 * kU);
        return scale * ((far + distance) * factors - far) +
               4.0 * kU * (std::abs(beta) + scale * far);
    }
};

/// The bound of a result that is stored as T: with the rounding, and what is lost below
/// the smallest float. NaN and infinities must be met.
template <class T>
double norm_bound(double exact, double bound) {
    if (std::isnan(exact) || std::isinf(exact)) return 0.0;
    if constexpr (std::is_same_v<T, float>)
        return bound + kSmallestFloat;
    else
        return stored_bound<T>(exact, bound + kSmallestFloat);
}

/// What y, mean and rstd have to be, and how far from them a result may be.
struct WantedNorm {
    std::vector<double> y, y_bound, mean, mean_bound, rstd, rstd_bound;

    void add_row(const reference::RowMoments& row, const RowBounds& bounds) {
        mean.push_back(row.mean);
        mean_bound.push_back(bounds.mean);
        rstd.push_back(row.rstd);
        rstd_bound.push_back(std::isnan(row.rstd) ? 0.0 : bounds.rstd * row.rstd);
    }
    template <class T>
    void add_element(double exact, double bound) {
        // What is past the largest T, whatever the rounding, is infinite.
        const auto stored = [](double value) {
            return double{
                static_cast<float>(static_cast<T>(static_cast<float>(value)))};
        };
        if (std::isinf(stored(exact - bound)) && std::isinf(stored(exact + bound)))
            exact = stored(exact);
        y.push_back(exact);
        y_bound.push_back(norm_bound<T>(exact, bound));
    }
};

}  // namespace wb::testing
