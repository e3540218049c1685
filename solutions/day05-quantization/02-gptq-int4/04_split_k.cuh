// 04_split_k.cuh: how v3 is launched; and v4: the same kernel, and several blocks for
// the same columns, each with a part of the rows of W.
#pragma once

#include <wb/scratch.h>

#include "03_bit_tricks.cuh"

// #region v3-launch
constexpr int kWarpsV3 = 16;
constexpr int kAheadV3 = 2;

static void gptq_matmul_v3(const GptqShape& shape,
                           const GptqTensors& tensors,
                           const uint4* packed,
                           const __half* x,
                           __half* y,
                           cudaStream_t stream) {
    const SortedX sorted(shape, tensors, packed, x, stream);
    const Problem p = sorted.problem(shape);
    const unsigned blocks = wb::grid_size(shape.M * p.w.tiles_across, 1);
    gptq_v3_kernel<kWarpsV3, kAheadV3>
        <<<blocks, kWarpsV3 * wb::kWarpSize, 0, stream>>>(p, y);
    CUDA_CHECK_LAUNCH();
}
// #endregion v3-launch

// #region v4-launch
/// Blocks that a multiprocessor should have, so that enough loads are under way.
constexpr int kBlocksV4 = 2;

static void gptq_matmul_v4(const GptqShape& shape,
                           const GptqTensors& tensors,
                           const uint4* packed,
                           const __half* x,
                           __half* y,
                           cudaStream_t stream) {
    const SortedX sorted(shape, tensors, packed, x, stream);
    const Problem p = sorted.problem(shape);
    const int64_t blocks = shape.M * p.w.tiles_across;
    const int64_t wanted = kBlocksV4 * wb::multiprocessors() / blocks;
    // A part is one round of all warps, or more.
    const int64_t possible = p.w.tiles_down / (kWarpsV3 * kAheadV3);
    const int64_t parts = std::min(wanted, possible);
    if (parts < 2) return gptq_matmul_v3(shape, tensors, packed, x, y, stream);
    const wb::Scratch<float> g_parts(parts * shape.M * shape.N, stream);
    const dim3 grid(wb::grid_size(blocks, 1), static_cast<unsigned>(parts));
    gptq_v3_kernel<kWarpsV3, kAheadV3>
        <<<grid, kWarpsV3 * wb::kWarpSize, 0, stream>>>(p, g_parts.data());
    CUDA_CHECK_LAUNCH();
    add_parts(g_parts.data(), y, shape.M * shape.N, static_cast<int>(parts), stream);
}
// #endregion v4-launch
