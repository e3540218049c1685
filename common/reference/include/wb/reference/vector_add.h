/// CPU reference of vector addition, in double.
#pragma once

#include <cstddef>
#include <vector>

namespace wb::reference {

/// c[i] = a[i] + b[i], rounded once to double.
/// @param a, b  of equal length
inline std::vector<double> vector_add(const std::vector<float>& a,
                                      const std::vector<float>& b) {
    std::vector<double> c(a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        c[i] = double{a[i]} + double{b[i]};
    return c;
}

}  // namespace wb::reference
