// tiles.h: given with this exercise: sizes, barriers and the parameters of the kernel.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <wb/attention.h>
#include <wb/launch.h>
#include <wb/ptx/tcgen05.h>
#include <wb/ptx/tma.h>

#include <cstdint>

/// Rows of q of a block: one for each lane of tensor memory.
inline constexpr int BM = 128;
/// Keys of a tile.
inline constexpr int BN = 128;
/// Tiles of K, and of V, in shared memory at a time.
inline constexpr int kStages = 2;
/// Four warps of softmax, one that loads, one that issues products.
inline constexpr int kSoftmaxThreads = 128;
inline constexpr int kThreads = 192;
/// Elements in a panel: 128 bytes.
inline constexpr int kPanel = 64;

// #region columns
// The 512 columns of tensor memory.
inline constexpr int kScoreColumns = 0;     ///< two tiles of scores, 128 columns each
inline constexpr int kOutputColumns = 256;  ///< o, D columns
inline constexpr int kWeightColumns = 384;  ///< weights, two to a column: 64 columns
inline constexpr int kColumns = 512;
// #endregion columns

/// The same for every block.
struct Problem {
    int query_heads;
    int group;  ///< query heads that share a K/V head
    int queries;
    int keys;
    int row_tiles;
    bool causal;
    float scale_log2;  ///< scale * log2(e), > 0
    __nv_bfloat16* o;
    float* lse;  ///< or null
};

struct TensorMaps {
    wb::ptx::TensorMap q, k, v;
};

/// What a block works on.
struct TileWork {
    int sequence, head, kv_head;
    int row;    ///< the first one
    int tiles;  ///< of keys; 0: no row of the block sees any
};

/// Keys that a row sees: those before the returned one. Rows past the end see what the
/// last one does.
__device__ __forceinline__ int key_limit(const Problem& problem, int row) {
    return min(problem.keys,
               wb::visible_keys(problem.queries, problem.keys, problem.causal, row));
}

__device__ __forceinline__ TileWork work_of(const Problem& problem, int block) {
    TileWork work;
    const int head = block / problem.row_tiles;
    work.sequence = head / problem.query_heads;
    work.head = head % problem.query_heads;
    work.kv_head = work.head / problem.group;
    work.row = block % problem.row_tiles * BM;
    const int last = min(work.row + BM, problem.queries) - 1;
    work.tiles = (key_limit(problem, last) + BN - 1) / BN;
    return work;
}

/// Shared memory, from a multiple of 1024 on.
///
/// @tparam D  head dimension: 64 or 128
template <int D>
struct Shared {
    static constexpr int kTileBytes = BM * D * 2;  // of q, k and v alike
    char q[kTileBytes];
    char k[kStages][kTileBytes];
    char v[kStages][kTileBytes];
    wb::ptx::Mbarrier q_full, k_full[kStages], k_empty[kStages];
    wb::ptx::Mbarrier v_full[kStages], v_empty[kStages];
    wb::ptx::Mbarrier scores_full[2];  ///< Q K^T of a tile is done
    wb::ptx::Mbarrier weights_full;    ///< the scores are read, the weights written
    wb::ptx::Mbarrier output_full;     ///< the products with V are done
    uint32_t columns;                  ///< address of tensor memory

    static constexpr int kBytes = kTileBytes * (1 + 2 * kStages) + 256 + 1024;
};
static_assert(BM == BN, "tiles of q, k and v have one size");
