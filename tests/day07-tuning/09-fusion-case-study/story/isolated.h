/// isolated.h: S0's isolated test: its kernel beside a LayerNorm and a sum.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "../../../../day03-parallel-patterns/04-layernorm/layernorm.h"
#include "s0.h"

/// The largest difference of S0's kernel and of LayerNorm, then a sum, of rows whose
/// sums are exact in floats, whatever the order: 1 and -1, of mean 0 and variance 1,
/// with factors and summands of a few bits.
inline double isolated_error(int64_t rows, int64_t columns) {
    const auto count = static_cast<size_t>(rows * columns);
    std::vector<float> x(count), residual(count), ones(size_t(columns), 0.5f);
    for (size_t i = 0; i < count; ++i) {
        x[i] = i % 2 == 0 ? 1.0f : -1.0f;
        residual[i] = static_cast<float>(i % 17) / 8.0f;
    }
    std::vector<float*> arrays;
    const auto upload = [&](const std::vector<float>& values) {
        float* memory = nullptr;
        const size_t bytes = values.size() * sizeof(float);
        CUDA_CHECK(cudaMalloc(&memory, bytes));
        CUDA_CHECK(cudaMemcpy(memory, values.data(), bytes, cudaMemcpyHostToDevice));
        arrays.push_back(memory);
        return memory;
    };
    const float* const d_x = upload(x);
    const float* const d_residual = upload(residual);
    const float* const d_gamma = upload(ones);
    const float* const d_beta = upload(ones);
    float* const d_fused = upload(x);
    float* const d_norm = upload(x);
    launch_layernorm_residual({d_x,
                               d_residual,
                               d_gamma,
                               d_beta,
                               d_fused,
                               nullptr,
                               rows,
                               columns,
                               0.0f,
                               nullptr},
                              nullptr);
    layer_norm({d_x, d_gamma, d_beta, d_norm, nullptr, nullptr, rows, columns, 0.0f},
               nullptr);
    const auto download = [&](const float* from) {
        std::vector<float> values(count);
        CUDA_CHECK(cudaMemcpy(
            values.data(), from, count * sizeof(float), cudaMemcpyDeviceToHost));
        return values;
    };
    const std::vector<float> fused = download(d_fused), norm = download(d_norm);
    double worst = 0.0;
    for (size_t i = 0; i < count; ++i) {
        const float both = norm[i] + residual[i];
        const double apart = std::abs(double{both} - double{fused[i]});
        worst = std::isnan(apart) ? INFINITY : std::max(worst, apart);
    }
    for (float* const memory : arrays)
        CUDA_CHECK(cudaFree(memory));
    return worst;
}
