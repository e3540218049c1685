/// CPU reference of the moving energy of a signal, in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace wb::reference {

/// peaks[k] = the largest sum of `window` neighbouring squares that begins at a sample
/// of segment k; samples past the end are zeros. Infinite if no float holds it, NaN if
/// one of the sums is.
inline std::vector<double> peak_energy(const std::vector<float>& x,
                                       std::int64_t window,
                                       std::int64_t segment) {
    const auto n = static_cast<std::int64_t>(x.size());
    std::vector<double> peaks;
    for (std::int64_t i = 0; i < n; ++i) {
        double energy = 0.0;
        for (std::int64_t j = i; j < std::min(i + window, n); ++j) {
            const double sample = x[static_cast<std::size_t>(j)];
            energy += sample * sample;
        }
        if (energy > double{std::numeric_limits<float>::max()})
            energy = std::numeric_limits<double>::infinity();
        if (i % segment == 0) peaks.push_back(0.0);
        double& peak = peaks.back();
        if (std::isnan(energy) || energy > peak) peak = energy;
    }
    return peaks;
}

}  // namespace wb::reference
