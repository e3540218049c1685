// 05_tuned_warp.cuh: what a warp of v5 does with a tile of keys and values.
#pragma once

#include <wb/ptx/exp2.h>
#include <wb/ptx/ldmatrix.h>

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "tiles.h"

/// Rows of q that a warp of v5 owns: two tiles. What ldmatrix brings of k and v is
/// multiplied with both, so that shared memory is read half as often as in v4.
constexpr int kWarpRows = 2 * kTile;

// #region v5-tiling
/// How a block of v5 is cut.
struct Tiling {
    int head_dim;
    int block_rows;  ///< of q: 32 for each warp
    int block_keys;
    int stages;          ///< tiles of k and v that are there or on their way
    int query_steps;     ///< of 16 columns of q that stay in registers; the others are
                         ///< read again for each tile of keys
    int blocks_at_once;  ///< blocks on a multiprocessor at the same time
};

/// What follows from that.
template <Tiling kTiling>
struct TileSizes {
    static constexpr int D = kTiling.head_dim;
    static constexpr int BM = kTiling.block_rows;
    static constexpr int BN = kTiling.block_keys;
    static constexpr int kStages = kTiling.stages;
    static constexpr int kQuerySteps = kTiling.query_steps;
    static constexpr int kBlocksAtOnce = kTiling.blocks_at_once;
    static_assert(BM % kWarpRows == 0, "a warp owns 32 whole rows");
    static constexpr int kThreads = BM / kWarpRows * wb::kWarpSize;
    static constexpr int kRowBytes = D * 2;
    static constexpr int kBytes = (BM + kStages * 2 * BN) * kRowBytes;
};
// #endregion v5-tiling

/// The state of a warp: 32 rows of the output, and of the softmax. In powers of 2.
template <class T, class Sizes>
class TunedWarp {
    static constexpr int D = Sizes::D;
    static constexpr int BN = Sizes::BN;
    static constexpr int kRowBytes = Sizes::kRowBytes;
    static constexpr int kSteps = D / kTile;
    static constexpr int kInRegisters = Sizes::kQuerySteps;
    using Scores = float[2][BN / 8][4];

 public:
    /// @param s_rows  the warp's rows of q
    __device__ __forceinline__ TunedWarp(const char* s_rows, int lane)
        : s_q_(s_rows), lane_(lane) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            offset_[i] = SwizzledRows<D>::offset(lane % kTile, 2 * i + lane / kTile);
        }
        // Lanes 8 to 15 and 16 to 23 change places; the same for all four.
        to_keys_ = SwizzledRows<D>::offset(lane / 16 * 8 + lane % 8, lane / 8 % 2) -
                   offset_[0];
    }

    // #region v5-address
    /// The address that this lane passes to ldmatrix for the 16x16 block at `row`, a
    /// multiple of 16, and at the columns 16 step .. 16 step + 15. Only four of the
    /// offsets differ, for the swizzle acts on 128 bytes; the rest is a constant.
    __device__ __forceinline__ const char* block(const char* s_tile,
                                                 int row,
                                                 int step) const {
        return s_tile + offset_[step % 4] + (step / 4 * 128 + row * kRowBytes);
    }

    /// The same for a block of k, with its upper right and lower left quarter swapped:
    /// mma wants the left and the right half of eight keys in neighbouring registers,
    /// or they would have to be moved there, one instruction each.
    __device__ __forceinline__ const char* key_block(const char* s_tile,
                                                     int row,
                                                     int step) const {
        return block(s_tile + to_keys_, row, step);
    }
    // #endregion v5-address

    /// Keeps the first steps of q in registers, once q is there.
    __device__ __forceinline__ void load_queries() {
#pragma unroll
        for (int step = 0; step < kInRegisters; ++step) {
#pragma unroll
            for (int i = 0; i < 2; ++i)
                wb::ptx::ldmatrix(r_q_[step][i], block(s_q_, i * kTile, step));
        }
    }

    // #region v5-scores
    /// r_s = q k^T, not scaled yet.
    __device__ __forceinline__ void score_keys(Scores& r_s, const char* s_k) const {
#pragma unroll
        for (auto& tile : r_s)
#pragma unroll
            for (auto& part : tile)
#pragma unroll
                for (float& score : part)
                    score = 0.0f;
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
            uint32_t a[2][4];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                if (step >= kInRegisters) {
                    wb::ptx::ldmatrix(a[i], block(s_q_, i * kTile, step));
                    continue;
                }
#pragma unroll
                for (int e = 0; e < 4; ++e)
                    a[i][e] = r_q_[step < kInRegisters ? step : 0][i][e];
            }
#pragma unroll
            for (int n = 0; n < BN / kTile; ++n) {
                uint32_t k[4];
                wb::ptx::ldmatrix(k, key_block(s_k, n * kTile, step));
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    multiply<T>(r_s[i][2 * n], a[i], k[0], k[1]);
                    multiply<T>(r_s[i][2 * n + 1], a[i], k[2], k[3]);
                }
            }
        }
    }
    // #endregion v5-scores

    /// Scores of keys that a row does not see become -infinity.
    /// @param visible  keys of this tile, of a row of the warp
    template <class Visible>
    __device__ __forceinline__ void hide_keys(Scores& r_s, Visible visible) const {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                const int left = visible(i * kTile + h * 8 + lane_ / 4) - lane_ % 4 * 2;
#pragma unroll
                for (int n = 0; n < BN / 8; ++n) {
                    if (n * 8 >= left) r_s[i][n][2 * h] = -INFINITY;
                    if (n * 8 + 1 >= left) r_s[i][n][2 * h + 1] = -INFINITY;
                }
            }
        }
    }

    // #region v5-base
    /// Weights are 2^(score - base), and the base is the largest score so far. Whether
    /// it grows, each lane asks of its own scores; in most tiles of a long sequence no
    /// lane of the warp says yes. Then nothing has to be shrunk, and no lane asks its
    /// neighbours.
    __device__ __forceinline__ void raise_base(const Scores& r_s, float scale) {
        float max[2][2];
        bool above = false;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                float x = fmaxf(r_s[i][0][2 * h], r_s[i][0][2 * h + 1]);
#pragma unroll
                for (int n = 1; n < BN / 8; ++n)
                    x = fmaxf(x, fmaxf(r_s[i][n][2 * h], r_s[i][n][2 * h + 1]));
                max[i][h] = x;
                above |= x * scale > base_[i][h];
            }
        }
        if (!__any_sync(wb::kAllLanes, above)) return;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                float x = max[i][h];
                x = fmaxf(x, __shfl_xor_sync(wb::kAllLanes, x, 1));
                x = fmaxf(x, __shfl_xor_sync(wb::kAllLanes, x, 2));
                const float base = fmaxf(base_[i][h], x * scale);
                const float factor = wb::ptx::exp2_approx(base_[i][h] - base);
                base_[i][h] = base;
                sum_[i][h] *= factor;
#pragma unroll
                for (auto& part : r_o_[i]) {
                    part[2 * h] *= factor;
                    part[2 * h + 1] *= factor;
                }
            }
        }
    }
    // #endregion v5-base

    // #region v5-values
    /// o += weights v. While the tensor cores multiply with the weights of 16 keys, the
    /// exponentials of the next 16 are computed: both have pipes of their own.
    __device__ __forceinline__ void add_values(Scores& r_s,
                                               const char* s_v,
                                               float scale) {
        weigh(r_s, 0, 0, 1, scale);
#pragma unroll
        for (int n = 0; n < BN / kTile; ++n) {
            uint32_t a[2][4];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    const auto& part = r_s[i][2 * n + e / 2];
                    a[i][e] = wb::ptx::pack<T>(part[e % 2 * 2], part[e % 2 * 2 + 1]);
                }
            }
#pragma unroll
            for (int step = 0; step < kSteps; ++step) {
                uint32_t v[4];
                wb::ptx::ldmatrix<true>(v, block(s_v, n * kTile, step));
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    multiply<T>(r_o_[i][2 * step], a[i], v[0], v[1]);
                    multiply<T>(r_o_[i][2 * step + 1], a[i], v[2], v[3]);
                }
                if (n + 1 < BN / kTile) weigh(r_s, n + 1, step, kSteps, scale);
            }
        }
    }
    // #endregion v5-values

    // #region v5-store
    /// Writes the warp's rows, divided by their sums, and their log-sum-exp. On the way
    /// the rows lie in shared memory, where q was, so that 16 bytes a lane are stored.
    /// @param rows  of o that exist, from here on
    __device__ __forceinline__ void store(char* s_rows, T* o, float* lse, int rows) {
        using Rows = SwizzledRows<D>;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                float sum = sum_[i][h];
                sum += __shfl_xor_sync(wb::kAllLanes, sum, 1);
                sum += __shfl_xor_sync(wb::kAllLanes, sum, 2);
                const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
                const int row = i * kTile + h * 8 + lane_ / 4;
                if (lse != nullptr && lane_ % 4 == 0 && row < rows) {
                    lse[row] = sum == 0.0f ? -INFINITY
                                           : (base_[i][h] + log2f(sum)) /
                                                 static_cast<float>(wb::kLog2e);
                }
#pragma unroll
                for (int c = 0; c < D / 8; ++c) {
                    const float(&part)[4] = r_o_[i][c];
                    char* const s = s_rows + Rows::offset(row, c) + lane_ % 4 * 4;
                    *reinterpret_cast<uint32_t*>(s) = wb::ptx::pack<T>(
                        part[2 * h] * inverse, part[2 * h + 1] * inverse);
                }
            }
        }
        __syncwarp();
        constexpr int kChunks = D / kChunk;  // of a row
#pragma unroll
        for (int i = 0; i < kWarpRows * kChunks; i += wb::kWarpSize) {
            const int row = (i + lane_) / kChunks;
            const int chunk = (i + lane_) % kChunks;
            if (row < rows) {
                *reinterpret_cast<uint4*>(o + row * D + chunk * kChunk) =
                    *reinterpret_cast<const uint4*>(s_rows + Rows::offset(row, chunk));
            }
        }
    }
    // #endregion v5-store

 private:
    /// Scores of the keys 16 n .. 16 n + 15 become weights, a part of them at a time.
    __device__ __forceinline__ void weigh(
        Scores& r_s, int n, int part, int parts, float scale) {
        constexpr int kAllOfThem = 2 * 2 * 4;
#pragma unroll
        for (int x = 0; x < kAllOfThem; ++x) {
            if (x * parts / kAllOfThem != part) continue;
            const int i = x / 8;
            float& score = r_s[i][2 * n + x / 4 % 2][x % 4];
            score = wb::ptx::exp2_approx(fmaf(score, scale, -base_[i][x % 4 / 2]));
            sum_[i][x % 4 / 2] += score;
        }
    }

    const char* s_q_;
    int lane_;
    int offset_[4];
    int to_keys_;
    uint32_t r_q_[kInRegisters > 0 ? kInRegisters : 1][2][4];
    float r_o_[2][D / 8][4] = {};
    float base_[2][2] = {{-FLT_MAX, -FLT_MAX}, {-FLT_MAX, -FLT_MAX}};
    float sum_[2][2] = {};  // of this lane's own weights
};
