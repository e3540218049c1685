// The right grouped_query_attention that the .diff files edit.
#include "grouped_query_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <cmath>

/// One row, by one thread, straight from memory: slow, and short.
__device__ void attend(const float* q,
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
        o[d] = sum == 0.0f ? 0.0f : r_o[d] / sum;
    if (lse != nullptr) *lse = maximum + logf(sum);
}

__global__ void gqa_kernel(const float* q,
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
                           float scale) {
    const int64_t r = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (r >= batch * query_heads * queries) return;
    const int query = static_cast<int>(r % queries);
    const int64_t head = r / queries;
    const int64_t b = head / query_heads;
    const int64_t h = head % query_heads;
    const int64_t kv_head = b * kv_heads + h / (query_heads / kv_heads);
    const int visible = wb::visible_keys(queries, keys, causal, query);
    attend(q + r * D,
           k + kv_head * keys * D,
           v + kv_head * keys * D,
           visible,
           D,
           scale,
           o + r * D,
           lse == nullptr ? nullptr : lse + r);
}

void grouped_query_attention(const wb::AttentionShape& shape,
                             const float* q,
                             const float* k,
                             const float* v,
                             float* o,
                             float* lse,
                             cudaStream_t stream) {
    constexpr int kThreads = 64;
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
    gqa_kernel<<<blocks, kThreads, 0, stream>>>(q,
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
