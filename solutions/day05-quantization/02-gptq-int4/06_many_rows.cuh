// 06_many_rows.cuh: v6: v5's kernel with larger tiles, for many rows of x.
#pragma once

// #region v6-launch
/// Many rows of x: a block has 256 columns, so that x is loaded once for 256 of them,
/// and 64 rows, and a warp multiplies 64 columns with all of these rows.
static void gptq_matmul_v6(const GptqShape& shape,
                           const GptqTensors& tensors,
                           const uint4* packed,
                           const __half* x,
                           __half* y,
                           cudaStream_t stream) {
    constexpr int64_t kFewRows = 64;
    if (shape.M <= kFewRows)
        return gptq_matmul_v5(shape, tensors, packed, x, y, stream);
    const SortedX sorted(shape, tensors, packed, x, stream);
    launch_v5<Sizes<8, 2, 1, 4, 1, 2, 3, 2>>(sorted.problem(shape), 1, y, stream);
}
// #endregion v6-launch
