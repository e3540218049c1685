/// What references in double spend their time with: sums over the numbers of two rows.
/// The order of a sum is free, so that the processor adds several numbers at a time.
#pragma once

#include <cmath>
#include <cstddef>

namespace wb::reference {

/// What comes of a scalar product.
struct ProductSum {
    double sum = 0.0;    ///< of the products
    double size = 0.0;   ///< of their absolute values
    double terms = 0.0;  ///< products that are not zero
};

/// The scalar product of two rows of n numbers.
ProductSum product_sum(const float* a, const float* b, std::size_t n);

/// The same for other types, one product after the other.
template <class T>
ProductSum product_sum(const T* a, const T* b, std::size_t n) {
    ProductSum result;
    for (std::size_t i = 0; i < n; ++i) {
        const double product = static_cast<double>(static_cast<float>(a[i])) *
                               static_cast<double>(static_cast<float>(b[i]));
        result.sum += product;
        result.size += std::abs(product);
        result.terms += product != 0.0 ? 1.0 : 0.0;
    }
    return result;
}

/// sums[i] += factor * row[i]
void add_row(double* sums, double factor, const float* row, std::size_t n);

/// sums[i] += factor * |row[i]|
void add_sizes(double* sums, double factor, const float* row, std::size_t n);

}  // namespace wb::reference
