// wmma_tiles.h: given with this exercise: what v1 keeps in shared memory, and its
// softmax there.
#pragma once

#include <mma.h>
#include <wb/online_softmax.h>

#include "tiles.h"

/// Keys that a block of v1 works on at a time.
inline constexpr int BN_V1 = 32;

/// The type of the fragments. GPUs before sm_80 have none of bfloat16: no kernel of
/// this chapter is launched there, but it has to compile.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
template <class T>
using Factor = __half;
#else
template <class T>
using Factor = T;
#endif

/// A tile of 16x16 numbers of each of the three roles in c += a * b, spread over a
/// warp. Who holds what is nobody's business: that is the idea of WMMA.
template <class E>
using FragmentA = nvcuda::wmma::
    fragment<nvcuda::wmma::matrix_a, 16, 16, 16, E, nvcuda::wmma::row_major>;
template <class E, class Order>
using FragmentB = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, E, Order>;
using FragmentC = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float>;

// #region v1-shared
/// Shared memory of a block of v1. Each row has 16 bytes more than it needs, so that
/// the rows of a tile begin in different banks.
template <class E, int D>
struct SharedV1 {
    E q[BM][D + 8];
    E k[BN_V1][D + 8];
    E v[BN_V1][D + 8];
    float scores[BM][BN_V1 + 4];
    E weights[BM][BN_V1 + 8];
    float o[BM][D + 4];
};
// #endregion v1-shared

/// Rows of D numbers with 16 bytes between them, for copy_rows.
template <int D>
struct PaddedRows {
    static __device__ __forceinline__ int offset(int row, int chunk) {
        return row * (D * 2 + 16) + chunk * 16;
    }
};

/// What a lane of v1 knows of the row that it shares with its neighbour.
struct RowState {
    float max = -INFINITY;  ///< of the scores, the same in both lanes
    float sum = 0.0f;       ///< of the weights that this lane has computed
};

// #region v1-softmax
/// One step of the online softmax for the 16 rows of a warp, two lanes to a row: scores
/// become weights, and the rows of o shrink if a new maximum turns up.
///
/// @param s        shared memory of the block
/// @param row      of this lane, among those of the block
/// @param visible  keys of this tile that the row sees; may be <= 0
template <class E, int D>
__device__ void softmax_v1(
    SharedV1<E, D>& s, RowState& state, int row, int visible, float scale) {
    constexpr int kColumns = BN_V1 / 2;  // of a lane
    const int half = static_cast<int>(threadIdx.x % 2);
    const int first = half * kColumns;
    float* const scores = &s.scores[row][first];
    float max = state.max;
    for (int c = 0; c < kColumns; ++c) {
        if (first + c < visible) max = fmaxf(max, scale * scores[c]);
    }
    max = fmaxf(max, __shfl_xor_sync(wb::kAllLanes, max, 1));
    const float factor = wb::softmax_rescale(state.max, max);
    state.max = max;
    state.sum *= factor;
    for (int c = 0; c < kColumns; ++c) {
        const float weight = first + c < visible ? expf(scale * scores[c] - max) : 0.0f;
        state.sum += weight;
        s.weights[row][first + c] = static_cast<E>(weight);
    }
    for (int d = half; d < D; d += 2)
        s.o[row][d] *= factor;
}
// #endregion v1-softmax

/// Writes a lane's half of a row of o, divided by the sum, and the log-sum-exp.
/// @param row  of this lane, among those of the block
template <class T, class E, int D>
__device__ void store_v1(const SharedV1<E, D>& s,
                         const RowState& state,
                         int row,
                         const Problem<T>& p,
                         const BlockWork<T, D>& work) {
    const float sum = state.sum + __shfl_xor_sync(wb::kAllLanes, state.sum, 1);
    if (work.first_row + row >= p.queries) return;
    const int half = static_cast<int>(threadIdx.x % 2);
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    const int64_t g_row = work.g_row + row;
    for (int d = half; d < D; d += 2)
        p.o[g_row * D + d] = static_cast<T>(s.o[row][d] * inverse);
    if (half == 0 && p.lse != nullptr) p.lse[g_row] = state.max + logf(sum);
}
