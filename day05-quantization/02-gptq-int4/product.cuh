/// product.cuh: given with this exercise: the sizes of a block, how tiles of W and rows
/// of x come to shared memory, and how sums leave the block. There is nothing to write
/// here.
#pragma once

#include <wb/device.h>
#include <wb/launch_kernel.h>
#include <wb/ptx/cp_async.h>
#include <wb/ptx/mma.h>
#include <wb/scratch.h>

#include <algorithm>
#include <optional>

#include "packed.cuh"

// #region problem
/// What a kernel is told.
struct Problem {
    Packed w;
    const __half* x;  ///< [M, ld], columns in the order of the packed rows
    int64_t M;
    int64_t N;
    int64_t ld;  ///< columns of x that exist, a multiple of 8
};
// #endregion problem

/// Refuses wrong arguments of gptq_matmul(). False if there is nothing left to do.
inline bool product_has_work(const GptqShape& s,
                             const GptqTensors& t,
                             const uint4* packed,
                             const __half* x,
                             __half* y,
                             cudaStream_t stream) {
    const GptqArguments arguments("gptq_matmul", s);
    const wb::Arguments& a = arguments.arguments();
    arguments.tensors(t);
    if (s.M == 0 || s.N == 0) return false;
    const bool has_order = t.g_idx != nullptr;
    const int64_t vectors = s.K > 0 ? packed_vectors(s, has_order) : 0;
    a.device("packed", packed, vectors)
        .device("x", x, s.M * s.K)
        .device("y", y, s.M * s.N);
    arguments.vectors("x", x);
    arguments.vectors("y", y);
    a.apart({{"tensors.qweight", t.qweight, 4 * t.qweight_words, false},
             {"tensors.qzeros", t.qzeros, 4 * t.qzeros_words, false},
             {"tensors.scales", t.scales, 2 * t.num_scales, false},
             {"tensors.g_idx", t.g_idx, 4 * t.g_idx_rows, false},
             {"packed", packed, 16 * vectors, false},
             {"x", x, 2 * s.M * s.K, false},
             {"y", y, 2 * s.M * s.N, true}});
    a.require(wb::compute_capability() >= 80,
              "the GPU's compute capability, times 10",
              wb::compute_capability(),
              "must be 80 or more: mma.m16n8k16 came with sm_80");
    if (s.K > 0) return true;
    CUDA_CHECK(cudaMemsetAsync(y, 0, static_cast<size_t>(2 * s.M * s.N), stream));
    return false;
}

/// x for the packed W: as it is, or with its columns gathered into a copy, where rows
/// of W were sorted. The copy lives as long as this.
class SortedX {
 public:
    SortedX(const GptqShape& s,
            const GptqTensors& t,
            const uint4* packed,
            const __half* x,
            cudaStream_t stream)
        : w_(Packed::of(s, t.g_idx != nullptr, packed)), x_(x), ld_(s.K) {
        if (t.g_idx == nullptr) return;
        ld_ = int64_t{w_.tiles_down} * kTileRows;
        copy_.emplace(s.M * ld_, stream);
        x_ = copy_->data();
        const unsigned blocks = wb::grid_size(s.M * ld_, kThreadsRepack);
        gather_columns_kernel<<<blocks, kThreadsRepack, 0, stream>>>(
            x, w_.rows, copy_->data(), s.M, s.K, ld_);
        CUDA_CHECK_LAUNCH();
    }

    Problem problem(const GptqShape& s) const { return {w_, x_, s.M, s.N, ld_}; }

 private:
    Packed w_;
    const __half* x_;
    int64_t ld_;
    std::optional<wb::Scratch<__half>> copy_;
};

// #region sizes
/// Columns of W are rows of the tensor core's product: it computes y^T = W^T x^T, in
/// tiles of 16 columns of W times 8 rows of x.
inline constexpr int kRowsX = 8;

/// A block computes BM x BN elements of y. Its warps are WK groups, which add up
/// different rows of W; a group has a ring of stages of its own.
///
/// @tparam MT_  tiles of 8 rows of x that a warp multiplies with each part of W
/// @tparam NT_  tiles of 32 columns of W in a warp
/// @tparam WM_, WN_, WK_  warps in each direction
/// @tparam KT_  tiles of 32 rows of W in a stage
/// @tparam kStages_  of a ring
/// @tparam kBlocks_  that a multiprocessor should have room for
template <int MT_,
          int NT_,
          int WM_,
          int WN_,
          int WK_,
          int KT_,
          int kStages_,
          int kBlocks_>
struct Sizes {
    static constexpr int MT = MT_;
    static constexpr int NT = NT_;
    static constexpr int WM = WM_;
    static constexpr int WN = WN_;
    static constexpr int WK = WK_;
    static constexpr int KT = KT_;
    static constexpr int kStages = kStages_;
    static constexpr int kBlocks = kBlocks_;
    static constexpr int BM = kRowsX * MT * WM;
    static constexpr int kTilesN = NT * WN;  // of a block
    static constexpr int kTilesK = KT * WK;  // of all groups' stages together
    static constexpr int BN = kTileColumns * kTilesN;
    static constexpr int kGroup = WM * WN * wb::kWarpSize;  // threads of a group
    static constexpr int kThreads = kGroup * WK;
    static_assert(kStages >= 2, "one is used, another one filled");
};

/// KT tiles down of W for BN columns, their factors, and the same columns of x for BM
/// rows.
template <class S>
struct Stage {
    static constexpr int kChunks = S::KT * 4;  // of 16 bytes, in a row of x

    uint4 weights[S::kTilesN][S::KT][wb::kWarpSize];
    uint4 factors[S::kTilesN][S::KT][8];
    uint4 x[S::BM][kChunks];

    /// Where a chunk of a row of x is. Two rows are read together, 64 bytes of each,
    /// and must be in different banks: if they would not be, odd rows have their halves
    /// exchanged.
    static __device__ __forceinline__ int place(int row, int chunk) {
        return S::KT % 2 == 0 ? chunk ^ row % 2 * 4 : chunk;
    }
};

/// A warp's sums: four columns of y for two of its rows in each lane, twice a tile.
template <class S>
struct Sums {
    float at[S::MT][S::NT][2][4];
};
// #endregion sizes

// #region place
/// What this block and this warp compute.
template <class S>
struct Place {
    int64_t row;   ///< the block's first, in y
    int64_t tile;  ///< its first tile of columns
    int rows;      ///< of y, that it has: 1 to BM
    int columns;   ///< tiles of columns that it has: 1 to kTilesN
    int begin;     ///< its first tile of rows of W
    int end;       ///< behind its last
    int warp_m;    ///< the warp's place in the block, in each direction
    int warp_n;
    int warp_k;

    /// @param down, across  the block's place in y
    /// @param part, parts   its part of the rows of W: whole stages
    __device__ __forceinline__ Place(
        int64_t down, int64_t across, int part, int parts, const Problem& p)
        : row(down * S::BM), tile(across * S::kTilesN) {
        rows = p.M - row < S::BM ? static_cast<int>(p.M - row) : S::BM;
        const int64_t left = p.w.tiles_across - tile;
        columns = left < S::kTilesN ? static_cast<int>(left) : S::kTilesN;
        const int tiles = p.w.tiles();
        const int stages = (tiles + S::kTilesK - 1) / S::kTilesK;
        begin = static_cast<int>(int64_t{stages} * part / parts) * S::kTilesK;
        end = static_cast<int>(int64_t{stages} * (part + 1) / parts) * S::kTilesK;
        end = end < tiles ? end : tiles;
        const int warp = threadIdx.x / wb::kWarpSize;
        warp_n = warp % S::WN;
        warp_m = warp / S::WN % S::WM;
        warp_k = warp / (S::WN * S::WM);
    }
};
// #endregion place

// #region copies
/// A group starts copying a stage. What does not exist becomes zeros: columns of y, and
/// rows of W from at.end on. Rows of x that do not exist are left as they are.
///
/// @param tile_k  its first tile of rows of W
template <class S>
__device__ __forceinline__ void copy_stage(Stage<S>& stage,
                                           const Problem& p,
                                           const Place<S>& at,
                                           int tile_k) {
    using wb::ptx::cp_async_zfill;
    const int tid = threadIdx.x % S::kGroup;
    const uint4* const g_weights =
        p.w.weights + (at.tile * p.w.tiles_down + tile_k) * wb::kWarpSize;
    constexpr int kOfTile = S::KT * wb::kWarpSize;
    constexpr int kOfWeights = S::kTilesN * kOfTile;
#pragma unroll
    for (int i = 0; i < kOfWeights; i += S::kGroup) {
        const int n = (i + tid) / kOfTile;
        const int chunk = (i + tid) % kOfTile;
        if (kOfWeights % S::kGroup != 0 && n >= S::kTilesN) break;
        const int k = chunk / wb::kWarpSize;
        const bool exists = n < at.columns && tile_k + k < at.end;
        cp_async_zfill<16>(&stage.weights[n][k][chunk % wb::kWarpSize],
                           g_weights + n * p.w.tiles_down * wb::kWarpSize + chunk,
                           exists ? 16 : 0);
    }
    const uint4* const g_factors = p.w.factors + at.tile * p.w.groups * 8;
    constexpr int kOfFactors = S::kTilesN * S::KT * 8;
#pragma unroll
    for (int i = 0; i < kOfFactors; i += S::kGroup) {
        const int n = (i + tid) / (S::KT * 8);
        const int k = (i + tid) / 8 % S::KT;
        if (kOfFactors % S::kGroup != 0 && n >= S::kTilesN) break;
        const bool exists = n < at.columns && tile_k + k < at.end;
        const int group = exists ? p.w.group(tile_k + k) : 0;
        cp_async_zfill<16>(&stage.factors[n][k][tid % 8],
                           g_factors + (n * p.w.groups + group) * 8 + tid % 8,
                           exists ? 16 : 0);
    }
    const int64_t first = int64_t{tile_k} * kTileRows;
    const __half* const g_x = p.x + at.row * p.ld + first;
    const int64_t left = p.ld - first;  // columns of x
    constexpr int kChunks = Stage<S>::kChunks;
#pragma unroll
    for (int i = 0; i < S::BM * kChunks; i += S::kGroup) {
        const int row = (i + tid) / kChunks;
        const int chunk = (i + tid) % kChunks;
        if (row >= at.rows) break;
        const bool exists = chunk * 8 < left && tile_k + chunk / 4 < at.end;
        cp_async_zfill<16>(&stage.x[row][Stage<S>::place(row, chunk)],
                           g_x + row * p.ld + chunk * 8,
                           exists ? 16 : 0);
    }
}

/// Rows of x that do not exist become zeros, once for all stages of a group. The
/// group's next barrier says that they are.
template <class S>
__device__ __forceinline__ void clear_missing_rows(Stage<S>* s_ring,
                                                   const Place<S>& at) {
    if (at.rows == S::BM) return;
    constexpr int kChunks = Stage<S>::kChunks;
    const int first = at.rows * kChunks + threadIdx.x % S::kGroup;
    for (int s = 0; s < S::kStages; ++s)
        for (int i = first; i < S::BM * kChunks; i += S::kGroup)
            s_ring[s].x[i / kChunks][i % kChunks] = {0, 0, 0, 0};
}

/// All threads of a group meet.
template <class S>
__device__ __forceinline__ void meet() {
    if constexpr (S::kGroup == wb::kWarpSize)
        __syncwarp();
    else
        __syncthreads();
}
// #endregion copies

template <class S>
__device__ __forceinline__ void clear(Sums<S>& sums) {
#pragma unroll
    for (int m = 0; m < S::MT; ++m)
#pragma unroll
        for (int n = 0; n < S::NT; ++n)
#pragma unroll
            for (int i = 0; i < 8; ++i)
                sums.at[m][n][i / 4][i % 4] = 0.0f;
}

/// Stores four neighbours of a row: as halves in y, or as floats in a part.
__device__ __forceinline__ void store_four(__half* to, const float4& four) {
    const __half2 halves[2] = {__floats2half2_rn(four.x, four.y),
                               __floats2half2_rn(four.z, four.w)};
    *reinterpret_cast<uint2*>(to) = *reinterpret_cast<const uint2*>(halves);
}
__device__ __forceinline__ void store_four(float* to, const float4& four) {
    *reinterpret_cast<float4*>(to) = four;
}

// #region sums
/// Stores the block's sums. Those of warps along K come together in shared memory, and
/// are added in the order of the warps.
///
/// @param s_sums  [WK, BM, BN + 4] shared memory that nobody uses any more; not used if
///                WK is 1
/// @param to      (row, column) of y: where it stands in memory
template <class S, class To>
__device__ __forceinline__ void store_sums_to(const Sums<S>& sums,
                                              float4* s_sums,
                                              const To& to,
                                              const Problem& p,
                                              const Place<S>& at) {
    const int lane = threadIdx.x % wb::kWarpSize;
    constexpr int kVectors = S::BN / 4;   // of a row
    constexpr int kApart = kVectors + 1;  // from a row to the next, without conflicts
#pragma unroll
    for (int m = 0; m < S::MT; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = (at.warp_m * S::MT + m) * kRowsX + lane % 4 * 2 + half;
#pragma unroll
            for (int n = 0; n < S::NT; ++n) {
                const auto& tile = sums.at[m][n];
                const int vector = (at.warp_n * S::NT + n) * 8 + lane / 4;
                const float4 four = {
                    tile[0][half], tile[0][2 + half], tile[1][half], tile[1][2 + half]};
                if (S::WK > 1) {
                    s_sums[(at.warp_k * S::BM + row) * kApart + vector] = four;
                } else {
                    const int64_t column = at.tile * kTileColumns + vector * 4;
                    if (at.row + row < p.M && column < p.N)
                        store_four(to(at.row + row, column), four);
                }
            }
        }
    }
    if constexpr (S::WK == 1) return;
    __syncthreads();
    for (int i = threadIdx.x; i < S::BM * kVectors; i += S::kThreads) {
        const int64_t row = at.row + i / kVectors;
        const int64_t column = at.tile * kTileColumns + i % kVectors * 4;
        if (row >= p.M || column >= p.N) continue;
        float4 sum = s_sums[i / kVectors * kApart + i % kVectors];
#pragma unroll
        for (int k = 1; k < S::WK; ++k) {
            const float4 next =
                s_sums[(k * S::BM + i / kVectors) * kApart + i % kVectors];
            sum.x += next.x;
            sum.y += next.y;
            sum.z += next.z;
            sum.w += next.w;
        }
        store_four(to(row, column), sum);
    }
}

/// The same for y of rows that follow each other.
/// @param g_y  [M, N]
template <class S, class T>
__device__ __forceinline__ void store_sums(
    const Sums<S>& sums, float4* s_sums, T* g_y, const Problem& p, const Place<S>& at) {
    store_sums_to(
        sums,
        s_sums,
        [&](int64_t row, int64_t column) { return g_y + row * p.N + column; },
        p,
        at);
}
// #endregion sums

// #region total
constexpr int kThreadsTotal = 256;

/// y = the sum of all parts, always in the same order: two calls give the same bits.
///
/// Launch   grid ceil_div(M N / 4, kThreadsTotal), block kThreadsTotal
/// Traffic  reads parts M N * 4 B, from L2 for the most part; writes M N * 2 B
static __global__ void __launch_bounds__(kThreadsTotal)
    add_parts_kernel(const float4* g_parts,  // [parts, vectors]
                     __half* y,              // [vectors * 4]
                     int64_t vectors,
                     int parts) {
    const int64_t i = int64_t{blockIdx.x} * kThreadsTotal + threadIdx.x;
    if (i >= vectors) return;
    float4 sum = g_parts[i];
    for (int part = 1; part < parts; ++part) {
        const float4 next = g_parts[part * vectors + i];
        sum.x += next.x;
        sum.y += next.y;
        sum.z += next.z;
        sum.w += next.w;
    }
    store_four(y + i * 4, sum);
}

/// Launches it for y of M x N elements.
inline void add_parts(
    const float* g_parts, __half* y, int64_t elements, int parts, cudaStream_t stream) {
    add_parts_kernel<<<wb::grid_size(elements / 4, kThreadsTotal),
                       kThreadsTotal,
                       0,
                       stream>>>(
        reinterpret_cast<const float4*>(g_parts), y, elements / 4, parts);
    CUDA_CHECK_LAUNCH();
}
// #endregion total
