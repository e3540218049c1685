// layernorm_gptq_qkv_fast.cu: v3: each block normalises the rows that it multiplies.
#include "layernorm_gptq_qkv.h"

#include <wb/check.h>
#include <wb/exercise.h>

#include "checks.h"
#include "gather.cuh"
#include "tiles.cuh"

// #region v3-statistics
/// What each element of a row is normalised with.
struct RowNorm {
    float mean;
    float rstd;
};

/// Moments of the vectors first, first + step, ... of a row, by one lane.
///
/// @param row    [vectors] of eight halves
/// @param first  of this lane
__device__ __forceinline__ wb::Moments moments_of(const uint4* row,
                                                  int64_t first,
                                                  int64_t step,
                                                  int64_t vectors) {
    wb::Moments all = {};
    // TODO(learner): for each vector: its eight numbers, unpack_eight(); their mean, an
    // eighth of their sum; the sum of their squared distances from it. That makes
    // Moments of 8; take them together with what is known, wb::merged() (about 12
    // lines)
    return all;
}

/// Mean and rstd of each row of the block. A row has a few warps of its own, if there
/// are more warps than rows; else a warp has several rows, one after the other.
///
/// @param s_pieces  [BM + warps] shared memory
/// @param s_rows    [BM] shared memory, written; a barrier says that it is
template <class S>
__device__ __forceinline__ void measure_rows(RowNorm* s_rows,
                                             wb::Moments* s_pieces,
                                             const QkvProblem& p,
                                             const Place<S>& at) {
    constexpr int kWarps = S::kThreads / wb::kWarpSize;
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize;
    const int pieces = at.rows < kWarps ? kWarps / at.rows : 1;
    const int64_t vectors = p.hidden / 8;
    for (int i = warp; i < at.rows * pieces; i += kWarps) {
        const auto* const row =
            reinterpret_cast<const uint4*>(p.rows + (at.row + i / pieces) * p.hidden);
        const int64_t first = i % pieces * wb::kWarpSize + lane;
        const wb::Moments mine = merge_lanes(
            moments_of(row, first, int64_t{pieces} * wb::kWarpSize, vectors));
        if (lane == 0) s_pieces[i] = mine;
    }
    __syncthreads();
    for (int row = threadIdx.x; row < at.rows; row += S::kThreads) {
        wb::Moments all = s_pieces[row * pieces];
        for (int i = 1; i < pieces; ++i)
            all = wb::merged(all, s_pieces[row * pieces + i]);
        s_rows[row] = {all.mean, wb::rstd_of(all, p.eps)};
    }
    __syncthreads();
}
// #endregion v3-statistics

// #region v3-normalise
/// Eight normalised elements of a row: h = (x - mean) * rstd * weight + bias, rounded
/// once to half.
///
/// @param x, weight, bias  eight halves each
__device__ __forceinline__ uint4 normalised(uint4 x,
                                            uint4 weight,
                                            uint4 bias,
                                            RowNorm row) {
    // TODO(learner): as floats, see unpack_eight() and pack_eight() (about 9 lines)
    return x;
}
// #endregion v3-normalise

// #region v3-stage
/// A stage of chapter 02, and the weight and the bias of its columns of x.
template <class S>
struct NormStage {
    Stage<S> tiles;
    uint4 weight[Stage<S>::kChunks];
    uint4 bias[Stage<S>::kChunks];
};

/// A group starts copying a stage. Columns that do not exist become zeros.
template <class S>
__device__ __forceinline__ void copy_norm_stage(NormStage<S>& stage,
                                                const QkvProblem& p,
                                                const Place<S>& at,
                                                int tile_k) {
    copy_stage(stage.tiles, p.product, at, tile_k);
    constexpr int kChunks = Stage<S>::kChunks;
    const int chunk = threadIdx.x % S::kGroup;
    if (chunk >= kChunks) return;
    const int64_t first = int64_t{tile_k} * kTileRows + chunk * 8;
    const int bytes = first < p.product.ld && tile_k + chunk / 4 < at.end ? 16 : 0;
    if (p.weight != nullptr)
        wb::ptx::cp_async_zfill<16>(&stage.weight[chunk], p.weight + first, bytes);
    if (p.bias != nullptr)
        wb::ptx::cp_async_zfill<16>(&stage.bias[chunk], p.bias + first, bytes);
}

/// Eight elements of h for a lane. A row or columns that do not exist are zeros: not x
/// is 0 there, from which the mean would be subtracted, but h.
///
/// @param tile_k  the stage's first tile of rows of W
template <class S>
__device__ __forceinline__ uint4 eight_of(const NormStage<S>& stage,
                                          const RowNorm* s_rows,
                                          const QkvProblem& p,
                                          const Place<S>& at,
                                          int tile_k,
                                          int row,
                                          int chunk) {
    if (row >= at.rows) return {0, 0, 0, 0};
    if (int64_t{tile_k} * kTileRows + chunk * 8 >= p.product.ld) return {0, 0, 0, 0};
    constexpr uint32_t kOnes = 0x3C003C00u;  // two halves
    uint4 weight = {kOnes, kOnes, kOnes, kOnes};
    uint4 bias = {0, 0, 0, 0};
    if (p.weight != nullptr) weight = stage.weight[chunk];
    if (p.bias != nullptr) bias = stage.bias[chunk];
    return normalised(
        stage.tiles.x[row][Stage<S>::place(row, chunk)], weight, bias, s_rows[row]);
}
// #endregion v3-stage

// #region v3-kernel
/// v3: LayerNorm, unpacking and three products in one kernel. The first stages of W are
/// on their way while the block measures its rows.
///
/// Launch   grid (blocks, 1, parts), block S::kThreads. Blocks of the same columns
///          follow each other: they share W in L2
/// Traffic  reads W once for BM rows of x; x twice for BN columns of W, from L2
///
/// @tparam T  __half, if there is one part, or float
/// @param to  [parts, 3, M, hidden]
template <class S, class T>
__global__ void __launch_bounds__(S::kThreads, S::kBlocks)
    qkv_v3_kernel(const QkvProblem p, T* to, unsigned blocks_down) {
    constexpr int kWarps = S::kThreads / wb::kWarpSize;
    extern __shared__ uint4 s_bytes[];
    __shared__ wb::Moments s_pieces[S::BM + kWarps];
    __shared__ RowNorm s_rows[S::BM];
    const Place<S> at(blockIdx.x % blocks_down,
                      blockIdx.x / blocks_down,
                      static_cast<int>(blockIdx.z),
                      static_cast<int>(gridDim.z),
                      p.product);
    auto* const s_ring = reinterpret_cast<NormStage<S>*>(s_bytes) +
                         at.warp_k * S::kStages;  // of this group
    const int of_group = at.warp_k * S::KT;       // its first tile of each round
#pragma unroll
    for (int s = 0; s < S::kStages - 1; ++s) {
        const int tile = at.begin + s * S::kTilesK;
        if (tile < at.end) copy_norm_stage(s_ring[s], p, at, tile + of_group);
        wb::ptx::cp_async_commit();
    }
    measure_rows(s_rows, s_pieces, p, at);
    Sums<S> sums;
    clear(sums);
    int used = 0;
    int free = S::kStages - 1;
    for (int tile = at.begin; tile < at.end; tile += S::kTilesK) {
        wb::ptx::cp_async_wait<S::kStages - 2>();
        meet<S>();
        const int ahead = tile + (S::kStages - 1) * S::kTilesK;
        if (ahead < at.end) copy_norm_stage(s_ring[free], p, at, ahead + of_group);
        wb::ptx::cp_async_commit();
        multiply_tiles(sums, s_ring[used].tiles, at, [&](int row, int chunk) {
            return eight_of(s_ring[used], s_rows, p, at, tile + of_group, row, chunk);
        });
        free = used;
        used = used + 1 == S::kStages ? 0 : used + 1;
    }
    if (S::WK > 1) __syncthreads();  // the ring becomes sums
    const int64_t of_part = p.product.M * p.product.N;
    store_sums_to(sums,
                  reinterpret_cast<float4*>(s_bytes),
                  ToQkv<T>{to + blockIdx.z * of_part, p.product.M, p.hidden},
                  p.product,
                  at);
}
// #endregion v3-kernel

// #region v3-launch
/// For launch_qkv().
struct Fused {
    template <class S>
    using StageOf = NormStage<S>;
    template <class S, class T>
    static auto kernel() {
        return qkv_v3_kernel<S, T>;
    }
};

static void layernorm_gptq_qkv_v3(const QkvShape& shape,
                                  const QkvNorm& norm,
                                  const GptqTensors& tensors,
                                  const uint4* packed,
                                  const __half* input,
                                  __half* qkv,
                                  cudaStream_t stream) {
    const SortedRows sorted(shape, norm, tensors, packed, input, stream);
    if (shape.rows() <= 8)
        launch_qkv<Fused, Sizes<1, 1, 1, 1, 8, 2, 3, 3>, true>(
            sorted.problem(), qkv, stream);
    else
        launch_qkv<Fused, Sizes<8, 1, 1, 2, 2, 2, 3, 2>, false>(
            sorted.problem(), qkv, stream);
}
// #endregion v3-launch

// #region contract
int64_t qkv_packed_vectors(const QkvShape& shape, bool has_order) {
    return checked_packed_vectors(shape, has_order);
}

void qkv_repack(const QkvShape& shape,
                const GptqTensors& tensors,
                uint4* packed,
                unsigned long long* bad_rows,
                cudaStream_t stream) {
    checked_repack(shape, tensors, packed, bad_rows, stream);
}

void layernorm_gptq_qkv(const QkvShape& shape,
                        const QkvNorm& norm,
                        const GptqTensors& tensors,
                        const uint4* packed,
                        const __half* input,
                        __half* qkv,
                        cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODOs are written
    if (!qkv_has_work(shape, norm, tensors, packed, input, qkv)) return;
    layernorm_gptq_qkv_v3(shape, norm, tensors, packed, input, qkv, stream);
}
// #endregion contract
