/// wb/testing/bounds.h: how far a correct kernel may be from the exact result.
///
/// Nothing here is tuned until tests are green: bounds follow from the format's unit
/// roundoff u and the number of roundings on the longest path to one result
/// (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2002, chapter 3).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace wb::testing {

/// u: the largest relative error of one rounding to nearest; 2^-24 for float.
template <class T>
inline constexpr double kUnitRoundoff =
    static_cast<double>(std::numeric_limits<T>::epsilon()) / 2.0;

/// gamma_k = k u / (1 - k u): the relative error bound after k roundings in sequence.
inline double gamma(double k, double u) {
    return k * u / (1.0 - k * u);
}

/// The smallest normal float: products below it may lose all their digits.
inline constexpr double kSmallestFloat = 1.17549435082228750797e-38;

/// The error that a float result may have after `roundings` roundings, on values of
/// the size `magnitude`; for a sum of terms, magnitude is the sum of their absolute
/// values.
inline double float_bound(double roundings, double magnitude) {
    return gamma(roundings, kUnitRoundoff<float>) * magnitude + kSmallestFloat;
}

}  // namespace wb::testing
