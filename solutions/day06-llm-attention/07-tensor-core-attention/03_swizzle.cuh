// 03_swizzle.cuh: v3: the kernel of v2, which is in tensor_core_attention.cu, with the
// chunks of rows in another order: SwizzledRows, in tensor_core_attention_fast.cu. What
// limits it: copies and products take turns. Included below both.
#pragma once

#include <wb/head_dim.h>

#include "tiles.h"

/// v2's kernel: blocks of kThreads, shared memory for BM rows of q and BN of k and v.
template <class T, int D, class Rows>
__global__ void attention_v2_kernel(const Problem<T> p);

// #region v3-launch
template <class T>
static void attention_v3(const wb::AttentionShape& shape,
                         const T* q,
                         const T* k,
                         const T* v,
                         T* o,
                         float* lse,
                         cudaStream_t stream) {
    const auto problem = problem_of(shape, q, k, v, o, lse, BM);
    wb::with_head_dim<64, 128>(shape.head_dim, [&](auto head_dim) {
        constexpr int D = head_dim();
        using Rows = SwizzledRows<D>;
        launch_blocks(attention_v2_kernel<T, D, Rows>,
                      problem,
                      shape,
                      kThreads,
                      (BM + 2 * BN) * Rows::kBytes,
                      stream);
    });
}
// #endregion v3-launch
