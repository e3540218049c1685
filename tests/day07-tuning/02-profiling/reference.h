/// reference.h: the six results in double, and how far from them a float may be. In all
/// bounds u is 2^-24, and sums may be made in any order.
#pragma once

#include <wb/testing/bounds.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "profiling.h"

/// Right values and the error that is allowed of each.
struct Reference {
    std::vector<double> values;
    std::vector<double> bounds;

    void add(double value, double bound) {
        values.push_back(value);
        bounds.push_back(bound);
    }
};

using wb::testing::float_bound;
using wb::testing::gamma;
using wb::testing::kUnitRoundoff;

/// |v| <= 2 |x|, each step rounds twice at most, and halves the errors before it.
inline Reference reference_a(int steps, const std::vector<float>& x) {
    Reference result;
    for (int kind = 0; kind < 4; ++kind) {
        for (const float in : x) {
            double v = 0.0;
            for (int step = 0; step < steps; ++step) {
                v = (kind == 1 ? -0.5 : 0.5) * v + (kind == 3 ? -in : in);
                if (kind == 2) v = std::max(v, 0.0);
                if (kind == 3) v = std::abs(v);
            }
            result.add(v, float_bound(8.0, std::abs(double{in})));
        }
    }
    return result;
}

/// A sum of 2 radius + 1 terms, and a division.
inline Reference reference_b(int64_t radius, const std::vector<float>& x) {
    Reference result;
    const auto n = static_cast<int64_t>(x.size());
    const double width = 2.0 * static_cast<double>(radius) + 1.0;
    for (int64_t i = 0; i < n; ++i) {
        double sum = 0.0;
        double magnitude = 0.0;
        const int64_t end = std::min(n, i + radius + 1);
        for (int64_t j = std::max(int64_t{0}, i - radius); j < end; ++j) {
            sum += x[static_cast<size_t>(j)];
            magnitude += std::abs(double{x[static_cast<size_t>(j)]});
        }
        result.add(sum / width, float_bound(width + 1.0, magnitude / width));
    }
    return result;
}

/// One product.
inline Reference reference_c(const std::vector<float>& scale,
                             const std::vector<float>& x) {
    Reference result;
    for (size_t i = 0; i < x.size(); ++i) {
        const double value = double{scale[i % scale.size()]} * x[i];
        result.add(value, float_bound(1.0, std::abs(value)));
    }
    return result;
}

/// The sum of a vector, a division, a difference.
inline Reference reference_d(int64_t length, const std::vector<float>& x) {
    Reference result;
    const auto count = static_cast<size_t>(length);
    for (size_t first = 0; first < x.size(); first += count) {
        double sum = 0.0;
        double magnitude = 0.0;
        for (size_t i = first; i < first + count; ++i) {
            sum += x[i];
            magnitude += std::abs(double{x[i]});
        }
        const auto terms = static_cast<double>(length);
        for (size_t i = first; i < first + count; ++i) {
            result.add(
                x[i] - sum / terms,
                float_bound(terms + 2.0, magnitude / terms + std::abs(double{x[i]})));
        }
    }
    return result;
}

/// The change is a difference. The variance: let e be the error of the mean. The sum
/// of (x - mean) is 0, so that e adds its square only; all else is relative.
inline Reference reference_e(bool variance, const std::vector<float>& x) {
    Reference result;
    constexpr auto kSamples = static_cast<size_t>(kWindow);
    for (size_t i = 0; i + kSamples <= x.size(); ++i) {
        const double first = x[i];
        const double last = x[i + kSamples - 1];
        if (!variance) {
            result.add(last - first, float_bound(1.0, std::abs(last - first)));
            continue;
        }
        double sum = 0.0;
        double magnitude = 0.0;
        for (size_t k = i; k < i + kSamples; ++k) {
            sum += x[k];
            magnitude += std::abs(double{x[k]});
        }
        const double mean = sum / kWindow;
        double squares = 0.0;
        for (size_t k = i; k < i + kSamples; ++k)
            squares += (x[k] - mean) * (x[k] - mean);
        const double value = squares / kWindow;
        const double e = float_bound(kWindow + 1.0, magnitude / kWindow);
        result.add(value, e * e + float_bound(kWindow + 4.0, value + e * e));
    }
    return result;
}

/// Weights of two neighbours add up to 1, so that no value is larger than the largest
/// of its row; each of 2 cols steps rounds three times at most.
inline Reference reference_f(int64_t cols, float keep, const std::vector<float>& x) {
    Reference result;
    const auto count = static_cast<size_t>(cols);
    const double kept = keep;
    for (size_t first = 0; first < x.size(); first += count) {
        std::vector<double> row(x.begin() + static_cast<std::ptrdiff_t>(first),
                                x.begin() + static_cast<std::ptrdiff_t>(first + count));
        double largest = 0.0;
        for (const double value : row)
            largest = std::max(largest, std::abs(value));
        for (size_t c = 1; c < count; ++c)
            row[c] = kept * row[c - 1] + (1.0 - kept) * row[c];
        for (size_t c = count - 1; c-- > 0;)
            row[c] = kept * row[c + 1] + (1.0 - kept) * row[c];
        for (const double value : row)
            result.add(value, float_bound(6.0 * static_cast<double>(cols), largest));
    }
    return result;
}
