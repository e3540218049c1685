/// CPU references of stencils and convolutions, in double.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wb::reference {

/// Results, and the sum of the absolute values of each one's terms, from which the
/// bound of its error follows.
struct Convolution {
    std::vector<double> values;
    std::vector<double> magnitudes;
};

/// What stands for in[row, col], which may be outside of the image.
/// @tparam Border  an enumeration with `zero`, `clamp` and `wrap`
template <class Border>
double value_at(const std::vector<float>& in,  // [batch, rows, cols]
                std::int64_t image,
                std::int64_t rows,
                std::int64_t cols,
                std::int64_t row,
                std::int64_t col,
                Border border) {
    const bool outside = row < 0 || row >= rows || col < 0 || col >= cols;
    if (outside && border == Border::zero) return 0.0;
    if (border == Border::clamp) {
        row = row < 0 ? 0 : row >= rows ? rows - 1 : row;
        col = col < 0 ? 0 : col >= cols ? cols - 1 : col;
    }
    while (row < 0)
        row += rows;
    while (col < 0)
        col += cols;
    row %= rows;
    col %= cols;
    return double{in[static_cast<std::size_t>((image * rows + row) * cols + col)]};
}

/// out[b, r, c] = sum of weight[y + up, x + left] * in[b, r + y, c + x], for y from -up
/// to up and x from -left to left.
/// @param in      [batch, rows, cols] row-major
/// @param weight  [2 * up + 1, 2 * left + 1] row-major
template <class Border>
Convolution convolution(const std::vector<float>& in,
                        std::int64_t batch,
                        std::int64_t rows,
                        std::int64_t cols,
                        const std::vector<double>& weight,
                        std::int64_t up,
                        std::int64_t left,
                        Border border) {
    Convolution out;
    for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t c = 0; c < cols; ++c) {
                double sum = 0.0;
                double magnitude = 0.0;
                std::size_t i = 0;
                for (std::int64_t y = -up; y <= up; ++y)
                    for (std::int64_t x = -left; x <= left; ++x) {
                        const double term =
                            weight[i++] *
                            value_at(in, b, rows, cols, r + y, c + x, border);
                        sum += term;
                        magnitude += std::abs(term);
                    }
                out.values.push_back(sum);
                out.magnitudes.push_back(magnitude);
            }
    return out;
}

}  // namespace wb::reference
