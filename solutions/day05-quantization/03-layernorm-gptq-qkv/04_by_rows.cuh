// 04_by_rows.cuh: v4: v3's kernel with one block a multiprocessor for few rows, v2's
// with larger tiles for many.
#pragma once

#include "02_one_launch.cuh"

// #region v4-launch
/// A block of v4's fused kernel has 16 warps and 96 columns: a warp unpacks three tiles
/// for each eight elements that it normalises, and a row of x is measured once for 96
/// columns, not once for 32. 4096 x 12288 are 128 blocks, one for each multiprocessor
/// of an H100 but four.
using FewRows = Sizes<1, 3, 1, 1, 16, 1, 3, 1>;
/// Many rows: 64 of them times 256 columns.
using ManyRows = Sizes<8, 2, 1, 4, 1, 2, 3, 2>;

static void layernorm_gptq_qkv_v4(const QkvShape& shape,
                                  const QkvNorm& norm,
                                  const GptqTensors& tensors,
                                  const uint4* packed,
                                  const __half* input,
                                  __half* qkv,
                                  cudaStream_t stream) {
    const int64_t M = shape.rows();
    if (M <= 8) {
        const SortedRows sorted(shape, norm, tensors, packed, input, stream);
        return launch_qkv<Fused, FewRows, true>(sorted.problem(), qkv, stream);
    }
    if (M <= 64)
        return layernorm_gptq_qkv_v2(shape, norm, tensors, packed, input, qkv, stream);
    const NormalisedRows rows(shape, norm, tensors, packed, input, stream);
    launch_qkv<HalfFused, ManyRows, false>(rows.problem(), qkv, stream);
}
// #endregion v4-launch
