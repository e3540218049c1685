// 03_swizzle.cuh: v3: v2's kernel, with the chunks of rows in another order.
#pragma once

#include "block_tiles.h"

// #region v3-launch
template <class T>
static void mma_sync_v3(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream) {
    launch_shared_tiles<Sizes<T, 64, 64, 32, 32, Swizzled>>(
        shape, Problem<T>::of(shape, A, B, C), stream);
}
// #endregion v3-launch
