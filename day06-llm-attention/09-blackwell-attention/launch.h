// launch.h: given with this exercise: from the arguments of the contract to a launch.
#pragma once

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "blackwell_attention.h"
#include "forward.h"

/// Refuses GPUs that lack the instructions.
inline void require_blackwell(const wb::Arguments& arguments) {
#if !defined(SIMT_CPU)
    int device = 0, major = 0, minor = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    CUDA_CHECK(
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    arguments.require(10 * major + minor == 100,
                      "compute capability * 10",
                      10 * major + minor,
                      "must be 100 (B200, GB200): tcgen05 and tensor memory are those "
                      "of sm_100a; 07-tensor-core-attention runs from 80 on, "
                      "08-hopper-attention on 90");
#else
    (void)arguments;
#endif
}

/// The map of a tensor [batch, heads, n, D] whose copies bring a panel of `rows` rows.
inline wb::ptx::TensorMap map_of(const char* name,
                                 const __nv_bfloat16* base,
                                 const wb::AttentionShape& shape,
                                 int64_t heads,
                                 int64_t n) {
    const int64_t row = shape.head_dim * 2;
    return wb::ptx::make_tensor_map(name,
                                    {base,
                                     2,
                                     {shape.head_dim, n, heads, shape.batch},
                                     {row, n * row, heads * n * row},
                                     {kPanel, kRows, 1, 1}});
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
    constexpr double kLog2e = 1.4426950408889634;
    Problem problem;
    problem.query_heads = static_cast<int>(shape.query_heads);
    problem.group = static_cast<int>(shape.query_heads / shape.kv_heads);
    problem.queries = static_cast<int>(shape.queries);
    problem.keys = static_cast<int>(shape.keys);
    problem.row_tiles = static_cast<int>(wb::ceil_div(shape.queries, int64_t{kRows}));
    problem.causal = shape.causal;
    problem.scale_log2 =
        std::max(static_cast<float>(double{shape.scale} * kLog2e), 1e-35f);
    problem.o = o;
    problem.lse = lse;
    const TensorMaps maps = {map_of("q", q, shape, shape.query_heads, shape.queries),
                             map_of("k", k, shape, shape.kv_heads, shape.keys),
                             map_of("v", v, shape, shape.kv_heads, shape.keys)};
    const auto kernel = forward_kernel<D, Packing>;
    constexpr int kBytes = Shared<D>::kBytes;
    CUDA_CHECK(cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    const unsigned blocks =
        wb::grid_size(shape.batch * shape.query_heads * problem.row_tiles, 1);
    kernel<<<blocks, kThreads, kBytes, stream>>>(maps, problem);
    CUDA_CHECK_LAUNCH();
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
    arguments.require(shape.scale >= 0.0f,
                      "shape.scale",
                      static_cast<int64_t>(std::floor(shape.scale)),
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
    if (shape.head_dim == 64)
        launch_forward<64, Packing>(shape, q, k, v, o, lse, stream);
    else
        launch_forward<128, Packing>(shape, q, k, v, o, lse, stream);
}
