// launch.h: given with this exercise: from the arguments of the contract to a launch.
#pragma once

#include <wb/arguments.h>
#include <wb/attention_rows.h>
#include <wb/check.h>
#include <wb/device.h>
#include <wb/head_dim.h>
#include <wb/launch.h>
#include <wb/launch_kernel.h>
#include <wb/online_softmax.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "blackwell_attention.h"
#include "tiles.h"
#include "warps.h"

/// Refuses GPUs that lack the instructions.
inline void require_blackwell(const wb::Arguments& arguments) {
#if !defined(SIMT_CPU)
    const int capability = wb::compute_capability();
    arguments.require(capability == 100,
                      "compute capability * 10",
                      capability,
                      "must be 100 (B200, GB200): tcgen05 and tensor memory are those "
                      "of sm_100a; 07-tensor-core-attention runs from 80 on, "
                      "08-hopper-attention on 90");
#else
    (void)arguments;
#endif
}

/// o and lse of a call without keys: of no bytes there is no tensor map.
static __global__ void no_keys_kernel(__nv_bfloat16* o,  // [elements]
                                      int64_t elements,
                                      float* lse,  // [rows] or null
                                      int64_t rows) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < elements) o[i] = __float2bfloat16(0.0f);
    if (i < rows && lse != nullptr) lse[i] = -INFINITY;
}

template <int D, class Packing>
void launch_forward(const wb::AttentionShape& shape,
                    const __nv_bfloat16* q,
                    const __nv_bfloat16* k,
                    const __nv_bfloat16* v,
                    __nv_bfloat16* o,
                    float* lse,
                    cudaStream_t stream) {
    Problem problem;
    problem.query_heads = static_cast<int>(shape.query_heads);
    problem.group = static_cast<int>(shape.query_heads / shape.kv_heads);
    problem.queries = static_cast<int>(shape.queries);
    problem.keys = static_cast<int>(shape.keys);
    problem.row_tiles = static_cast<int>(wb::ceil_div(shape.queries, int64_t{BM}));
    problem.causal = shape.causal;
    problem.scale_log2 = std::max(wb::log2_scale(shape.scale), 0x1p-149f);
    problem.o = o;
    problem.lse = lse;
    const auto map =
        [&](const char* name, const __nv_bfloat16* base, int64_t heads, int64_t rows) {
            return wb::tensor_map<__nv_bfloat16>(
                name, wb::dense_rows(base, shape.batch, heads, rows, D), BM);
        };
    const TensorMaps maps = {map("q", q, shape.query_heads, shape.queries),
                             map("k", k, shape.kv_heads, shape.keys),
                             map("v", v, shape.kv_heads, shape.keys)};
    wb::launch_kernel(
        forward_kernel<D, Packing>,
        wb::grid_size(shape.batch * shape.query_heads * problem.row_tiles, 1),
        kThreads,
        Shared<D>::kBytes,
        stream,
        maps,
        problem);
}

/// The contract's checks, and the kernel for the head dimension.
template <class Packing>
void run_attention(const wb::AttentionShape& shape,
                   const __nv_bfloat16* q,
                   const __nv_bfloat16* k,
                   const __nv_bfloat16* v,
                   __nv_bfloat16* o,
                   float* lse,
                   cudaStream_t stream) {
    const wb::Arguments arguments("blackwell_attention");
    wb::check_shape(arguments, shape, {64, 128});
    arguments.require_real(shape.scale >= 0.0f,
                           "shape.scale",
                           shape.scale,
                           "must not be negative: the largest q . k would not be the "
                           "largest score");
    require_blackwell(arguments);
    if (shape.rows() == 0) return;
    arguments.device("q", reinterpret_cast<const uint4*>(q), shape.query_elements() / 8)
        .device("k", reinterpret_cast<const uint4*>(k), shape.kv_elements() / 8)
        .device("v", reinterpret_cast<const uint4*>(v), shape.kv_elements() / 8)
        .device("o", reinterpret_cast<uint4*>(o), shape.query_elements() / 8);
    if (lse != nullptr) arguments.device("lse", lse, shape.rows());
    if (shape.keys == 0) {
        constexpr int kBlock = 256;
        const int64_t elements = shape.query_elements();
        no_keys_kernel<<<wb::grid_size(elements, kBlock), kBlock, 0, stream>>>(
            o, elements, lse, shape.rows());
        CUDA_CHECK_LAUNCH();
        return;
    }
    wb::with_head_dim<64, 128>(shape.head_dim, [&](auto head_dim) {
        launch_forward<head_dim(), Packing>(shape, q, k, v, o, lse, stream);
    });
}
