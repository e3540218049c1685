// 05_tile_of_keys.cuh: what one warp of paged_attention_v5 does with 16 keys: scores,
// softmax and weighted values, all of it in registers and on the tensor cores.
//
// K and V go from global memory into the registers of mma.sync, and nowhere else:
// nobody reads them twice, so shared memory would be a detour. Each load brings 16
// bytes, eight numbers of one row, but a fragment wants pairs. That does no harm:
//
//   scores   s = q k^T sums over the dimensions, in whatever order. The warp takes them
//            in the order in which the loads deliver them, of q as of k.
//   values   o^T = v^T p^T has the keys along the sum. Two rows of v in two registers,
//            (v[i][d], v[i][d + 1]) and (v[j][d], v[j][d + 1]), give with two byte
//            permutations the pairs (v[i][d], v[j][d]) and (v[i][d + 1], v[j][d + 1]).
//
// The scores leave the first product where the second wants the weights: lane l has,
// with g = l / 4 and t = l % 4, of query head g the keys 2t, 2t + 1, 2t + 8, 2t + 9.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <wb/launch.h>
#include <wb/ptx/load.h>
#include <wb/ptx/mma.h>

#include <cstdint>
#include <cstring>

namespace stream_k {

using wb::kWarpSize;

constexpr int BN = 16;        ///< keys of a tile: what one mma sums over
constexpr int kMaxHeads = 8;  ///< query heads of a warp: the columns of one mma
constexpr unsigned kAll = 0xffffffffu;

/// Two floats as a register of two bfloat16, the first in the lower half.
__device__ __forceinline__ uint32_t pack(float low, float high) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    uint32_t bits;
    memcpy(&bits, &pair, sizeof(bits));
    return bits;
}

/// One of the four registers of a 16-byte load.
__device__ __forceinline__ uint32_t word(const uint4& value, int i) {
    return i == 0 ? value.x : i == 1 ? value.y : i == 2 ? value.z : value.w;
}

/// This lane's part of 16 keys and 16 values.
template <int D>
struct Tile {
    uint4 k[2][D / 32];  ///< rows g and g + 8, dimensions 32 j + 8 t ... + 7
    uint4 v[4][D / 64];  ///< rows of value_row(), dimensions 64 c + 8 g ... + 7
};

/// This lane's part of the queries: head g, dimensions 32 j + 8 t ... + 7.
template <int D>
struct Queries {
    uint4 q[D / 32];
};

/// This lane's part of what has been summed up so far.
template <int D>
struct Rows {
    float o[D / 16][4];  ///< 4 c + w: dimensions 64 c + 8 g + 2 w (registers 0, 1)
                         ///< and + 1 (2, 3), of heads 2 t (0, 2) and 2 t + 1 (1, 3)
    float max;           ///< of the scores of head g, in powers of two
    float sum;           ///< of the weights of head g that this lane has seen
};

/// Before the first key.
template <int D>
__device__ __forceinline__ Rows<D> no_rows() {
    Rows<D> rows{};
    rows.max = -INFINITY;
    return rows;
}

/// The key that element i of this lane's values belongs to.
__device__ __forceinline__ int value_row(int t, int i) {
    return 2 * t + (i & 1) + 8 * (i >> 1);
}

/// Starts the loads of 16 rows of k. Their registers are waited for at their first use.
template <int D>
__device__ __forceinline__ void load_keys(Tile<D>& tile,
                                          const __nv_bfloat16* rows,  // [BN, D]
                                          int lane) {
    const __nv_bfloat16* const mine = rows + lane / 4 * D + lane % 4 * 8;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int j = 0; j < D / 32; ++j) {
            tile.k[half][j] = wb::ptx::load_streaming(mine + 8 * half * D + 32 * j);
        }
    }
}

/// Starts the loads of 16 rows of v.
template <int D>
__device__ __forceinline__ void load_values(Tile<D>& tile,
                                            const __nv_bfloat16* rows,  // [BN, D]
                                            int lane) {
    const __nv_bfloat16* const mine = rows + lane / 4 * 8;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int c = 0; c < D / 64; ++c) {
            tile.v[i][c] =
                wb::ptx::load_streaming(mine + value_row(lane % 4, i) * D + 64 * c);
        }
    }
}

/// x[4]: the scores of head g for this lane's four keys, times log2(e); -inf for keys
/// past the end of the sequence.
///
/// @param left  keys of the sequence from the tile's first on
template <int D>
__device__ __forceinline__ void scores(float (&x)[4],
                                       const Queries<D>& queries,
                                       const Tile<D>& tile,
                                       float scale_log2,
                                       int left,
                                       int lane) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float s[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
        for (int j = 0; j < D / 32; ++j) {
            const uint4 q = queries.q[j];
            const uint4 k = tile.k[half][j];
            // Rows 8 to 15 of the left matrix would be more query heads: zeros.
            wb::ptx::mma_m16n8k16_bf16(s, {q.x, 0u, q.y, 0u}, {k.x, k.y});
            wb::ptx::mma_m16n8k16_bf16(s, {q.z, 0u, q.w, 0u}, {k.z, k.w});
        }
        x[2 * half] = s[0] * scale_log2;
        x[2 * half + 1] = s[1] * scale_log2;
    }
    if (left < BN) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (value_row(lane % 4, i) >= left) x[i] = -INFINITY;
        }
    }
}

/// Turns scores into weights: raises the maximum and rescales what was summed up below
/// the old one, if any head of the warp has found a larger score.
template <int D>
__device__ __forceinline__ void weigh(float (&x)[4], Rows<D>& rows, int lane) {
    float max = fmaxf(fmaxf(x[0], x[1]), fmaxf(x[2], x[3]));
    max = fmaxf(max, __shfl_xor_sync(kAll, max, 1));
    max = fmaxf(max, __shfl_xor_sync(kAll, max, 2));
    if (__any_sync(kAll, max > rows.max)) {
        max = fmaxf(max, rows.max);
        const float rescale = exp2f(rows.max - max);
        rows.max = max;
        rows.sum *= rescale;
        // The sums of o belong to other heads than this lane's maximum.
        const float first = __shfl_sync(kAll, rescale, lane % 4 * 8);
        const float second = __shfl_sync(kAll, rescale, lane % 4 * 8 + 4);
#pragma unroll
        for (int i = 0; i < D / 16; ++i) {
            rows.o[i][0] *= first;
            rows.o[i][1] *= second;
            rows.o[i][2] *= first;
            rows.o[i][3] *= second;
        }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        x[i] = exp2f(x[i] - rows.max);
    }
    rows.sum += (x[0] + x[1]) + (x[2] + x[3]);
}

// #region v5-values
/// o += weights * v. The slots past the end of the sequence may hold NaN, and zero
/// times NaN is NaN: their values are replaced.
template <int D>
__device__ __forceinline__ void accumulate(
    Rows<D>& rows, Tile<D>& tile, const float (&weights)[4], int left, int lane) {
    if (left < BN) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (value_row(lane % 4, i) < left) continue;
#pragma unroll
            for (int c = 0; c < D / 64; ++c) {
                tile.v[i][c] = make_uint4(0, 0, 0, 0);
            }
        }
    }
    const uint32_t p[2] = {pack(weights[0], weights[1]), pack(weights[2], weights[3])};
#pragma unroll
    for (int c = 0; c < D / 64; ++c) {
#pragma unroll
        for (int w = 0; w < 4; ++w) {
            const uint32_t v0 = word(tile.v[0][c], w);
            const uint32_t v1 = word(tile.v[1][c], w);
            const uint32_t v2 = word(tile.v[2][c], w);
            const uint32_t v3 = word(tile.v[3][c], w);
            wb::ptx::mma_m16n8k16_bf16(rows.o[4 * c + w],
                                       {__byte_perm(v0, v1, 0x5410),
                                        __byte_perm(v0, v1, 0x7632),
                                        __byte_perm(v2, v3, 0x5410),
                                        __byte_perm(v2, v3, 0x7632)},
                                       p);
        }
    }
}
// #endregion v5-values

}  // namespace stream_k
