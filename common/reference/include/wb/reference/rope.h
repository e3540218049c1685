/// CPU reference of rotary embeddings, in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace wb::reference {

/// A pair of numbers, turned, and what its error is measured by.
struct TurnedPair {
    double a;
    double b;
    double a_size;  ///< |a c| + |b s|
    double b_size;
};

/// @param c, s  cosine and sine, or whatever stands in their place
inline TurnedPair turned_pair(double a, double b, double c, double s) {
    return {a * c - b * s,
            b * c + a * s,
            std::abs(a * c) + std::abs(b * s),
            std::abs(b * c) + std::abs(a * s)};
}

/// magnitude * (cos(p f), sin(p f)) for p < rows and each frequency f, as [rows,
/// pairs, 2].
inline std::vector<double> rope_angles(const std::vector<double>& frequencies,
                                       double magnitude,
                                       int64_t rows) {
    std::vector<double> angles;
    for (int64_t p = 0; p < rows; ++p) {
        for (const double f : frequencies) {
            angles.push_back(magnitude * std::cos(static_cast<double>(p) * f));
            angles.push_back(magnitude * std::sin(static_cast<double>(p) * f));
        }
    }
    return angles;
}

}  // namespace wb::reference
