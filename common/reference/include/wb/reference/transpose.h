/// CPU reference of the transpose of a batch of matrices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wb::reference {

/// out[b, c, r] = in[b, r, c], as double, which holds every float and every uint16_t.
/// @param in  [batch, rows, cols] row-major
template <class T>
std::vector<double> transpose(const std::vector<T>& in,
                              std::int64_t batch,
                              std::int64_t rows,
                              std::int64_t cols) {
    std::vector<double> out;
    out.reserve(in.size());
    for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t c = 0; c < cols; ++c)
            for (std::int64_t r = 0; r < rows; ++r)
                out.push_back(static_cast<double>(
                    in[static_cast<std::size_t>((b * rows + r) * cols + c)]));
    return out;
}

}  // namespace wb::reference
