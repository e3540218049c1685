// 05_fewer_warps.cuh: v5: v4 with half of the warps for at most four rows.
#pragma once

#include "04_by_rows.cuh"

// #region v5-launch
/// As many columns as v4 has, but eight warps, each with four tiles down in a stage:
/// fewer warps measure a row together and add up, and a copy of W is 6 KB instead of
/// 1.5. With eight rows there is more to normalise, and v4's 16 warps are ahead.
using FewestRows = Sizes<1, 3, 1, 1, 8, 4, 2, 1>;

static void layernorm_gptq_qkv_v5(const QkvShape& shape,
                                  const QkvNorm& norm,
                                  const GptqTensors& tensors,
                                  const uint4* packed,
                                  const __half* input,
                                  __half* qkv,
                                  cudaStream_t stream) {
    if (shape.rows() > 4)
        return layernorm_gptq_qkv_v4(shape, norm, tensors, packed, input, qkv, stream);
    const SortedRows sorted(shape, norm, tensors, packed, input, stream);
    launch_qkv<Fused, FewestRows, true>(sorted.problem(), qkv, stream);
}
// #endregion v5-launch
