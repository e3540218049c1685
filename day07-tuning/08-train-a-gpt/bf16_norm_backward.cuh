// bf16_norm_backward.cuh: given with this exercise: the way back through one norm, or
// two, with all that happens to its result. There is nothing to write here.
#pragma once

#include "bf16_norm.cuh"
#include "bf16_turn.cuh"

// #region norm-call
/// out = add + dx, with dx what day 3, chapter 04 calls the gradient of x:
///
///     h = (x - mean) * rstd,   g = dy * gamma, of two norms their sum
///     dx = rstd * (g - mean(g) - h * mean(g * h))       means over a row
///     dgamma = sum of dy * h,   dbeta = sum of dy       sums over a column
///
/// @tparam kNorms  1, or 2: of the same x
template <int kNorms>
struct NormBackward {
    uint32_t rows, columns;
    const Bf16* dy[kNorms];     ///< [rows, columns]
    const Bf16* gamma[kNorms];  ///< [columns]
    const Bf16* x;              ///< [rows, columns]
    const float* mean;          ///< [rows]
    const float* rstd;          ///< [rows]
    const Bf16* add;            ///< [rows, columns], or null: 0. May be out
    Bf16* out;                  ///< [rows, columns]
    Turned turned;              ///< of out; to is null: not wanted
    /// [ceil_div(rows, kTurn), columns], rows turned.stride floats apart: sums over
    /// kTurn rows, of gamma and of beta of each norm.
    float* sums[2 * kNorms];
};
// #endregion norm-call

// #region norm-shared
inline constexpr int kNormThreads = 8 * kTurn;  // eight for each row

template <int kNorms>
struct NormShared {
    TurnedTile tiles[kNormTiles];
    float parts[2 * kNorms][kNormThreads / wb::kWarpSize][kNormGroup];
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
// #endregion norm-shared

// #region norm-backward
/// A block has kTurn rows, eight threads each: it reads them once, if they have 320
/// columns or fewer, has the row's sums from eight lanes, and the columns' sums from
/// shared memory. Only partial sums leave it: bf16_sums_kernel() adds those of all
/// blocks, in the same order always.
///
/// Launch   grid ceil_div(rows, kTurn), block kNormThreads, dynamic shared memory
///          sizeof(NormShared<kNorms>)
/// Traffic  reads 4 B an element, 2 B more for add and 2 B for a second norm; writes 2
///          B, and 2 B more turned
template <int kNorms>
static __global__ void __launch_bounds__(kNormThreads)
    bf16_norm_backward_kernel(const __grid_constant__ NormBackward<kNorms> n) {
    extern __shared__ __align__(16) unsigned char s_dynamic[];
    auto& shared = *reinterpret_cast<NormShared<kNorms>*>(s_dynamic);
    const uint32_t tid = threadIdx.x;
    const uint32_t mine = tid % 8 * 8;
    const uint32_t first_row = blockIdx.x * kTurn;
    const uint32_t row = first_row + tid / 8;
    const bool is_row = row < n.rows;
    const float mean = is_row ? n.mean[row] : 0.0f;
    const float rstd = is_row ? n.rstd[row] : 0.0f;  // and all else of no row is 0
    RowPart x;
    RowPart dy[kNorms];
    const auto load = [&](uint32_t first) {
        x.load(n.x, is_row, row, first + mine, n.columns);
#pragma unroll
        for (int which = 0; which < kNorms; ++which)
            dy[which].load(n.dy[which], is_row, row, first + mine, n.columns);
    };
    // g of the numbers in tile k, and dy of each norm.
    const auto find_g = [&](uint32_t col, uint32_t k, float(&dy_of)[kNorms][8]) {
        struct {
            float of[8];
        } g = {};
#pragma unroll
        for (int which = 0; which < kNorms; ++which) {
            dy[which].of[k].unpack(dy_of[which]);
            if (col >= n.columns) continue;
            float r_gamma[8];
            Eight::load(n.gamma[which] + col).unpack(r_gamma);
#pragma unroll
            for (int i = 0; i < 8; ++i)
                g.of[i] += dy_of[which][i] * r_gamma[i];
        }
        return g;
    };

    float sum_g = 0.0f;
    float sum_gh = 0.0f;
    float r_x[8];
    float r_dy[kNorms][8];
    for (uint32_t first = 0; first < n.columns; first += kNormGroup) {
        load(first);
#pragma unroll
        for (uint32_t k = 0; k < kNormTiles; ++k) {
            const auto g = find_g(first + mine + k * kTurn, k, r_dy);
            x.of[k].unpack(r_x);
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                sum_g += g.of[i];
                sum_gh += g.of[i] * ((r_x[i] - mean) * rstd);
            }
        }
    }
    const float mean_g = sum_of_eight(sum_g) / static_cast<float>(n.columns);
    const float mean_gh = sum_of_eight(sum_gh) / static_cast<float>(n.columns);

    for (uint32_t first = 0; first < n.columns; first += kNormGroup) {
        if (n.columns > kNormGroup) {
            load(first);
            __syncthreads();  // the tiles of the group before are stored
        }
        // The next tile's, while this one is worked on: stores may not be overtaken.
        const auto load_add = [&](uint32_t col) {
            Eight numbers = {make_uint4(0, 0, 0, 0)};
            if (n.add != nullptr && is_row && col < n.columns)
                numbers = Eight::load(n.add + row * n.columns + col);
            return numbers;
        };
        Eight next = load_add(first + mine);
#pragma unroll
        for (uint32_t k = 0; k < kNormTiles; ++k) {
            if (first + k * kTurn >= n.columns) break;  // the whole block
            const uint32_t col = first + mine + k * kTurn;
            float r_out[8];
            next.unpack(r_out);
            if (k + 1 < kNormTiles) next = load_add(col + kTurn);
            const auto g = find_g(col, k, r_dy);
            x.of[k].unpack(r_x);
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                r_x[i] = (r_x[i] - mean) * rstd;  // h
                r_out[i] += rstd * (g.of[i] - mean_g - r_x[i] * mean_gh);
            }
            const Eight out = Eight::pack(r_out);
            if (is_row && col < n.columns) out.store(n.out + row * n.columns + col);
            shared.tiles[k].put(tid / 8, tid % 8, out);
            const uint32_t of_group = mine + k * kTurn + tid % 32 / 8 * 2;
            const auto keep = [&](int which, const float(&values)[8]) {
                *reinterpret_cast<float2*>(
                    &shared.parts[which][tid / wb::kWarpSize][of_group]) =
                    sum_over_four_rows(values);
            };
#pragma unroll
            for (int which = 0; which < kNorms; ++which) {
                keep(2 * which + 1, r_dy[which]);
#pragma unroll
                for (int i = 0; i < 8; ++i)
                    r_dy[which][i] *= r_x[i];
                keep(2 * which, r_dy[which]);
            }
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
        for (uint32_t i = tid; i < 2 * kNorms * kNormGroup; i += kNormThreads) {
            const uint32_t which = i / kNormGroup;
            const uint32_t col = i - which * kNormGroup;
            if (first + col >= n.columns) continue;
            float sum = 0.0f;
#pragma unroll
            for (const auto& of_warp : shared.parts[which])
                sum += of_warp[col];
            n.sums[which][size_t{blockIdx.x} * n.turned.stride + first + col] = sum;
        }
    }
}
// #endregion norm-backward
