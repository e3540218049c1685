// rungs.h: the launches of v3 to v5, and the list of all rungs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "launch.h"
#include "pipelined_kernel.h"
#include "swizzled_rows.h"
#include "tuned_kernel.h"

// #region v3-launch
template <class T>
static void attention_v3(const wb::AttentionShape& shape,
                         const T* q,
                         const T* k,
                         const T* v,
                         T* o,
                         float* lse,
                         cudaStream_t stream) {
    const auto problem = problem_of(shape, q, k, v, o, lse, kRows);
    with_head_dim(shape.head_dim, [&](auto head_dim) {
        constexpr int D = head_dim();
        launch_blocks(attention_v2_kernel<T, D, SwizzledRows<D>>,
                      problem,
                      shape,
                      kThreads,
                      kBytesV2<D>,
                      stream);
    });
}
// #endregion v3-launch

template <class T>
static void attention_v4(const wb::AttentionShape& shape,
                         const T* q,
                         const T* k,
                         const T* v,
                         T* o,
                         float* lse,
                         cudaStream_t stream) {
    const auto problem = problem_of(shape, q, k, v, o, lse, kRows);
    with_head_dim(shape.head_dim, [&](auto head_dim) {
        constexpr int D = head_dim();
        launch_blocks(
            attention_v4_kernel<T, D>, problem, shape, kThreads, kBytesV4<D>, stream);
    });
}

// #region v5-launch
/// Tiles by head dimension, as measured on an H100.
template <int D>
using Tuned = std::
    conditional_t<D == 64, Tiling<64, 4, 96, 2, 4, 2>, Tiling<128, 4, 64, 2, 0, 2>>;

template <class T>
static void attention_v5(const wb::AttentionShape& shape,
                         const T* q,
                         const T* k,
                         const T* v,
                         T* o,
                         float* lse,
                         cudaStream_t stream) {
    int device = 0;
    int l2_bytes = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
    with_head_dim(shape.head_dim, [&](auto head_dim) {
        using Cut = Tuned<head_dim()>;
        TunedProblem<T> problem;
        static_cast<Problem<T>&>(problem) =
            problem_of(shape, q, k, v, o, lse, Cut::kRows);
        const int64_t heads = shape.batch * shape.query_heads;
        const int64_t bytes = shape.keys * 2 * Cut::kRowBytes / problem.group;
        problem.heads = static_cast<unsigned>(heads);
        problem.section = static_cast<unsigned>(
            std::clamp<int64_t>(l2_bytes / 3 / std::max<int64_t>(bytes, 1), 1, heads));
        problem.log2_scale =
            shape.scale == 0.0f ? 1.0f : std::abs(shape.scale) * kLog2e;
        launch_blocks(attention_v5_kernel<T, Cut>,
                      problem,
                      shape,
                      Cut::kThreads,
                      Cut::kBytes,
                      stream);
    });
}
// #endregion v5-launch
[[maybe_unused]] static const bool rungs_listed =
    list_rung("v1",
              "WMMA, scores in shared memory",
              attention_v1<__half>,
              attention_v1<__nv_bfloat16>) &&
    list_rung("v2",
              "mma.sync, softmax in registers",
              attention_v2<__half>,
              attention_v2<__nv_bfloat16>) &&
    list_rung("v3", "XOR swizzle", attention_v3<__half>, attention_v3<__nv_bfloat16>) &&
    list_rung("v4",
              "cp.async, two stages",
              attention_v4<__half>,
              attention_v4<__nv_bfloat16>) &&
    list_rung("v5",
              "32 rows a warp, fewer instructions",
              attention_v5<__half>,
              attention_v5<__nv_bfloat16>);
