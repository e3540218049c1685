// bf16_norm.cuh: given with this exercise: norms. There is nothing to write here.
//
// A parallel layer has two norms of one x. They differ in gamma and beta only: one
// kernel is both.
#pragma once

#include "bf16_turn.cuh"

// #region norm-parts
/// Tiles side by side whose numbers eight threads have in registers: 320 columns.
inline constexpr int kNormTiles = 5;
inline constexpr uint32_t kNormGroup = kNormTiles * kTurn;

/// What one of eight threads has of its row: numbers 8 * vector to 8 * vector + 7 of
/// each tile, and 0 where there are none.
struct RowPart {
    Eight of[kNormTiles];

    /// @param col  of the first tile's numbers
    __device__ __forceinline__ void load(
        const Bf16* from, bool is_row, uint32_t row, uint32_t col, uint32_t columns) {
#pragma unroll
        for (uint32_t k = 0; k < kNormTiles; ++k) {
            of[k] = {make_uint4(0, 0, 0, 0)};
            if (is_row && col + k * kTurn < columns)
                of[k] = Eight::load(from + row * columns + col + k * kTurn);
        }
    }
};

/// The sum of eight neighbouring lanes, in all of them.
__device__ __forceinline__ float sum_of_eight(float value) {
#pragma unroll
    for (int step = 1; step < 8; step *= 2)
        value += __shfl_xor_sync(wb::kAllLanes, value, step);
    return value;
}
// #endregion norm-parts

// #region norm-forward
/// y = (x - mean) * rstd * gamma + beta, once or twice, as day 3, chapter 04 has it.
struct NormForward {
    uint32_t rows, columns;
    const Bf16* x;         ///< [rows, columns]
    const Bf16* gamma[2];  ///< [columns]
    const Bf16* beta[2];   ///< [columns]
    Bf16* y[2];            ///< [rows, columns]; the second one may be null: not wanted
    float* mean;           ///< [rows]
    float* rstd;           ///< [rows]
    float eps;
};

/// Eight threads a row, which is read once if it has 320 columns or fewer.
///
/// Launch   eight threads for each row, block kBf16Threads
/// Traffic  reads 2 B an element, writes 2 B for each y
static __global__ void __launch_bounds__(kBf16Threads)
    bf16_norm_kernel(const __grid_constant__ NormForward n) {
    const uint32_t row = thread_of_grid() / 8;
    const uint32_t mine = threadIdx.x % 8 * 8;
    const bool is_row = row < n.rows;
    const auto count = static_cast<float>(n.columns);
    RowPart x;
    float r_x[8];
    float sum = 0.0f;
    for (uint32_t first = 0; first < n.columns; first += kNormGroup) {
        x.load(n.x, is_row, row, first + mine, n.columns);
#pragma unroll
        for (const Eight& part : x.of) {
            part.unpack(r_x);
#pragma unroll
            for (const float value : r_x)
                sum += value;
        }
    }
    const float mean = sum_of_eight(sum) / count;
    float squares = 0.0f;
    for (uint32_t first = 0; first < n.columns; first += kNormGroup) {
        if (n.columns > kNormGroup) x.load(n.x, is_row, row, first + mine, n.columns);
#pragma unroll
        for (uint32_t k = 0; k < kNormTiles; ++k) {
            if (first + mine + k * kTurn >= n.columns) continue;
            x.of[k].unpack(r_x);
#pragma unroll
            for (const float value : r_x)
                squares += (value - mean) * (value - mean);
        }
    }
    const float rstd = 1.0f / sqrtf(sum_of_eight(squares) / count + n.eps);
    for (uint32_t first = 0; first < n.columns; first += kNormGroup) {
        if (n.columns > kNormGroup) x.load(n.x, is_row, row, first + mine, n.columns);
#pragma unroll
        for (uint32_t k = 0; k < kNormTiles; ++k) {
            const uint32_t col = first + mine + k * kTurn;
            if (!is_row || col >= n.columns) continue;
            x.of[k].unpack(r_x);
#pragma unroll
            for (int which = 0; which < 2; ++which) {
                if (n.y[which] == nullptr) continue;
                float r_gamma[8];
                float r_beta[8];
                Eight::load(n.gamma[which] + col).unpack(r_gamma);
                Eight::load(n.beta[which] + col).unpack(r_beta);
#pragma unroll
                for (int i = 0; i < 8; ++i)
                    r_beta[i] += (r_x[i] - mean) * rstd * r_gamma[i];
                Eight::pack(r_beta).store(n.y[which] + row * n.columns + col);
            }
        }
    }
    if (!is_row || mine != 0) return;
    n.mean[row] = mean;
    n.rstd[row] = rstd;
}
// #endregion norm-forward
