/// packed.cuh: given with this exercise: how W gets into the order of layout.h, which a
/// GPU can read quickly. There is nothing to write here.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/launch.h>

#include "layout.h"
#include "tensors.h"

constexpr int kThreadsRepack = 256;

// #region sort
/// Gives each row of W a place: groups one behind the other, each from the beginning of
/// a tile on, rows of a group in the order in which they come. Counts the rows that
/// have no group; they get no place.
///
/// Launch   one block of kThreadsRepack
static __global__ void __launch_bounds__(kThreadsRepack)
    sort_rows_kernel(const int32_t* g_idx,  // [K]
                     int K,
                     int groups,
                     int tiles_down,
                     int32_t* rows,      // [tiles_down * 32]
                     int32_t* group_of,  // [tiles_down]
                     int32_t* used,
                     unsigned long long* bad_rows) {
    const int tid = threadIdx.x;
    for (int i = tid; i < tiles_down * kTileRows; i += kThreadsRepack)
        rows[i] = -1;
    // How many tiles each group needs: for the moment in group_of, which has room for
    // one of each group.
    unsigned long long bad = 0;
    for (int k = tid; k < K; k += kThreadsRepack)
        bad += g_idx[k] < 0 || g_idx[k] >= groups;
    if (bad > 0) atomicAdd(bad_rows, bad);
    for (int g = tid; g < groups; g += kThreadsRepack) {
        int count = 0;
        for (int k = 0; k < K; ++k)
            count += g_idx[k] == g;
        group_of[g] = (count + kTileRows - 1) / kTileRows;
    }
    __syncthreads();
    // From here on group_of[g] is the first tile of group g.
    if (tid == 0) {
        int first = 0;
        for (int g = 0; g < groups; ++g) {
            const int tiles = group_of[g];
            group_of[g] = first;
            first += tiles;
        }
        *used = first;
    }
    __syncthreads();
    for (int g = tid; g < groups; g += kThreadsRepack) {
        int place = group_of[g] * kTileRows;
        for (int k = 0; k < K; ++k)
            if (g_idx[k] == g) rows[place++] = k;
    }
    __syncthreads();
    // And now it is the group of each tile: that of its first row.
    for (int tile = tid; tile < tiles_down; tile += kThreadsRepack) {
        const int row = rows[tile * kTileRows];
        group_of[tile] = row < 0 ? 0 : g_idx[row];
    }
}
// #endregion sort

// #region repack
/// Packs a word: eight rows of a column, gathered from where they are. Rows without a
/// place are those behind the last one of a group, and count as 0.
///
/// Launch   grid ceil_div(4 tiles N32, kThreadsRepack), a thread for each word
/// Traffic  reads and writes K N / 2 B
static __global__ void __launch_bounds__(kThreadsRepack)
    repack_weights_kernel(const GptqView w, const Packed p, uint32_t* weights) {
    const int64_t word = int64_t{blockIdx.x} * kThreadsRepack + threadIdx.x;
    if (word >= p.vectors_of_weights() * 4) return;
    const int lane = static_cast<int>(word / 4 % wb::kWarpSize);
    const int64_t tile = word / 4 / wb::kWarpSize;
    const int64_t column = tile / p.tiles_down * kTileColumns + lane / 4 * 4 + word % 4;
    const int64_t first = tile % p.tiles_down * kTileRows + lane % 4 * 8;
    uint32_t packed = 0;
    for (int i = 0; i < 8 && column < w.N; ++i) {
        const int64_t place = first + i;
        const int64_t row = p.rows != nullptr ? p.rows[place]
                            : place < w.K     ? place
                                              : -1;
        if (row < 0) continue;
        const uint32_t number = w.qweight[row / 8 * w.N + column] >> row % 8 * 4 & 15;
        packed |= number << place_of_row(i) * 4;
    }
    weights[word] = packed;
}

/// Packs the scale and the zero of a group and a column.
///
/// Launch   a thread for each pair
static __global__ void __launch_bounds__(kThreadsRepack)
    repack_factors_kernel(const GptqView w, const Packed p, __half2* factors) {
    const int64_t pair = int64_t{blockIdx.x} * kThreadsRepack + threadIdx.x;
    if (pair >= p.vectors_of_factors() * 4) return;
    const int64_t column =
        pair / (int64_t{p.groups} * kTileColumns) * kTileColumns + pair % kTileColumns;
    const int64_t group = pair / kTileColumns % p.groups;
    __half scale = __float2half(0.0f);
    int zero = 0;
    if (column < w.N) {
        scale = w.scales[group * w.N + column];
        zero = w.zero(group, column);
    }
    factors[pair] = __halves2half2(scale, __int2half_rn(1024 + zero));
}
// #endregion repack

/// Packs W. Arguments have been checked.
inline void repack(const GptqShape& shape,
                   const GptqTensors& tensors,
                   uint4* packed,
                   unsigned long long* bad_rows,
                   cudaStream_t stream) {
    const bool has_order = tensors.g_idx != nullptr;
    const Packed p = Packed::of(shape, has_order, packed);
    const GptqView w = GptqView::of(shape, tensors);
    if (has_order) {
        sort_rows_kernel<<<1, kThreadsRepack, 0, stream>>>(
            tensors.g_idx,
            static_cast<int>(shape.K),
            p.groups,
            p.tiles_down,
            const_cast<int32_t*>(p.rows),
            const_cast<int32_t*>(p.group_of),
            const_cast<int32_t*>(p.used),
            bad_rows);
        CUDA_CHECK_LAUNCH();
    }
    repack_weights_kernel<<<wb::grid_size(p.vectors_of_weights() * 4, kThreadsRepack),
                            kThreadsRepack,
                            0,
                            stream>>>(w, p, reinterpret_cast<uint32_t*>(packed));
    CUDA_CHECK_LAUNCH();
    repack_factors_kernel<<<wb::grid_size(p.vectors_of_factors() * 4, kThreadsRepack),
                            kThreadsRepack,
                            0,
                            stream>>>(
        w, p, reinterpret_cast<__half2*>(packed + p.vectors_of_weights()));
    CUDA_CHECK_LAUNCH();
}

/// What gptq_packed_vectors() says. The shape has been checked.
inline int64_t packed_vectors(const GptqShape& shape, bool has_order) {
    if (shape.N == 0 || shape.K == 0) return 0;
    return Packed::of(shape, has_order, nullptr).vectors(has_order);
}

/// Refuses wrong arguments of gptq_dequantize(). False if there is nothing to do.
inline bool dequantize_has_work(const GptqShape& s,
                                const GptqTensors& t,
                                const __half* w,
                                const unsigned long long* bad_rows) {
    const GptqArguments arguments("gptq_dequantize", s);
    arguments.tensors(t);
    if (s.N == 0 || s.K == 0) return false;
    arguments.arguments().device("w", w, s.K * s.N);
    arguments.vectors("w", w);
    arguments.written(t, "w", w, 2 * s.K * s.N, bad_rows);
    return true;
}

/// Refuses wrong arguments of gptq_repack(). False if there is nothing to do.
inline bool repack_has_work(const GptqShape& s,
                            const GptqTensors& t,
                            const uint4* packed,
                            const unsigned long long* bad_rows) {
    const GptqArguments arguments("gptq_repack", s);
    arguments.tensors(t);
    if (s.N == 0 || s.K == 0) return false;
    const int64_t vectors = packed_vectors(s, t.g_idx != nullptr);
    arguments.arguments().device("packed", packed, vectors);
    arguments.written(t, "packed", packed, 16 * vectors, bad_rows);
    return true;
}

// #region gather
/// Columns of x in the order of the packed rows, zeros where there is none.
///
/// Launch   a thread for each element
/// Traffic  reads and writes M K * 2 B
static __global__ void __launch_bounds__(kThreadsRepack)
    gather_columns_kernel(const __half* x,      // [M, K]
                          const int32_t* rows,  // [ld]
                          __half* sorted,       // [M, ld]
                          int64_t M,
                          int64_t K,
                          int64_t ld) {
    const int64_t i = int64_t{blockIdx.x} * kThreadsRepack + threadIdx.x;
    if (i >= M * ld) return;
    const int32_t row = rows[i % ld];
    sorted[i] = row < 0 ? __float2half(0.0f) : x[i / ld * K + row];
}
// #endregion gather
