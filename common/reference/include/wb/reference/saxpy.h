/// CPU reference of saxpy, in double.
#pragma once

#include <cstddef>
#include <vector>

namespace wb::reference {

/// alpha * x[i] + y[i]. The product of two floats is exact in double (24 + 24 of 53
/// bits), so that only the sum is rounded.
/// @param x, y  of equal length
inline std::vector<double> saxpy(float alpha,
                                 const std::vector<float>& x,
                                 const std::vector<float>& y) {
    std::vector<double> result(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        result[i] = double{alpha} * double{x[i]} + double{y[i]};
    }
    return result;
}

}  // namespace wb::reference
