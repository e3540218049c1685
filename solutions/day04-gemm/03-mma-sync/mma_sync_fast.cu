// mma_sync_fast.cu: v4: swizzled tiles, on their way while others are multiplied.
#include "mma_sync.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch_kernel.h>
#include <wb/ptx/ldmatrix.h>

#include "block_tiles.h"
#include "tiles.h"

// #region v4-swizzle
/// Rows in shared memory without gaps, their chunks in another order in each row, so
/// that any eight rows below each other have a chunk in different banks.
///
/// @tparam kChunks  of a row: 4, or a multiple of 8
template <int kChunks>
struct Swizzled {
    static constexpr int kRowBytes = kChunks * kChunkBytes;
    static_assert(kChunks == 4 || kChunks % 8 == 0, "rows of 64 or n * 128 bytes");

    /// Where a chunk is, in bytes from the tile's beginning.
    static __device__ __forceinline__ int offset(int row, int chunk) {
        // TODO(learner): a row of 8 chunks or more goes through all banks: chunk ^ x,
        // with an x that differs in each of 8 rows. Rows of 4 chunks: two of them go
        // through all banks. Which x has each pair of rows? (about 2 lines)
        // #solution
        const int x = kChunks == 4 ? row / 2 % 4 : row % 8;
        return row * kRowBytes + (chunk ^ x) * kChunkBytes;
        // #end
        // #starter return row * kRowBytes + chunk * kChunkBytes;
    }
};
// #endregion v4-swizzle

/// Eight warps, and 64 x 32 sums for each.
template <class T>
using SizesV4 = Sizes<T, 128, 128, 64, 32, Swizzled>;

/// Stages of the ring: one is in use, the tiles of all others are under way.
constexpr int kStagesV4 = 3;

// #region v4-multiply
/// What a warp needs for a step of 16 along K.
template <class S>
struct Fragments {
    uint32_t a[S::kTilesM][4];
    uint32_t b[S::kTilesN][2];
};

/// Loads the fragments of a step; k is a multiple of 16, less than BK.
template <class S>
__device__ __forceinline__ void load_step(Fragments<S>& f,
                                          const Stage<S>& stage,
                                          const Place<S>& at,
                                          int k) {
    const int lane = threadIdx.x % wb::kWarpSize;
    const int row_a = at.warp_row + lane % 16;
#pragma unroll
    for (int i = 0; i < S::kTilesM; ++i) {
        const int chunk = k / kChunk + lane / 16;
        wb::ptx::ldmatrix(f.a[i],
                          stage.a + S::RowsA::offset(row_a, chunk) +
                              i * kTileM * S::RowsA::kRowBytes);
    }
#pragma unroll
    for (int j = 0; j < S::kTilesN; j += 2) {
        const int chunk = (at.warp_col + j * kTileN) / kChunk + lane / 16;
        uint32_t b[4];
        wb::ptx::ldmatrix<true>(
            b, stage.b + S::RowsB::offset(lane % 16, chunk) + k * S::RowsB::kRowBytes);
        f.b[j][0] = b[0];
        f.b[j][1] = b[1];
        f.b[j + 1][0] = b[2];
        f.b[j + 1][1] = b[3];
    }
}

/// Multiplies each fragment of A with each of B.
template <class S>
__device__ __forceinline__ void multiply_step(WarpSums<S>& sums,
                                              const Fragments<S>& f) {
#pragma unroll
    for (int i = 0; i < S::kTilesM; ++i) {
#pragma unroll
        for (int j = 0; j < S::kTilesN; ++j)
            multiply_add<typename S::Element>(sums.at[i][j], f.a[i], f.b[j]);
    }
}
// #endregion v4-multiply

// #region v4-ring
/// A block multiplies its rows of A with its columns of B; kStages - 1 tiles of each
/// are under way while it multiplies another one.
///
/// @tparam kStages  >= 2
template <int kStages, class S, class T>
__device__ __forceinline__ void multiply_ring(Stage<S>* s_stages,  // [kStages]
                                              WarpSums<S>& sums,
                                              const Problem<T>& p,
                                              const Place<S>& at) {
    static_assert(kStages >= 2, "one is used while another is filled");
    // TODO(learner): start the copies of the first kStages - 1 stages, from at.k_begin
    // on, with copy_stage<true>(); each is a group. Then, for k = at.k_begin, BK more,
    // and so on, while k < at.k_end: wait until this stage has landed, and let all
    // threads see it; start the copies of the stage that is kStages - 1 rounds ahead,
    // if there is one, and close a group in any case; for each step of the stage,
    // load_step() and multiply_step(). One __syncthreads() a round is enough (about 20
    // lines)
    // #solution
    for (int s = 0; s < kStages - 1; ++s) {
        const int64_t k = at.k_begin + s * S::BK;
        if (k < at.k_end) copy_stage<true>(s_stages[s], p, at, k);
        wb::ptx::cp_async_commit();
    }
    int used = 0;            // the stage at hand
    int free = kStages - 1;  // that of the round before
    for (int64_t k = at.k_begin; k < at.k_end; k += S::BK) {
        wb::ptx::cp_async_wait<kStages - 2>();
        __syncthreads();
        const int64_t ahead = k + (kStages - 1) * S::BK;
        if (ahead < at.k_end) copy_stage<true>(s_stages[free], p, at, ahead);
        wb::ptx::cp_async_commit();
#pragma unroll
        for (int step = 0; step < S::BK; step += kTileK) {
            Fragments<S> fragments;
            load_step(fragments, s_stages[used], at, step);
            multiply_step(sums, fragments);
        }
        free = used;
        used = used + 1 == kStages ? 0 : used + 1;
    }
    // #end
}
// #endregion v4-ring

// #region v4-kernel
/// v4: a ring of stages in shared memory, filled by cp.async.
///
/// Launch   grid count_blocks<S>(shape), block S::kThreads, kStages stages
/// Traffic  loads (BM + BN) * 2 B for BM * BN products, from L2
///
/// @tparam kBlocks  that a multiprocessor should have room for: the more, the fewer
///                  registers has a thread
template <class S, int kStages, int kBlocks, class T>
__global__ void __launch_bounds__(S::kThreads, kBlocks)
    mma_sync_v4_kernel(const Problem<T> p, int64_t blocks_across) {
    extern __shared__ uint4 s_bytes[];
    auto* s_stages = reinterpret_cast<Stage<S>*>(s_bytes);
    const Place<S> at(blockIdx.x / blocks_across, blockIdx.x % blocks_across, p.K);
    WarpSums<S> sums;
    clear(sums);
    multiply_ring<kStages>(s_stages, sums, p, at);
    store_sums(sums, p.C, p.ldc, p.M, p.N, p.pairs_c, at);
}
// #endregion v4-kernel

// #region v4-launch
template <class T>
static void mma_sync_v4(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream) {
    using S = SizesV4<T>;
    wb::launch_kernel(mma_sync_v4_kernel<S, kStagesV4, 2, T>,
                      count_blocks<S>(shape),
                      S::kThreads,
                      kStagesV4 * sizeof(Stage<S>),
                      stream,
                      Problem<T>::of(shape, A, B, C),
                      blocks_across<S>(shape));
}
// #endregion v4-launch

// #solution
#ifndef WB_VERSION_ONLY  // mma_sync.cu has all versions, and the contract
// #end
// #region contract
void mma_sync_fp16(const wb::GemmShape& shape,
                   const __half* A,
                   const __half* B,
                   float* C,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!Problem<__half>::has_work("mma_sync_fp16", shape, A, B, C)) return;
    mma_sync_v4(shape, A, B, C, stream);
}

void mma_sync_bf16(const wb::GemmShape& shape,
                   const __nv_bfloat16* A,
                   const __nv_bfloat16* B,
                   float* C,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (!Problem<__nv_bfloat16>::has_work("mma_sync_bf16", shape, A, B, C)) return;
    mma_sync_v4(shape, A, B, C, stream);
}
// #endregion contract
// #solution
#endif
// #end
