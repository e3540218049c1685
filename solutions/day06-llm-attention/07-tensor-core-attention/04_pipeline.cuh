// 04_pipeline.cuh: v4: the next tiles of k and v arrive while these are used. What
// limits it: instructions, of which few are products.
#pragma once

#include <wb/head_dim.h>
#include <wb/ptx/cp_async.h>

#include <cstdint>

#include "03_swizzle.cuh"
#include "tiles.h"

/// v2's products, in tensor_core_attention.cu.
template <class T, int D, class Rows>
__device__ __forceinline__ void score_keys(float (&r_s)[BN / 8][4],
                                           const char* s_q,
                                           const char* s_k,
                                           int lane);
template <class T, int D, class Rows>
__device__ __forceinline__ void add_values(float (&r_o)[D / 8][4],
                                           const float (&r_weights)[BN / 8][4],
                                           const char* s_v,
                                           int lane);

/// Tiles of k and v that are in shared memory or on their way there.
constexpr int kStagesV4 = 2;

/// Shared memory of a block of v4: its rows of q, and the stages.
template <int D>
constexpr size_t kBytesV4 = (BM + kStagesV4 * 2 * BN) * SwizzledRows<D>::kBytes;

// #region v4-copy
/// As copy_rows, but the copies are only started.
template <class T, int D, class Rows, int kCount>
__device__ __forceinline__ void start_rows(char* s_tile, const T* g, int rows) {
    constexpr int kChunks = D / kChunk;  // of a row
#pragma unroll
    for (int i = 0; i < kCount * kChunks / kThreads; ++i) {
        const int e = i * kThreads + static_cast<int>(threadIdx.x);
        const int row = e / kChunks;
        const int chunk = e % kChunks;
        const bool exists = row < rows;
        // What is not read must still be an address: the first of the tile.
        const T* const from = exists ? g + row * D + chunk * kChunk : g;
        wb::ptx::cp_async_zfill<16>(
            s_tile + Rows::offset(row, chunk), from, exists ? 16 : 0);
    }
}
// #endregion v4-copy

// #region v4-kernel
/// tensor_core_attention_v4: v3, with the tiles of k and v in kStagesV4 stages. While
/// the warps compute with one, the copies into the others are under way.
///
/// Launch   grid B * Hq * tiles, block kThreads, kBytesV4 bytes
template <class T, int D>
__global__ void __launch_bounds__(kThreads) attention_v4_kernel(const Problem<T> p) {
    using Rows = SwizzledRows<D>;
    constexpr int kStage = 2 * BN * Rows::kBytes;  // bytes of a tile of k and of v
    extern __shared__ uint4 s_bytes[];
    char* const s_q = reinterpret_cast<char*>(s_bytes);
    char* const s_stages = s_q + BM * Rows::kBytes;
    const BlockWork<T, D> work(p, BM);
    const int lane = threadIdx.x % wb::kWarpSize;
    const int row = threadIdx.x / wb::kWarpSize * kTile;  // of the warp
    const int visible[2] = {work.visible(p, row + fragment_row(lane, 0)),
                            work.visible(p, row + fragment_row(lane, 2))};
    const int tiles = tiles_of(work.keys, BN);
    // Starts the copies of tile j. The group is closed even if there is no such tile,
    // so that it is always the newest groups that may be pending.
    const auto start_tile = [&](int j) {
        if (j < tiles) {
            char* const s_k = s_stages + j % kStagesV4 * kStage;
            const int64_t begin = int64_t{j} * BN * D;
            const int left = work.keys - j * BN;
            start_rows<T, D, Rows, BN>(s_k, work.k + begin, left);
            start_rows<T, D, Rows, BN>(s_k + kStage / 2, work.v + begin, left);
        }
        wb::ptx::cp_async_commit();
    };
    start_rows<T, D, Rows, BM>(s_q, work.q, p.queries - work.first_row);
    for (int j = 0; j < kStagesV4 - 1; ++j)
        start_tile(j);  // the first group has q, too
    float r_o[D / 8][4] = {};
    Softmax softmax;
    for (int j = 0; j < tiles; ++j) {
        wb::ptx::cp_async_wait<kStagesV4 -
                               2>();  // tile j is there: this thread's part,
        __syncthreads();  // everybody's; and everybody is done with tile j - 1,
        start_tile(j + kStagesV4 - 1);  // whose place is taken now
        const char* const s_k = s_stages + j % kStagesV4 * kStage;
        float r_s[BN / 8][4];
        score_keys<T, D, Rows>(r_s, s_q + row * Rows::kBytes, s_k, lane);
        softmax.step(
            r_s, r_o, p.scale * static_cast<float>(wb::kLog2e), visible, j * BN, lane);
        add_values<T, D, Rows>(r_o, r_s, s_k + kStage / 2, lane);
    }
    wb::ptx::cp_async_wait<0>();  // without keys, q is still on its way
    store_rows<T, D>(r_o, softmax, p, work, row, lane);
}
// #endregion v4-kernel

// #region v4-launch
template <class T>
static void attention_v4(const wb::AttentionShape& shape,
                         const T* q,
                         const T* k,
                         const T* v,
                         T* o,
                         float* lse,
                         cudaStream_t stream) {
    const auto problem = problem_of(shape, q, k, v, o, lse, BM);
    wb::with_head_dim<64, 128>(shape.head_dim, [&](auto head_dim) {
        constexpr int D = head_dim();
        launch_blocks(
            attention_v4_kernel<T, D>, problem, shape, kThreads, kBytesV4<D>, stream);
    });
}
// #endregion v4-launch
