/// CPU reference of a softmax of rows, in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace wb::reference {

/// A matrix of weights, and what their rounding errors are measured by.
struct Softmax {
    std::vector<double> y;         ///< [rows, columns] the weights
    std::vector<double> distance;  ///< [rows, columns] of an element from the largest
                                   ///< one, and of all of its row, weighted mean
};

/// exp(x - largest) / their sum, row by row; a row with a NaN, a +inf, or with nothing
/// but -inf is NaN, by the rules of the arithmetic alone.
/// @param x  [rows, columns] row-major
inline Softmax softmax(const std::vector<float>& x, int64_t rows, int64_t columns) {
    Softmax result;
    result.y.resize(x.size());
    result.distance.resize(x.size());
    for (int64_t row = 0; row < rows; ++row) {
        const size_t first = static_cast<size_t>(row * columns);
        const size_t end = first + static_cast<size_t>(columns);
        double max = -std::numeric_limits<double>::infinity();
        for (size_t i = first; i < end; ++i)
            max = std::max(max, double{x[i]});
        double sum = 0.0;
        for (size_t i = first; i < end; ++i)
            sum += std::exp(double{x[i]} - max);
        double mean = 0.0;
        for (size_t i = first; i < end; ++i) {
            result.y[i] = std::exp(double{x[i]} - max) / sum;
            if (result.y[i] > 0.0) mean += result.y[i] * (max - double{x[i]});
        }
        for (size_t i = first; i < end; ++i)
            if (result.y[i] > 0.0) result.distance[i] = max - double{x[i]} + mean;
    }
    return result;
}

}  // namespace wb::reference
