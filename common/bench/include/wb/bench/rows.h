/// wb/bench/rows.h: matrices whose rows are normalised, as benchmarks need them: sizes,
/// rows as floats, and how far a result may be from the exact one.
#pragma once

#include <cuda_fp16.h>
#include <wb/bench/array.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace wb::bench {

/// Rows and columns of a matrix.
struct RowsSize {
    int64_t rows;
    int64_t columns;

    int64_t count() const { return rows * columns; }
    std::string text() const {
        return std::to_string(rows) + " x " + std::to_string(columns);
    }
};

/// Of a result beside the exact one: 16-bit types are rounded once.
template <class T>
double rounded_bound(double exact, double size) {
    const double unit = std::is_same_v<T, float>    ? 0.0
                        : std::is_same_v<T, __half> ? 0x1p-11
                                                    : 0x1p-8;
    return 1e-4 * size + unit * std::abs(exact) + 1e-6;
}

/// A row of a matrix on the device, as floats.
template <class T>
std::vector<float> row_of(const Array<T>& matrix, int64_t row, int64_t columns) {
    std::vector<float> wide;
    for (const T element : matrix.host(row * columns, columns))
        wide.push_back(static_cast<float>(element));
    return wide;
}

}  // namespace wb::bench
