/// CPU reference of matrix products, in double.
#pragma once

#include <wb/gemm.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wb::reference {

/// A product, and what its rounding errors are measured by; both lie in memory as C
/// does.
struct Gemm {
    std::vector<double> c;          ///< alpha * op(A) * op(B) + beta * C; between rows
                                    ///< what was there
    std::vector<double> magnitude;  ///< |alpha| * |op(A)| * |op(B)| + |beta * C|;
                                    ///< between rows 0
};

/// C = alpha * op(A) * op(B) + beta * C. With beta = 0 it does not matter what C was,
/// with alpha = 0 what A and B are: NaN neither.
///
/// @param a, b  their elements, from the first one on; of a narrower type than float:
///              as floats, after rounding
/// @param c     C before the product, s.elements_of_c() elements or more
inline Gemm gemm(const GemmShape& s,
                 double alpha,
                 const std::vector<float>& a,
                 const std::vector<float>& b,
                 double beta,
                 const std::vector<float>& c) {
    const auto at = [](const std::vector<float>& matrix, int64_t place) {
        return double{matrix[static_cast<std::size_t>(place)]};
    };
    Gemm result{std::vector<double>(c.begin(), c.end()), std::vector<double>(c.size())};
    for (int64_t m = 0; m < s.M; ++m) {
        for (int64_t n = 0; n < s.N; ++n) {
            double sum = 0.0;
            double magnitude = 0.0;
            for (int64_t k = 0; k < s.K && alpha != 0.0; ++k) {
                const int64_t in_a = s.transpose_a ? k * s.lda + m : m * s.lda + k;
                const int64_t in_b = s.transpose_b ? n * s.ldb + k : k * s.ldb + n;
                sum += at(a, in_a) * at(b, in_b);
                magnitude += std::abs(at(a, in_a) * at(b, in_b));
            }
            const auto place = static_cast<std::size_t>(m * s.ldc + n);
            const double old = beta == 0.0 ? 0.0 : beta * double{c[place]};
            result.c[place] = (alpha == 0.0 ? 0.0 : alpha * sum) + old;
            result.magnitude[place] = std::abs(alpha) * magnitude + std::abs(old);
        }
    }
    return result;
}

}  // namespace wb::reference
