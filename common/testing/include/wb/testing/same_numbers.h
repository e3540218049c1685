/// wb/testing/same_numbers.h: results of two launches that are to be the same.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace wb::testing {

/// The same numbers, and NaN where there was NaN: one that is there each time does not
/// come from the order of a sum. Whether it is right is for other cases to say.
inline bool same_numbers(const std::vector<double>& a, const std::vector<double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
        return x == y || (std::isnan(x) && std::isnan(y));
    });
}

}  // namespace wb::testing
