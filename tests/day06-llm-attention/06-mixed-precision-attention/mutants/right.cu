// The right mixed_precision_attention that the .diff files edit.
#include "mixed_precision_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <cmath>
#include <cstring>
#include <type_traits>

template <class T>
__device__ float to_float(T number) {
    return static_cast<float>(number);
}

/// a * b + c in 16 bits. GPUs before sm_80 have no instruction for it in bf16.
template <class T>
__device__ T fused(T a, T b, T c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    if constexpr (std::is_same_v<T, __nv_bfloat16>) {
        return static_cast<T>(
            fmaf(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));
    } else
#endif
        return __hfma(a, b, c);
}

/// The largest head dimension.
constexpr int kMostDim = 128;

/// One thread a row.
template <class T>
__global__ void attention_kernel(const T* q,
                                 const T* k,
                                 const T* v,
                                 T* o,
                                 float* lse,
                                 int64_t rows,
                                 int queries,
                                 int keys,
                                 bool causal,
                                 float scale,
                                 int D) {
    const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int64_t head = row / queries;
    const int visible =
        wb::visible_keys(queries, keys, causal, static_cast<int>(row % queries));
    float r_o[kMostDim] = {};
    float maximum = -INFINITY;
    float sum = 0.0f;
    for (int j = 0; j < visible; ++j) {
        const int64_t at = (head * keys + j) * D;
        float score = 0.0f;
        for (int d = 0; d < D; ++d)
            score += to_float(q[row * D + d]) * to_float(k[at + d]);
        score *= scale;
        const float new_maximum = fmaxf(maximum, score);
        const float factor = expf(maximum - new_maximum);
        const float weight = expf(score - new_maximum);
        maximum = new_maximum;
        sum = sum * factor + weight;
        for (int d = 0; d < D; ++d)
            r_o[d] = r_o[d] * factor + weight * to_float(v[at + d]);
    }
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (int d = 0; d < D; ++d)
        o[row * D + d] = static_cast<T>(r_o[d] * inverse);
    if (lse != nullptr) lse[row] = maximum + logf(sum);
}

template <class T>
void checked_attention(const wb::AttentionShape& shape,
                       const T* q,
                       const T* k,
                       const T* v,
                       T* o,
                       float* lse,
                       cudaStream_t stream) {
    const wb::Arguments arguments("mixed_precision_attention");
    wb::check_shape(arguments, shape, {32, 64, 128});
    arguments.require(shape.kv_heads == shape.query_heads,
                      "shape.kv_heads",
                      shape.kv_heads,
                      "must equal shape.query_heads");
    if (shape.rows() == 0) return;
    const auto vectors = [](const T* p) { return reinterpret_cast<const uint4*>(p); };
    arguments.device("q", vectors(q), shape.query_elements() / 8)
        .device("k", vectors(k), shape.kv_elements() / 8)
        .device("v", vectors(v), shape.kv_elements() / 8)
        .device("o", vectors(o), shape.query_elements() / 8);
    if (lse != nullptr) arguments.device("lse", lse, shape.rows());
    const unsigned blocks = wb::grid_size(shape.rows(), 64);
    attention_kernel<<<blocks, 64, 0, stream>>>(q,
                                                k,
                                                v,
                                                o,
                                                lse,
                                                shape.rows(),
                                                static_cast<int>(shape.queries),
                                                static_cast<int>(shape.keys),
                                                shape.causal,
                                                shape.scale,
                                                static_cast<int>(shape.head_dim));
    CUDA_CHECK_LAUNCH();
}

void mixed_precision_attention(const wb::AttentionShape& shape,
                               const __half* q,
                               const __half* k,
                               const __half* v,
                               __half* o,
                               float* lse,
                               cudaStream_t stream) {
    checked_attention(shape, q, k, v, o, lse, stream);
}

void mixed_precision_attention(const wb::AttentionShape& shape,
                               const __nv_bfloat16* q,
                               const __nv_bfloat16* k,
                               const __nv_bfloat16* v,
                               __nv_bfloat16* o,
                               float* lse,
                               cudaStream_t stream) {
    checked_attention(shape, q, k, v, o, lse, stream);
}
