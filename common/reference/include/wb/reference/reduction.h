/// CPU references of reductions: sums in double whose own rounding does not show, the
/// largest value, and where it is.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wb::reference {

/// A sum, and what its rounding errors are measured by.
struct Total {
    double sum = 0.0;        ///< of all terms
    double magnitude = 0.0;  ///< of their absolute values
};

/// The sum of double[i] for i in [0, n), compensated: what an addition rounds off is
/// kept in a second number (A. Neumaier, Z. Angew. Math. Mech. 54, 1974). Its error is
/// that of one rounding, whatever n is.
///
/// @param term  gives term i as a double
template <class Term>
Total exact_sum(std::int64_t n, Term term) {
    Total total;
    double lost = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
        const double value = term(i);
        const double sum = total.sum + value;
        lost += std::abs(total.sum) >= std::abs(value) ? (total.sum - sum) + value
                                                       : (value - sum) + total.sum;
        total.sum = sum;
        total.magnitude += std::abs(value);
    }
    if (std::isfinite(total.sum)) total.sum += lost;
    return total;
}

/// The sum of all elements. @tparam T  float, or what converts to it, or an integer
template <class T>
Total reduce_sum(const std::vector<T>& x) {
    return exact_sum(static_cast<std::int64_t>(x.size()), [&](std::int64_t i) {
        const T& element = x[static_cast<std::size_t>(i)];
        if constexpr (std::is_integral_v<T>)
            return static_cast<double>(element);
        else
            return double{static_cast<float>(element)};
    });
}

/// The first of the largest elements, or the first NaN. @param x  not empty
inline std::int64_t reduce_argmax(const std::vector<float>& x) {
    std::size_t best = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (std::isnan(x[i])) return static_cast<std::int64_t>(i);
        if (x[i] > x[best]) best = i;
    }
    return static_cast<std::int64_t>(best);
}

}  // namespace wb::reference
