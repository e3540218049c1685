// 02_shared_tiles.cuh: v2 to v4: the warps of a block share tiles of A and B.
#pragma once

#include "block_tiles.h"

// #region v2-kernel
/// v2: a block brings BK columns of A and BK rows of B to shared memory, where all of
/// its warps read them.
///
/// Launch   grid count_blocks<S>(M, N), block S::kThreads
/// Traffic  loads (BM + BN) * 2 B for BM * BN products (fp16, bf16), from L2
template <class S, class T>
__global__ void __launch_bounds__(S::kThreads)
    wmma_v2_kernel(const Problem<T> p, int64_t blocks_across) {
    if constexpr (kHasFragments<T>) {
        __shared__ Stage<S> s_stage;
        __shared__ alignas(32) float s_tiles[S::kWarps][kTile * kTile];
        const Place<S> at(blocks_across);
        WarpSums<S> sums;
        clear(sums);
        for (int64_t k = 0; k < p.K; k += S::BK) {
            copy_stage<false>(s_stage, p, at, k);
            __syncthreads();  // the tiles are there
            multiply_stage(sums, s_stage, at);
            __syncthreads();  // all have used them
        }
        store_sums(sums, s_tiles[threadIdx.x / wb::kWarpSize], p, at);
    }
}
// #endregion v2-kernel

template <class S, class T>
static void launch_shared_tiles(const wb::GemmShape& shape,
                                const Problem<T>& p,
                                cudaStream_t stream) {
    wmma_v2_kernel<S><<<count_blocks<S>(shape), S::kThreads, 0, stream>>>(
        p, blocks_across<S>(shape));
    CUDA_CHECK_LAUNCH();
}

// #region v2-launch
/// v2: 16 warps, and a fragment for each.
template <class T>
static void wmma_v2(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream) {
    launch_shared_tiles<Sizes<T, 64, 64, 16, 16, 0>>(
        shape, Problem<T>::of(shape, A, B, C), stream);
}

/// v3: 8 warps, and 4 x 2 fragments for each.
template <class T>
static void wmma_v3(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream) {
    launch_shared_tiles<Sizes<T, 128, 128, 64, 32, 0>>(
        shape, Problem<T>::of(shape, A, B, C), stream);
}

/// v4: the same, and 16 bytes behind each row.
template <class T>
static void wmma_v4(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream) {
    launch_shared_tiles<Sizes<T, 128, 128, 64, 32, 16>>(
        shape, Problem<T>::of(shape, A, B, C), stream);
}
// #endregion v2-launch
