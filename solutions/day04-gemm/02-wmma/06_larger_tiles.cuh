// 06_larger_tiles.cuh: v6: 4 x 4 fragments a warp, for large matrices.
#pragma once

#include "block_tiles.h"

// #region v6-launch
/// v6: 8 warps, and 4 x 4 fragments for each: 128 of the 255 registers of a thread are
/// sums. Three stages, so that they fit where a block has 99 KB.
template <class T>
static void wmma_v6(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream) {
    using S = Sizes<T, 128, 256, 64, 64, 16>;
    constexpr int kStagesV6 = 3;
    const unsigned blocks = count_blocks<S>(shape);
    // Too few of such large blocks leave multiprocessors without any.
    if (blocks < static_cast<unsigned>(wb::multiprocessors()))
        return wmma_v5(shape, A, B, C, stream);
    wb::launch_kernel(wmma_v5_kernel<S, kStagesV6, 1, T>,
                      blocks,
                      S::kThreads,
                      kStagesV6 * sizeof(Stage<S>),
                      stream,
                      Problem<T>::of(shape, A, B, C),
                      blocks_across<S>(shape));
}
// #endregion v6-launch
