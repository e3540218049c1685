/// CPU reference of the dot product, in double.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace wb::reference {

/// A sum, and what its rounding errors are measured by.
struct DotProduct {
    double sum = 0.0;        ///< of a[i] * b[i]
    double magnitude = 0.0;  ///< of |a[i] * b[i]|: how much was added and taken away
};

/// The products of two floats are exact in double; only the additions round, 2^29 times
/// more finely than in float.
/// @param a, b  of equal length
inline DotProduct dot_product(const std::vector<float>& a,
                              const std::vector<float>& b) {
    DotProduct result;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double product = double{a[i]} * double{b[i]};
        result.sum += product;
        result.magnitude += std::abs(product);
    }
    return result;
}

}  // namespace wb::reference
