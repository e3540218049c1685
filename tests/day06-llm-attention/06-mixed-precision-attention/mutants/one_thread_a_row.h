// one_thread_a_row.h: what all mutants have in common: the contract's two functions,
// which launch attention_kernel with one thread a row. The mutant defines that kernel.
#pragma once
#include "mixed_precision_attention.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <cmath>
#include <type_traits>

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

/// Launch   grid ceil_div(rows, 64), block 64
template <class T>
__global__ void attention_kernel(const T* q,  // [rows, D], rows = B * H * queries
                                 const T* k,  // [B * H, keys, D]
                                 const T* v,  // [B * H, keys, D]
                                 T* o,        // [rows, D]
                                 float* lse,  // [rows] or null
                                 int64_t rows,
                                 int queries,
                                 int keys,
                                 bool causal,
                                 float scale,
                                 int D);

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
