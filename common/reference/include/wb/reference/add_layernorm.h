/// CPU reference of what is fused with a LayerNorm: a dropout whose mask is computed,
/// and the gradients of norm, product and dropout, in double.
#pragma once

#include <wb/reference/layernorm.h>
#include <wb/reference/philox.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace wb::reference {

/// Which elements are dropped.
struct DropoutMask {
    double p = 0.0;
    uint64_t seed = 0;
    uint64_t offset = 0;

    double scale() const { return 1.0 / (1.0 - p); }

    /// 0 if element (row, col) is dropped, else what it is multiplied by.
    double factor(int64_t row, int64_t col) const {
        const auto low = [](uint64_t bits) { return static_cast<uint32_t>(bits); };
        const auto words = philox({low(static_cast<uint64_t>(col / 4)),
                                   low(static_cast<uint64_t>(row)),
                                   low(offset),
                                   low(offset >> 32)},
                                  seed);
        const auto word = static_cast<double>(words[static_cast<size_t>(col % 4)]);
        return word < p * 4294967296.0 ? 0.0 : scale();
    }
};

/// What the gradients are made of.
struct NormMulDropoutBackward {
    std::vector<float> dy, x, mul, gamma, beta, mean, rstd;
    int64_t rows, columns;
    DropoutMask mask;
};

struct NormMulDropoutGradients : NormGradients {
    std::vector<double> dmul, dmul_size;  ///< [rows, columns]
};

inline NormMulDropoutGradients norm_mul_dropout_backward(
    const NormMulDropoutBackward& in) {
    NormMulDropoutGradients out;
    std::vector<double> n;
    for (int64_t r = 0; r < in.rows; ++r)
        for (int64_t c = 0; c < in.columns; ++c) {
            const auto i = static_cast<size_t>(r * in.columns + c);
            const auto col = static_cast<size_t>(c);
            const auto row = static_cast<size_t>(r);
            const double factor = in.mask.factor(r, c);
            const double e = factor == 0.0 ? 0.0 : double{in.dy[i]} * factor;
            const double h =
                (double{in.x[i]} - double{in.mean[row]}) * double{in.rstd[row]};
            const double y = h * double{in.gamma[col]} + double{in.beta[col]};
            const double size =
                std::abs(h * double{in.gamma[col]}) + std::abs(double{in.beta[col]});
            n.push_back(factor == 0.0 ? 0.0 : e * double{in.mul[i]});
            out.dmul.push_back(factor == 0.0 ? 0.0 : e * y);
            out.dmul_size.push_back(factor == 0.0 ? 0.0 : std::abs(e) * size);
        }
    static_cast<NormGradients&>(out) = norm_backward(BasicNormBackward<double>{
        std::move(n), in.x, in.gamma, in.mean, in.rstd, in.rows, in.columns});
    return out;
}

}  // namespace wb::reference
