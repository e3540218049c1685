/// dequantize_rows.cuh: given with the second stage: all of W as halves, with
/// dequantize(), which stands in the file that includes this one.
#pragma once

#include "tensors.h"

constexpr int kThreadsRows = 256;

// #region v2-dequantize
/// Four columns of eight rows: a thread loads a vector of words and stores eight of
/// four halves. A word as GPTQ stores it has other rows in its nibbles than a packed
/// one: dequantize() gives rows 0 and 4, then 1 and 5, 2 and 6, 3 and 7.
///
/// With g_idx each row has factors of its own, and the word is dequantised for each.
///
/// Launch   a thread for each vector of words
/// Traffic  reads K N / 2 B, writes K N * 2 B
static __global__ void __launch_bounds__(kThreadsRows)
    dequantize_rows_kernel(const GptqView v, __half* w, unsigned long long* bad_rows) {
    const int64_t vector = int64_t{blockIdx.x} * kThreadsRows + threadIdx.x;
    const int64_t across = v.N / 4;
    if (vector >= v.K / 8 * across) return;
    const int64_t row = vector / across * 8;
    const int64_t column = vector % across * 4;
    const uint4 words =
        *reinterpret_cast<const uint4*>(v.qweight + row / 8 * v.N + column);
    const uint32_t word[4] = {words.x, words.y, words.z, words.w};
    uint32_t r_w[4][4] = {};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int64_t group =
            v.g_idx != nullptr ? v.g_idx[row + i] : row / v.rows_of_group;
        const bool has_group = group >= 0 && group < v.groups;
        if (!has_group && column == 0) atomicAdd(bad_rows, 1ull);
        if (has_group && (i == 0 || v.g_idx != nullptr)) {
            const uint2 scales =
                *reinterpret_cast<const uint2*>(v.scales + group * v.N + column);
            const uint32_t zeros =
                v.qzeros[group * (v.N / 8) + column / 8] >> column % 8 * 4;
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const int zero = static_cast<int>(zeros >> 4 * c & 15) + v.add_to_zeros;
                const __half2 factor =
                    __halves2half2(reinterpret_cast<const __half*>(&scales)[c],
                                   __int2half_rn(1024 + zero));
                dequantize(r_w[c], word[c], factor);
            }
        }
        __half four[4];
        for (int c = 0; c < 4; ++c) {
            const uint32_t pair = r_w[c][i % 4];
            const __half2 both = reinterpret_cast<const __half2&>(pair);
            const __half it = i < 4 ? __low2half(both) : __high2half(both);
            four[c] = has_group ? it : __float2half(0.0f);
        }
        *reinterpret_cast<uint2*>(w + (row + i) * v.N + column) =
            *reinterpret_cast<const uint2*>(four);
    }
}

static void gptq_dequantize_v2(const GptqShape& shape,
                               const GptqTensors& tensors,
                               __half* w,
                               unsigned long long* bad_rows,
                               cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(shape.K / 8 * (shape.N / 4), kThreadsRows);
    dequantize_rows_kernel<<<blocks, kThreadsRows, 0, stream>>>(
        GptqView::of(shape, tensors), w, bad_rows);
    CUDA_CHECK_LAUNCH();
}
// #endregion v2-dequantize
