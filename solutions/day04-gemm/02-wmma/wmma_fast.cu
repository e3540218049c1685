// wmma_fast.cu: v5: tiles on their way to shared memory while others are multiplied.
#include "wmma.h"

#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch_kernel.h>

#include "block_tiles.h"
#include "tiles.h"

/// Stages of the ring: one is in use, the tiles of all others are under way.
constexpr int kStages = 4;

/// Eight warps, and 4 x 2 fragments for each. 16 bytes behind each row in shared
/// memory.
template <class T>
using SizesV5 = Sizes<T, 128, 128, 64, 32, 16>;

// #region v5-multiply
/// A warp multiplies its WM rows of A with its WN columns of B, all in shared memory.
template <class S>
__device__ __forceinline__ void multiply_stage(WarpSums<S>& sums,
                                               const Stage<S>& stage,
                                               const Place<S>& at) {
    using T = typename S::Element;
#pragma unroll
    for (int k = 0; k < S::BK; k += kDepth<T>) {
        // TODO(learner): kFragmentsM fragments of A, from the warp's rows of stage.a
        // and its columns k to k + kDepth<T> - 1; kFragmentsN fragments of B, from
        // stage.b. Load each once, with Shared::load(), and round it; then multiply
        // each with each. All loops have constant bounds: write #pragma unroll before
        // each, so that fragments are registers (about 20 lines)
        // #solution
        FragmentA<T> a[S::kFragmentsM];
        FragmentB<T> b[S::kFragmentsN];
#pragma unroll
        for (int i = 0; i < S::kFragmentsM; ++i) {
            const T* s_a = stage.a + (at.warp_row + i * kTile) * S::kPitchA + k;
            Shared::load(a[i], s_a, S::kPitchA);
            Factors::round(a[i]);
        }
#pragma unroll
        for (int j = 0; j < S::kFragmentsN; ++j) {
            const T* s_b = stage.b + k * S::kPitchB + at.warp_col + j * kTile;
            Shared::load(b[j], s_b, S::kPitchB);
            Factors::round(b[j]);
        }
#pragma unroll
        for (int i = 0; i < S::kFragmentsM; ++i) {
#pragma unroll
            for (int j = 0; j < S::kFragmentsN; ++j)
                wmma::mma_sync(sums.at[i][j], a[i], b[j], sums.at[i][j]);
        }
        // #end
    }
}
// #endregion v5-multiply

// #region v5-kernel
/// A block multiplies its rows of A with its columns of B; kRing - 1 tiles of each are
/// under way while it multiplies another one.
template <class S, int kRing, class T>
__device__ __forceinline__ void multiply_ring(Stage<S>* s_stages,  // [kRing]
                                              WarpSums<S>& sums,
                                              const Problem<T>& p,
                                              const Place<S>& at) {
    // TODO(learner): start the copies of the first kRing - 1 stages,
    // copy_stage<true>(), each of which is a group. Then, for k = 0, BK, 2 * BK, and so
    // on: wait until this stage has landed, and let all threads see it; start the
    // copies of the stage that is kRing - 1 rounds ahead, if there is one, and close a
    // group in any case; multiply_stage(). One __syncthreads() a round is enough (about
    // 16 lines)
    // #solution
    for (int s = 0; s < kRing - 1; ++s) {
        if (s * S::BK < p.K) copy_stage<true>(s_stages[s], p, at, s * S::BK);
        wb::ptx::cp_async_commit();
    }
    int used = 0;          // the stage at hand
    int free = kRing - 1;  // that of the round before
    for (int64_t k = 0; k < p.K; k += S::BK) {
        wb::ptx::cp_async_wait<kRing - 2>();
        __syncthreads();
        const int64_t ahead = k + (kRing - 1) * S::BK;
        if (ahead < p.K) copy_stage<true>(s_stages[free], p, at, ahead);
        wb::ptx::cp_async_commit();
        multiply_stage(sums, s_stages[used], at);
        free = used;
        used = used + 1 == kRing ? 0 : used + 1;
    }
    // #end
}

/// v5: a ring of stages in shared memory, filled by cp.async.
///
/// Launch   grid count_blocks<S>(M, N), block S::kThreads, kRing stages
/// Traffic  loads (BM + BN) * 2 B for BM * BN products (fp16, bf16), from L2
///
/// @tparam kBlocks  that a multiprocessor should have room for: the more, the fewer
///                  registers has a thread
template <class S, int kRing, int kBlocks, class T>
__global__ void __launch_bounds__(S::kThreads, kBlocks)
    wmma_v5_kernel(const Problem<T> p, int64_t blocks_across) {
    if constexpr (kHasFragments<T>) {
        extern __shared__ uint4 s_bytes[];
        auto* s_stages = reinterpret_cast<Stage<S>*>(s_bytes);
        const Place<S> at(blocks_across);
        WarpSums<S> sums;
        clear(sums);
        multiply_ring<S, kRing>(s_stages, sums, p, at);
        __syncthreads();  // nobody reads the stages any more: they are the way out
        const int warp = threadIdx.x / wb::kWarpSize;
        auto* s_tiles = reinterpret_cast<float*>(s_bytes);
        store_sums(sums, s_tiles + warp * kTile * kTile, p, at);
    }
}
// #endregion v5-kernel

// #region v5-launch
template <class T>
static void wmma_v5(
    const wb::GemmShape& shape, const T* A, const T* B, float* C, cudaStream_t stream) {
    using S = SizesV5<T>;
    wb::launch_kernel(wmma_v5_kernel<S, kStages, 2, T>,
                      count_blocks<S>(shape),
                      S::kThreads,
                      kStages * sizeof(Stage<S>),
                      stream,
                      Problem<T>::of(shape, A, B, C),
                      blocks_across<S>(shape));
}
// #endregion v5-launch

// #solution
#ifndef WB_VERSION_ONLY  // wmma.cu has all versions, and the contract
// #end
// #region contract
void wmma_fp16(const wb::GemmShape& shape,
               const __half* A,
               const __half* B,
               float* C,
               cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!Problem<__half>::has_work("wmma_fp16", shape, A, B, C)) return;
    wmma_v5(shape, A, B, C, stream);
}

void wmma_bf16(const wb::GemmShape& shape,
               const __nv_bfloat16* A,
               const __nv_bfloat16* B,
               float* C,
               cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (!Problem<__nv_bfloat16>::has_work("wmma_bf16", shape, A, B, C)) return;
    wmma_v5(shape, A, B, C, stream);
}

void wmma_tf32(const wb::GemmShape& shape,
               const float* A,
               const float* B,
               float* C,
               cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one
    if (!Problem<float>::has_work("wmma_tf32", shape, A, B, C)) return;
    wmma_v5(shape, A, B, C, stream);
}
// #endregion contract
// #solution
#endif
// #end
