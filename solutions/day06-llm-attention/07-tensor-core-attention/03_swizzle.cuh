// 03_swizzle.cuh: v3: the kernel of v2, which is in tensor_core_attention.cu, with the
// chunks of rows in another order. What limits it: copies and products take turns.
#pragma once

#include <wb/head_dim.h>

#include "tiles.h"

/// v2's kernel: blocks of kThreads, shared memory for BM rows of q and BN of k and v.
template <class T, int D, class Rows>
__global__ void attention_v2_kernel(const Problem<T> p);

// #region v3-swizzle
/// Rows of D numbers of 16 bits, one after the other. The eight chunks of 128 bytes
/// that lie below each other are in a different order in each of eight rows.
///
/// Shared memory has 32 banks of 4 bytes, which is 8 chunks. A matrix of ldmatrix is a
/// chunk of each of eight rows. Below each other they would be in the same four banks,
/// for a row is a multiple of 128 bytes long; chunk ^ (row % 8) puts them into all 32.
template <int D>
struct SwizzledRows {
    static constexpr int kBytes = D * 2;  ///< of a row
    static __device__ __forceinline__ int offset(int row, int chunk) {
        return row * kBytes + (chunk ^ (row % 8)) * 16;
    }
};
// #endregion v3-swizzle

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
