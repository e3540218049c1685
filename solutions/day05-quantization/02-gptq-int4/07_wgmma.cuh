// 07_wgmma.cuh: v7: Hopper's wgmma. W is dequantised into registers, which are its
// first operand; rows of x come by TMA.
#pragma once

#include <cooperative_groups.h>
#include <wb/ptx/bulk.h>
#include <wb/ptx/cluster.h>
#include <wb/ptx/pipeline.h>
#include <wb/ptx/tma.h>
#include <wb/ptx/warp_specialize.h>
#include <wb/ptx/wgmma.h>
#include <wb/ptx/wgmma_fragment.h>

// #region v7-sizes
/// A block computes BM x BN elements of y, as y^T = W^T x^T: columns of W are the rows
/// of a wgmma, rows of x its columns.
///
/// @tparam BM_      rows of x: 64, 128 or 256, all of them in one wgmma
/// @tparam kGroups_ warpgroups that multiply, each 64 columns of W; one more loads
/// @tparam kStages_ of the ring
/// @tparam kShare_  blocks of a cluster, beside each other in y, that load each other's
///                  rows of x
template <int BM_, int kGroups_, int kStages_, int kShare_>
struct WideSizes {
    static constexpr int BM = BM_;
    static constexpr int kGroups = kGroups_;
    static constexpr int kStages = kStages_;
    static constexpr int kShare = kShare_;
    static constexpr int KT = 2;  ///< tiles down in a stage: 128 bytes of a row of x
    static constexpr int kTilesN = 2 * kGroups;  ///< tiles across
    static constexpr int BN = kTileColumns * kTilesN;
    static constexpr int kThreads = wb::ptx::kWarpgroup * (kGroups + 1);
    static constexpr int kXBytes = BM * wb::ptx::kSwizzleBytes;
    static constexpr bool kMovesRegisters = BM == 256;
    /// Rows of 128 bytes: a tile of W is four of them, the factors of a tile one.
    static constexpr int kTileRowsOf128 = 4;
    static constexpr int kWeightBytes =
        kTilesN * KT * kTileRowsOf128 * wb::ptx::kSwizzleBytes;
    static constexpr int kFactorBytes = kTilesN * wb::ptx::kSwizzleBytes;
    static_assert(kTilesN <= 8,
                  "factors of a stage's tile down are 1024 bytes at most");
};

/// Everything in shared memory: boxes of TMA, swizzled, see wb/ptx/tma.h.
template <class S>
struct alignas(1024) WideShared {
    unsigned char x[S::kStages][S::kXBytes];
    unsigned char weights[S::kStages][S::kWeightBytes];
    unsigned char factors[S::kStages][S::KT][1024];
    wb::ptx::Mbarrier full[S::kStages];
    wb::ptx::Mbarrier empty[S::kStages];
};
// #endregion v7-sizes

// #region v7-order
/// x in the order in which wgmma meets the rows of W. Lane q of four has rows 8 q to 8
/// q + 7 of a tile, and step s of two multiplies four of them, of which the lane's
/// first two are columns 2 q and 2 q + 1 of the step, the others 8 further on. So of
/// the tile's sixteen pairs, as a matrix of four by four, the transpose is stored.
///
/// Launch   a thread for each eight elements, block kThreadsRepack
/// Traffic  reads M K * 2 B, writes M ld * 2 B
///
/// @param ordered  [M, ld]; columns that x does not have are zeros
/// @param ld       a multiple of 32
static __global__ void __launch_bounds__(kThreadsRepack)
    order_columns_kernel(const __half* x,      // [M, K]
                         const int32_t* rows,  // [ld], or null: they are in order
                         uint4* ordered,
                         int64_t M,
                         int64_t K,
                         int64_t ld) {
#if defined(SIMT_CPU) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
    cudaTriggerProgrammaticLaunchCompletion();  // the product may start with W
#endif
    const int64_t i = int64_t{blockIdx.x} * kThreadsRepack + threadIdx.x;
    const int64_t m = i / (ld / 8);
    const int64_t k = i % (ld / 8) * 8;
    uint4 eight = {0, 0, 0, 0};
    if (m < M && rows == nullptr) {
        if (k < K) eight = *reinterpret_cast<const uint4*>(x + m * K + k);
    } else if (m < M) {
        auto* const halves = reinterpret_cast<__half*>(&eight);
        for (int j = 0; j < 8; ++j)
            if (rows[k + j] >= 0) halves[j] = x[m * K + rows[k + j]];
    }
    uint32_t pairs[4] = {eight.x, eight.y, eight.z, eight.w};
    wb::ptx::transpose_quad(pairs);
    if (m < M) ordered[i] = {pairs[0], pairs[1], pairs[2], pairs[3]};
}
// #endregion v7-order

// #region v7-place
/// What TMA is told. As a tensor, W is rows of 128 bytes: [tiles across, 4 tiles down,
/// 128]; its factors are [tiles across, groups, 128].
struct WideMaps {
    wb::ptx::TensorMap x;
    wb::ptx::TensorMap weights;
    wb::ptx::TensorMap factors;
};

/// What the kernel is told.
struct WideProblem {
    Packed w;
    __half* y;  ///< [M, N]
    int64_t M;
    int64_t N;
    int64_t down;    ///< tiles of y below each other
    int64_t across;  ///< clusters that share x, or blocks, beside each other
};

/// Where a block is in y, and which tiles down of W it multiplies.
template <class S>
struct WidePlace {
    int64_t row;   ///< of y, the first
    int64_t tile;  ///< of columns, the first; it may be one that W does not have
    int begin;     ///< first stage
    int end;       ///< behind the last
    int tiles;     ///< tiles down that hold anything

    /// @param number  of this block's tile of y
    /// @param rank    in its cluster
    /// @param parts   that the rows of W are cut into; the part is the rank, if more
    ///     than 1
    __device__ __forceinline__ WidePlace(const WideProblem& p,
                                         int64_t number,
                                         int rank,
                                         int parts)
        : row(number % p.down * S::BM), tile(number / p.down * S::kTilesN) {
        if (S::kShare > 1) tile = (number / p.down * S::kShare + rank) * S::kTilesN;
        tiles = p.w.tiles();
        const int stages = (tiles + S::KT - 1) / S::KT;
        const int part = S::kShare > 1 ? 0 : rank;
        begin = static_cast<int>(int64_t{stages} * part / parts);
        end = static_cast<int>(int64_t{stages} * (part + 1) / parts);
    }
};
// #endregion v7-place

// #region v7-produce
/// Announces a stage's bytes, and starts copying its tiles of W and their factors, one
/// box for all columns. Tiles that W does not have come as zeros.
template <class S>
__device__ __forceinline__ void load_weights(WideShared<S>& shared,
                                             const WideMaps& maps,
                                             const WideProblem& p,
                                             const WidePlace<S>& at,
                                             int s,
                                             int stage) {
    using namespace wb::ptx;
    Mbarrier* const full = &shared.full[stage];
    const auto column = static_cast<int>(at.tile);
    const int first = s * S::KT;
    const int group = p.w.group(first);
    const int next = first + 1 < at.tiles ? p.w.group(first + 1) : group;
    const int factors = group == next ? 1 : 2;
    mbarrier_expect(full, S::kXBytes + S::kWeightBytes + factors * S::kFactorBytes);
    tma_load(shared.weights[stage],
             &maps.weights,
             full,
             0,
             first * S::kTileRowsOf128,
             column,
             0);
    tma_load(shared.factors[stage][0], &maps.factors, full, 0, group, column, 0);
    if (factors == 2)
        tma_load(shared.factors[stage][1], &maps.factors, full, 0, next, column, 0);
}

/// Starts copying a stage's columns of x: all of the block's rows, or a part of them
/// for all blocks that share them. Rows that do not exist come as zeros.
template <class S>
__device__ __forceinline__ void load_x(WideShared<S>& shared,
                                       const WideMaps& maps,
                                       const WidePlace<S>& at,
                                       int s,
                                       int stage,
                                       int rank) {
    using namespace wb::ptx;
    Mbarrier* const full = &shared.full[stage];
    constexpr int kRows = S::BM / S::kShare;
    const int first = S::kShare == 1 ? 0 : rank * kRows;
    unsigned char* const to = shared.x[stage] + first * kSwizzleBytes;
    const int k = s * S::KT * kTileRows;
    const int row = static_cast<int>(at.row) + first;
    if constexpr (S::kShare == 1)
        tma_load(to, &maps.x, full, k, row, 0, 0);
    else
        tma_load_multicast(to, &maps.x, full, k, row, 0, 0, (1u << S::kShare) - 1);
}

/// The thread that loads: all stages of one tile of y. As many stages of the first tile
/// as the ring has get their part of W before x is in order.
///
/// @param ring  goes on to the next tile's first stage
template <class S>
__device__ __forceinline__ void load_stages(WideShared<S>& shared,
                                            const WideMaps& maps,
                                            const WideProblem& p,
                                            const WidePlace<S>& at,
                                            int rank,
                                            bool is_first,
                                            wb::ptx::PipelineState<S::kStages>& ring) {
    int ahead = at.begin;  // the first stage whose W has not been asked for
    if (is_first) {
        for (int i = 0; i < S::kStages && ahead < at.end; ++i)
            load_weights(shared, maps, p, at, ahead++, i);
        cudaGridDependencySynchronize();  // x is in order
    }
    for (int s = at.begin; s < at.end; ++s) {
        if (s >= ahead) {
            wb::ptx::mbarrier_wait(&shared.empty[ring.stage], ring.parity ^ 1);
            load_weights(shared, maps, p, at, s, ring.stage);
        }
        load_x(shared, maps, at, s, ring.stage, rank);
        ring.advance();
    }
}
// #endregion v7-produce

// #region v7-multiply
/// A warpgroup is done with a stage: to each block that has loaded a part of it.
template <class S>
__device__ __forceinline__ void release_stage(WideShared<S>& shared, int stage) {
    const unsigned thread = threadIdx.x % wb::ptx::kWarpgroup;
    if constexpr (S::kShare == 1) {
        if (thread == 0) wb::ptx::mbarrier_arrive(&shared.empty[stage]);
    } else {
        if (thread < S::kShare)
            wb::ptx::mbarrier_arrive_at(&shared.empty[stage], thread);
    }
}

/// A tile of W as two first operands of wgmma: this lane's two columns of it.
struct WideOperands {
    uint32_t a[2][4];

    /// @param words    of two neighbouring columns, eight rows
    /// @param factors  of them
    __device__ __forceinline__ void fill(const uint2& words, const uint2& factors) {
        uint32_t left[4];
        uint32_t right[4];
        dequantize(left, words.x, reinterpret_cast<const __half2&>(factors.x));
        dequantize(right, words.y, reinterpret_cast<const __half2&>(factors.y));
#pragma unroll
        for (int step = 0; step < 2; ++step) {
            a[step][0] = left[2 * step];
            a[step][1] = right[2 * step];
            a[step][2] = left[2 * step + 1];
            a[step][3] = right[2 * step + 1];
        }
    }
};

/// A warpgroup multiplies all stages of one tile of y. The wgmmas of a tile of W are
/// under way while the next one is dequantised.
///
/// @param unit  16 columns of the block, those of this warp
template <class S>
__device__ __forceinline__ void multiply_stages(
    WideShared<S>& shared,
    float (&sums)[S::BM / 2],
    const WideProblem& p,
    const WidePlace<S>& at,
    int unit,
    wb::ptx::PipelineState<S::kStages>& ring) {
    using namespace wb::ptx;
    const int g = threadIdx.x % wb::kWarpSize / 4;
    const int q = threadIdx.x % 4;
    const int n = unit / 2;
    const int four = unit % 2 * 4 + g / 2;  // of columns: who has the lane's two
    // Where the lane's 8 bytes of words and of factors are: in the first or second half
    // of 16.
    uint32_t words_at[S::KT];
#pragma unroll
    for (int k = 0; k < S::KT; ++k) {
        const int in_tile = (four * 4 + q) * 16;
        const int row = (n * S::KT + k) * S::kTileRowsOf128 + in_tile / kSwizzleBytes;
        words_at[k] = swizzle_128b(row, in_tile % kSwizzleBytes) + g % 2 * 8;
    }
    const uint32_t factors_at = swizzle_128b(n, four * 16) + g % 2 * 8;
#pragma unroll
    for (float& sum : sums)
        sum = 0.0f;
    WideOperands w[S::KT];
    int before = 0;
    for (int s = at.begin; s < at.end; ++s) {
        const int first = s * S::KT;
        const bool has_second = first + 1 < at.tiles;
        const int slot = has_second && p.w.group(first) != p.w.group(first + 1) ? 1 : 0;
        mbarrier_wait(&shared.full[ring.stage], ring.parity);
        const uint64_t x = wgmma_descriptor(shared_address(shared.x[ring.stage]));
#pragma unroll
        for (int k = 0; k < S::KT; ++k) {
            const uint2 words = *reinterpret_cast<const uint2*>(
                shared.weights[ring.stage] + words_at[k]);
            uint2 factors = *reinterpret_cast<const uint2*>(
                shared.factors[ring.stage][k * slot] + factors_at);
            if (k > 0 && !has_second) factors = {0, 0};  // an infinity times 0 is NaN
            w[k].fill(words, factors);
            wgmma_fence();
            wgmma<__half>(sums, w[k].a[0], x + (k * 64) / 16, true);
            wgmma<__half>(sums, w[k].a[1], x + (k * 64 + 32) / 16, true);
            wgmma_commit();
            wgmma_wait<1>();
            if (k == 0 && s > at.begin) release_stage(shared, before);
        }
        before = ring.stage;
        ring.advance();
    }
    wgmma_wait<0>();
    wgmma_keep(sums);
    if (at.end > at.begin) release_stage(shared, before);
}
// #endregion v7-multiply

// #region v7-store
/// Stores sums as they are: a lane has two neighbours of a row, eight lanes a sector.
template <class S>
__device__ __forceinline__ void store_wide(const float (&sums)[S::BM / 2],
                                           const WideProblem& p,
                                           const WidePlace<S>& at,
                                           int unit) {
    const int64_t column =
        at.tile * kTileColumns + unit * 16 + threadIdx.x % wb::kWarpSize / 4 * 2;
    const int64_t row = at.row + threadIdx.x % 4 * 2;
    if (column >= p.N) return;
#pragma unroll
    for (int j = 0; j < S::BM / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            if (row + 8 * j + e >= p.M) continue;
            *reinterpret_cast<__half2*>(p.y + (row + 8 * j + e) * p.N + column) =
                __floats2half2_rn(sums[4 * j + e], sums[4 * j + 2 + e]);
        }
    }
}

/// y = the sum of a cluster's parts, in the order of the parts: two calls give the same
/// bits. Each block adds some of the sums, and reads those of the others where they
/// are. By all threads of all blocks.
///
/// @param s_sums  [BM, BN + 4] where the ring was; whoever has sums has stored them
template <class S, class Cluster>
__device__ __forceinline__ void add_in_cluster(const Cluster& cluster,
                                               float4* s_sums,
                                               const WideProblem& p,
                                               const WidePlace<S>& at) {
    constexpr int kVectors = S::BN / 4;  // of a row
    cluster.sync();
    const auto parts = static_cast<int>(cluster.num_blocks());
    const int of_all = static_cast<int>(cluster.block_rank()) * S::kThreads +
                       static_cast<int>(threadIdx.x);
    for (int i = of_all; i < S::BM * kVectors; i += parts * S::kThreads) {
        const int64_t row = at.row + i / kVectors;
        const int64_t column = at.tile * kTileColumns + i % kVectors * 4;
        if (row >= p.M || column >= p.N) continue;
        const int place = i / kVectors * (kVectors + 1) + i % kVectors;
        float4 sum = cluster.map_shared_rank(s_sums, 0)[place];
        for (int part = 1; part < parts; ++part) {
            const float4 next = cluster.map_shared_rank(s_sums, part)[place];
            sum.x += next.x;
            sum.y += next.y;
            sum.z += next.z;
            sum.w += next.w;
        }
        store_four(p.y + row * p.N + column, sum);
    }
    cluster.sync();  // nobody's shared memory is needed after that
}
// #endregion v7-store

// #region v7-kernel
/// v7: y = x W by wgmma, whose first operand is W, dequantised in registers.
///
/// Launch   kInParts: a cluster for each tile of y, each block with a part of the rows
///          of W. Else clusters of kShare, as many as there is room for, or one for
///          each tile. Block S::kThreads; sm_90a
/// Traffic  a block reads BN / 2 B of W and BM / kShare * 2 B of x for each row of W
///          and BM BN products, from L2 for the most part; writes each element of y
///          once
template <class S, bool kInParts>
__global__ void __launch_bounds__(S::kThreads, 1)
    gptq_v7_kernel(const __grid_constant__ WideMaps maps,
                   const __grid_constant__ WideProblem p) {
#if defined(SIMT_CPU) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900)
    using namespace wb::ptx;
    extern __shared__ unsigned char s_dynamic[];
    const uint32_t past = shared_address(s_dynamic) % 1024;
    auto& shared = *reinterpret_cast<WideShared<S>*>(s_dynamic + (1024 - past) % 1024);
    const auto cluster = cooperative_groups::this_cluster();
    const auto rank = static_cast<int>(cluster.block_rank());
    const auto blocks = static_cast<int>(cluster.num_blocks());
    if (threadIdx.x == 0) {
        tma_prefetch_map(&maps.weights);
        tma_prefetch_map(&maps.factors);
        tma_prefetch_map(&maps.x);
        for (int s = 0; s < S::kStages; ++s) {
            mbarrier_init(&shared.full[s], 1);
            mbarrier_init(&shared.empty[s], S::kGroups * S::kShare);
        }
        mbarrier_init_fence();
    }
    if (S::kShare > 1)
        cluster_sync();
    else
        __syncthreads();
    const int parts = kInParts ? blocks : 1;
    const int64_t step = gridDim.x / blocks;
    const int64_t tiles = p.down * p.across;
    // Uniform, and the compiler knows it.
    const int warp = __shfl_sync(wb::kAllLanes, threadIdx.x / wb::kWarpSize, 0);
    PipelineState<S::kStages> ring;
    if (warp < 4) {
        if constexpr (S::kMovesRegisters) registers_give_back<24>();
        if (warp == 0 && elect_one()) {
            const int64_t first = blockIdx.x / blocks;
            for (int64_t tile = first; tile < tiles; tile += step) {
                const WidePlace<S> at(p, tile, rank, parts);
                load_stages<S>(shared, maps, p, at, rank, tile == first, ring);
            }
        }
        __syncwarp();
    } else {
        if constexpr (S::kMovesRegisters) registers_take<240>();
        const int unit = warp - 4;
        for (int64_t tile = blockIdx.x / blocks; tile < tiles; tile += step) {
            const WidePlace<S> at(p, tile, rank, parts);
            float sums[S::BM / 2];
            multiply_stages<S>(shared, sums, p, at, unit, ring);
            if constexpr (!kInParts) {
                store_wide<S>(sums, p, at, unit);
            } else {
                // All groups have read all stages: the ring becomes sums.
                named_barrier_sync(1, S::kGroups * kWarpgroup);
                auto* const s_sums = reinterpret_cast<float2*>(&shared) + unit * 8 +
                                     threadIdx.x % wb::kWarpSize / 4;
#pragma unroll
                for (int i = 0; i < S::BM / 4; ++i) {
                    const int row = i / 2 * 8 + threadIdx.x % 4 * 2 + i % 2;
                    s_sums[row * (S::BN / 2 + 2)] = {sums[i / 2 * 4 + i % 2],
                                                     sums[i / 2 * 4 + 2 + i % 2]};
                }
            }
        }
    }
    if constexpr (kInParts) {
        const WidePlace<S> at(p, blockIdx.x / blocks, rank, parts);
        add_in_cluster(cluster, reinterpret_cast<float4*>(&shared), p, at);
    } else if (S::kShare > 1) {
        cluster_sync();  // the other block may still arrive at this one's barriers
    }
#else
    __trap();  // gptq_matmul_v7() does not come here on an older GPU
#endif
}
// #endregion v7-kernel
