// The right flash_attention that the .diff files edit.
#include "flash_attention.h"

#include <cuda_fp16.h>
#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>
#include <wb/scratch.h>

#include <cmath>

/// Threads of a block, and so its rows; and keys of a tile.
constexpr int kThreads = 64;
constexpr int kTileKeys = 32;

/// One thread a row, D only known at run time: slow, and short.
__global__ void flash_kernel(const float* q,
                             const float* k,
                             const float* v,
                             float* o,
                             float* lse,
                             int queries,
                             int keys,
                             int D,
                             unsigned row_tiles,
                             bool causal,
                             float scale) {
    extern __shared__ float4 s_tiles[];
    float* const s_k = reinterpret_cast<float*>(s_tiles);
    float* const s_v = s_k + kTileKeys * D;
    const int64_t head = blockIdx.x / row_tiles;
    const int row = static_cast<int>(blockIdx.x % row_tiles * kThreads + threadIdx.x);
    const bool has_row = row < queries;
    const int visible = has_row ? wb::visible_keys(queries, keys, causal, row) : 0;
    q += (head * queries + (has_row ? row : 0)) * D;
    k += head * keys * D;
    v += head * keys * D;
    float r_o[256] = {};
    float maximum = -INFINITY;
    float sum = 0.0f;
    for (int first = 0; first < keys; first += kTileKeys) {
        const int count = min(kTileKeys, keys - first);
        __syncthreads();
        for (int e = threadIdx.x; e < count * D; e += kThreads) {
            s_k[e] = k[int64_t{first} * D + e];
            s_v[e] = v[int64_t{first} * D + e];
        }
        __syncthreads();
        for (int j = 0; j < min(count, visible - first); ++j) {
            float score = 0.0f;
            for (int d = 0; d < D; ++d)
                score += q[d] * s_k[j * D + d];
            score *= scale;
            const float new_maximum = fmaxf(maximum, score);
            const float factor = expf(maximum - new_maximum);
            const float weight = expf(score - new_maximum);
            maximum = new_maximum;
            sum = sum * factor + weight;
            for (int d = 0; d < D; ++d)
                r_o[d] = r_o[d] * factor + weight * s_v[j * D + d];
        }
    }
    if (!has_row) return;
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (int d = 0; d < D; ++d)
        o[(head * queries + row) * D + d] = r_o[d] * inverse;
    if (lse != nullptr) lse[head * queries + row] = maximum + logf(sum);
}

void flash_attention(const wb::AttentionShape& shape,
                     const float* q,
                     const float* k,
                     const float* v,
                     float* o,
                     float* lse,
                     cudaStream_t stream) {
    const wb::Arguments arguments("flash_attention");
    wb::check_shape(arguments, shape, {32, 64, 128, 256});
    arguments.require(shape.kv_heads == shape.query_heads,
                      "shape.kv_heads",
                      shape.kv_heads,
                      "must equal shape.query_heads");
    if (shape.rows() == 0) return;
    const auto vectors = [](const float* p) {
        return reinterpret_cast<const float4*>(p);
    };
    arguments.device("q", vectors(q), shape.query_elements() / 4)
        .device("k", vectors(k), shape.kv_elements() / 4)
        .device("v", vectors(v), shape.kv_elements() / 4)
        .device("o", vectors(o), shape.query_elements() / 4);
    if (lse != nullptr) arguments.device("lse", lse, shape.rows());
    const auto kernel = flash_kernel;
    const unsigned row_tiles = wb::grid_size(shape.queries, kThreads);
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
