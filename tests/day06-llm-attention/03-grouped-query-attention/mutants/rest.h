// What the wrong kernels of this chapter have in common: the host function, and one row
// of attention for each thread.
#pragma once

#include "grouped_query_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <cmath>

constexpr int kThreads = 64;

/// One row, by one thread, straight from memory: slow, and short.
[[maybe_unused]] static __device__ void attend(const float* q,
                                               const float* k,
                                               const float* v,
                                               int visible,
                                               int D,
                                               float scale,
                                               float* o,
                                               float* lse) {
    float r_o[256] = {};
    float maximum = -INFINITY;
    float sum = 0.0f;
    for (int j = 0; j < visible; ++j) {
        float score = 0.0f;
        for (int d = 0; d < D; ++d)
            score += q[d] * k[int64_t{j} * D + d];
        score *= scale;
        const float new_maximum = fmaxf(maximum, score);
        const float factor = expf(maximum - new_maximum);
        const float weight = expf(score - new_maximum);
        maximum = new_maximum;
        sum = sum * factor + weight;
        for (int d = 0; d < D; ++d)
            r_o[d] = r_o[d] * factor + weight * v[int64_t{j} * D + d];
    }
    for (int d = 0; d < D; ++d)
        o[d] = sum > 0.0f ? r_o[d] / sum : 0.0f;
    if (lse != nullptr) *lse = maximum + logf(sum);
}

/// A thread for each of B * Hq * queries rows.
using RowKernel = void(const float* q,
                       const float* k,
                       const float* v,
                       float* o,
                       float* lse,
                       int64_t batch,
                       int64_t query_heads,
                       int64_t kv_heads,
                       int queries,
                       int keys,
                       int D,
                       bool causal,
                       float scale);

/// Validates, and launches a kernel.
inline void run_rows(RowKernel* kernel,
                     const wb::AttentionShape& shape,
                     const float* q,
                     const float* k,
                     const float* v,
                     float* o,
                     float* lse,
                     cudaStream_t stream) {
    const wb::Arguments arguments("grouped_query_attention");
    wb::check_shape(arguments, shape, {32, 64, 128, 256});
    if (shape.rows() == 0) return;
    const auto vectors = [](const float* p) {
        return reinterpret_cast<const float4*>(p);
    };
    arguments.device("q", vectors(q), shape.query_elements() / 4)
        .device("k", vectors(k), shape.kv_elements() / 4)
        .device("v", vectors(v), shape.kv_elements() / 4)
        .device("o", vectors(o), shape.query_elements() / 4);
    if (lse != nullptr) arguments.device("lse", lse, shape.rows());
    const unsigned blocks = wb::grid_size(shape.rows(), kThreads);
    kernel<<<blocks, kThreads, 0, stream>>>(q,
                                            k,
                                            v,
                                            o,
                                            lse,
                                            shape.batch,
                                            shape.query_heads,
                                            shape.kv_heads,
                                            static_cast<int>(shape.queries),
                                            static_cast<int>(shape.keys),
                                            static_cast<int>(shape.head_dim),
                                            shape.causal,
                                            shape.scale);
    CUDA_CHECK_LAUNCH();
}
