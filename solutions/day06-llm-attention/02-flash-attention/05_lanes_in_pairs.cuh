// 05_lanes_in_pairs.cuh: flash_attention_v5. Included by flash_attention.cu, below v4.
#pragma once

#include <wb/head_dim.h>
#include <wb/ladder.h>

#include "04_cp_async.cuh"

// #region v5-launch
/// v4's kernel, whose lanes stand in another order.
static void flash_attention_v5(const wb::AttentionShape& shape,
                               const float* q,
                               const float* k,
                               const float* v,
                               float* o,
                               float* lse,
                               cudaStream_t stream) {
    wb::with_head_dim<32, 64, 128, 256>(shape.head_dim, [&](auto head_dim) {
        using T = Tile<large_tiling(head_dim(), /*pairs=*/true)>;
        if (!launch_tiles<T>(flash_attention_v4_kernel<T>,
                             shape,
                             Tensors{q, k, v, o, lse},
                             stream)) {
            flash_attention_v4(shape, q, k, v, o, lse, stream);
        }
    });
}
// #endregion v5-launch
WB_RUNG(flash_attention, flash_attention_v5, "lanes in pairs: half the passes");
