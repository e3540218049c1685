/// CPU references of activations and their slopes, in double.
#pragma once

#include <wb/reference/losses.h>

#include <cmath>

namespace wb::reference {

/// z sigmoid(z); 0 for -infinity, which is the limit.
inline double silu(double z) {
    return std::isinf(z) && z < 0.0 ? 0.0 : z * sigmoid(z);
}

inline double silu_slope(double z) {
    if (std::isinf(z)) return z < 0.0 ? 0.0 : 1.0;
    return sigmoid(z) * (1.0 + z * sigmoid(-z));
}

/// c (z + 0.044715 z^3) with c = sqrt(2 / pi): what the form of GELU with tanh takes
/// the tanh of.
inline double gelu_argument(double z) {
    return std::sqrt(2.0 / 3.14159265358979323846) * (z + 0.044715 * z * z * z);
}

/// Its derivative.
inline double gelu_argument_slope(double z) {
    return std::sqrt(2.0 / 3.14159265358979323846) * (1.0 + 3.0 * 0.044715 * z * z);
}

/// 0.5 z (1 + tanh(c (z + 0.044715 z^3))); 0 for -infinity, which is the limit.
inline double gelu_tanh(double z) {
    if (std::isinf(z)) return z < 0.0 ? 0.0 : z;
    return 0.5 * z * (1.0 + std::tanh(gelu_argument(z)));
}

/// With 1 + tanh(u) = 2 sigmoid(2 u) and 1 - tanh(u)^2 = 4 sigmoid(2 u) sigmoid(-2 u),
/// which keep their digits where tanh(u) is nearly -1.
inline double gelu_tanh_slope(double z) {
    if (std::isinf(z)) return z < 0.0 ? 0.0 : 1.0;
    const double yes = sigmoid(2.0 * gelu_argument(z));
    const double no = sigmoid(-2.0 * gelu_argument(z));
    return yes + 2.0 * z * yes * no * gelu_argument_slope(z);
}

}  // namespace wb::reference
