// What the wrong kernels of this chapter have in common: the host function.
#pragma once

#include "flash_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <cmath>

/// Threads, and keys of a tile.
constexpr int kThreads = 64;
constexpr int kTileKeys = 32;

/// One thread a row, D only known at run time: slow, and short.
using FlashKernel = void(const float* q,
                         const float* k,
                         const float* v,
                         float* o,
                         float* lse,
                         int queries,
                         int keys,
                         int D,
                         unsigned row_tiles,
                         bool causal,
                         float scale);

/// Validates; returns false where there is nothing to do.
inline bool check_arguments(const wb::AttentionShape& shape,
                            const float* q,
                            const float* k,
                            const float* v,
                            const float* o,
                            const float* lse) {
    const wb::Arguments arguments("flash_attention");
    wb::check_shape(arguments, shape, {32, 64, 128, 256});
    if (shape.rows() == 0) return false;
    const auto vectors = [](const float* p) {
        return reinterpret_cast<const float4*>(p);
    };
    arguments.device("q", vectors(q), shape.query_elements() / 4)
        .device("k", vectors(k), shape.kv_elements() / 4)
        .device("v", vectors(v), shape.kv_elements() / 4)
        .device("o", vectors(o), shape.query_elements() / 4);
    if (lse != nullptr) arguments.device("lse", lse, shape.rows());
    return true;
}

/// Validates, and launches a kernel of `rows` rows a block.
inline void run_flash(FlashKernel* kernel,
                      int rows,
                      const wb::AttentionShape& shape,
                      const float* q,
                      const float* k,
                      const float* v,
                      float* o,
                      float* lse,
                      cudaStream_t stream) {
    if (!check_arguments(shape, q, k, v, o, lse)) return;
    const unsigned row_tiles = wb::grid_size(shape.queries, rows);
    const unsigned blocks =
        wb::grid_size(shape.batch * shape.query_heads * row_tiles, 1);
    const size_t bytes =
        2 * kTileKeys * static_cast<size_t>(shape.head_dim) * sizeof(float);
    CUDA_CHECK(cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    kernel<<<blocks, kThreads, bytes, stream>>>(q,
                                                k,
                                                v,
                                                o,
                                                lse,
                                                static_cast<int>(shape.queries),
                                                static_cast<int>(shape.keys),
                                                static_cast<int>(shape.head_dim),
                                                row_tiles,
                                                shape.causal,
                                                shape.scale);
    CUDA_CHECK_LAUNCH();
}
