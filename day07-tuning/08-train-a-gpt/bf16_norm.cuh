// bf16_norm.cuh: given with this exercise: the way back through a norm, with all that
// happens to its result. There is nothing to write here.
#pragma once

#include "bf16_turn.cuh"

// #region norm-call
/// out = add + other + dx, with dx what day 3, chapter 04 calls the gradient of x:
///
///     h = (x - mean) * rstd,   g = dy * gamma
///     dx = rstd * (g - mean(g) - h * mean(g * h))       means over a row
///     dgamma = sum of dy * h,   dbeta = sum of dy       sums over a column
struct NormBackward {
    uint32_t rows, columns;
    const Bf16* dy;  ///< [rows, columns]
    const Bf16* x;   ///< [rows, columns]
    const Bf16* gamma;
    const float* mean;  ///< [rows]
    const float* rstd;  ///< [rows]
    const Bf16* add;    ///< [rows, columns], or null: 0. May be out
    const Bf16* other;  ///< [rows, columns], or null: 0
    Bf16* out;          ///< [rows, columns]
    Turned turned;      ///< of out; to is null: not wanted
    /// [ceil_div(rows, kTurn), columns], rows turned.stride floats apart: sums over kTurn
    /// rows.
    float* dgamma;
    float* dbeta;
};
// #endregion norm-call

// #region norm-parts
inline constexpr int kNormThreads = 8 * kTurn;  // eight for each row
/// Tiles side by side whose numbers a block has in registers: 320 columns.
inline constexpr int kNormTiles = 5;

struct NormShared {
    TurnedTile tiles[kNormTiles];
    float parts[2][kNormThreads / wb::kWarpSize][kNormTiles * kTurn];
};

/// What a thread has of its row: numbers 8 * vector to 8 * vector + 7 of each tile.
struct NormRow {
    Eight dy[kNormTiles];
    Eight x[kNormTiles];
    Eight add[kNormTiles];

    __device__ __forceinline__ void load(const NormBackward& n,
                                         uint32_t row,
                                         uint32_t col) {
#pragma unroll
        for (uint32_t k = 0; k < kNormTiles; ++k) {
            dy[k] = x[k] = add[k] = {make_uint4(0, 0, 0, 0)};
            const uint32_t of_tile = col + k * kTurn;
            if (row >= n.rows || of_tile >= n.columns) continue;
            const uint32_t place = row * n.columns + of_tile;
            dy[k] = Eight::load(n.dy + place);
            x[k] = Eight::load(n.x + place);
            if (n.add != nullptr) add[k] = Eight::load(n.add + place);
        }
    }
};

/// Lanes l, l + 8, l + 16 and l + 24 have eight sums each, of the same columns: adds
/// the four, and gives two of the columns to each: 2 * (l / 8) and the next.
__device__ __forceinline__ float2 sum_over_four_rows(const float (&mine)[8]) {
    const bool is_high = threadIdx.x / 16 % 2 != 0;
    const bool is_odd = threadIdx.x / 8 % 2 != 0;
    float r_four[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float sent = is_high ? mine[i] : mine[4 + i];
        const float kept = is_high ? mine[4 + i] : mine[i];
        r_four[i] = kept + __shfl_xor_sync(wb::kAllLanes, sent, 16);
    }
    float r_two[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const float sent = is_odd ? r_four[i] : r_four[2 + i];
        const float kept = is_odd ? r_four[2 + i] : r_four[i];
        r_two[i] = kept + __shfl_xor_sync(wb::kAllLanes, sent, 8);
    }
    return make_float2(r_two[0], r_two[1]);
}
// #endregion norm-parts

// #region norm-backward
/// A block has kTurn rows, eight threads each: it reads them once, if they have 320
/// columns or fewer, has the row's sums from eight lanes, and the columns' sums from
/// shared memory. Only partial sums leave it: sums_kernel() adds those of all blocks,
/// in the same order always.
///
/// Launch   grid ceil_div(rows, kTurn), block kNormThreads, dynamic shared memory
///          sizeof(NormShared)
/// Traffic  reads 4 B an element, 2 B more for each of add and other; writes 2 B, and 2
///          more turned
static __global__ void __launch_bounds__(kNormThreads)
    bf16_norm_backward_kernel(const __grid_constant__ NormBackward n) {
    extern __shared__ __align__(16) unsigned char s_dynamic[];
    NormShared& shared = *reinterpret_cast<NormShared*>(s_dynamic);
    constexpr uint32_t kGroup = kNormTiles * kTurn;  // columns at a time
    const uint32_t tid = threadIdx.x;
    const uint32_t vector = tid % 8;
    const uint32_t first_row = blockIdx.x * kTurn;
    const uint32_t row = first_row + tid / 8;
    const bool is_row = row < n.rows;
    const float mean = is_row ? n.mean[row] : 0.0f;
    const float rstd = is_row ? n.rstd[row] : 0.0f;  // and all else of no row is 0
    const auto load_gamma = [&](uint32_t col, float(&gamma)[8]) {
        Eight numbers = {make_uint4(0, 0, 0, 0)};
        if (col < n.columns) numbers = Eight::load(n.gamma + col);
        numbers.unpack(gamma);
    };

    NormRow held;
    float sum_g = 0.0f;
    float sum_gh = 0.0f;
    for (uint32_t first = 0; first < n.columns; first += kGroup) {
        held.load(n, row, first + vector * 8);
#pragma unroll
        for (uint32_t k = 0; k < kNormTiles; ++k) {
            float r_dy[8];
            float r_x[8];
            float r_gamma[8];
            held.dy[k].unpack(r_dy);
            held.x[k].unpack(r_x);
            load_gamma(first + k * kTurn + vector * 8, r_gamma);
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                const float g = r_dy[i] * r_gamma[i];
                sum_g += g;
                sum_gh += g * ((r_x[i] - mean) * rstd);
            }
        }
    }
    for (int step = 1; step < 8; step *= 2) {
        sum_g += __shfl_xor_sync(wb::kAllLanes, sum_g, step);
        sum_gh += __shfl_xor_sync(wb::kAllLanes, sum_gh, step);
    }
    const float mean_g = sum_g / static_cast<float>(n.columns);
    const float mean_gh = sum_gh / static_cast<float>(n.columns);

    for (uint32_t first = 0; first < n.columns; first += kGroup) {
        if (n.columns > kGroup) {
            held.load(n, row, first + vector * 8);
            __syncthreads();  // the tiles of the group before are stored
        }
#pragma unroll
        for (uint32_t k = 0; k < kNormTiles; ++k) {
            if (first + k * kTurn >= n.columns) break;  // the whole block
            const uint32_t col = first + k * kTurn + vector * 8;
            const uint32_t place = row * n.columns + col;
            const bool is_place = is_row && col < n.columns;
            float r_dy[8];
            float r_x[8];
            float r_gamma[8];
            float r_out[8];
            held.dy[k].unpack(r_dy);
            held.x[k].unpack(r_x);
            held.add[k].unpack(r_out);
            load_gamma(col, r_gamma);
            if (n.other != nullptr && is_place) {
                float r_other[8];
                Eight::load(n.other + place).unpack(r_other);
#pragma unroll
                for (int i = 0; i < 8; ++i)
                    r_out[i] += r_other[i];
            }
            float r_dgamma[8];
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                const float h = (r_x[i] - mean) * rstd;
                r_out[i] += rstd * (r_dy[i] * r_gamma[i] - mean_g - h * mean_gh);
                r_dgamma[i] = r_dy[i] * h;
            }
            const Eight out = Eight::pack(r_out);
            if (is_place) out.store(n.out + place);
            shared.tiles[k].put(tid / 8, vector, out);
            const uint32_t of_group = k * kTurn + vector * 8 + tid % 32 / 8 * 2;
            const uint32_t warp = tid / wb::kWarpSize;
            *reinterpret_cast<float2*>(&shared.parts[0][warp][of_group]) =
                sum_over_four_rows(r_dgamma);
            *reinterpret_cast<float2*>(&shared.parts[1][warp][of_group]) =
                sum_over_four_rows(r_dy);
        }
        __syncthreads();
        if (n.turned.to != nullptr) {
            for (uint32_t i = tid; i < kNormTiles * TurnedTile::kItems;
                 i += kNormThreads) {
                const uint32_t k = i / TurnedTile::kItems;  // one of a warp
                if (first + k * kTurn >= n.columns) break;
                shared.tiles[k].store(
                    i % TurnedTile::kItems, first_row, first + k * kTurn, n.turned);
            }
        }
        for (uint32_t i = tid; i < 2 * kGroup; i += kNormThreads) {
            const uint32_t col = i % kGroup;
            if (first + col >= n.columns) continue;
            float sum = 0.0f;
#pragma unroll
            for (const auto& of_warp : shared.parts[i / kGroup])
                sum += of_warp[col];
            float* const parts = i < kGroup ? n.dgamma : n.dbeta;
            parts[size_t{blockIdx.x} * n.turned.stride + first + col] = sum;
        }
    }
}
// #endregion norm-backward
