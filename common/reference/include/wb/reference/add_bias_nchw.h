/// CPU reference of the bias of a convolution, in double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wb::reference {

/// y[n, c, h, w] = x[n, c, h, w] + bias[c], rounded once to double.
/// @param x     [N, C, H, W] row-major
/// @param bias  [C]
inline std::vector<double> add_bias_nchw(const std::vector<float>& x,
                                         const std::vector<float>& bias,
                                         std::int64_t N,
                                         std::int64_t C,
                                         std::int64_t H,
                                         std::int64_t W) {
    std::vector<double> y;
    y.reserve(x.size());
    for (std::int64_t n = 0; n < N; ++n) {
        for (std::int64_t c = 0; c < C; ++c) {
            for (std::int64_t hw = 0; hw < H * W; ++hw) {
                y.push_back(double{x[y.size()]} +
                            double{bias[static_cast<std::size_t>(c)]});
            }
        }
    }
    return y;
}

}  // namespace wb::reference
