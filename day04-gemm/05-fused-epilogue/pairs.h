/// pairs.h: given with this exercise: how sums lie in a warp's registers, and how two
/// neighbours of a row are loaded and stored. There is nothing to write here.
#pragma once

#include <wb/check.h>
#include <wb/scratch.h>

#include "product.h"

// #region pair
/// Two neighbours of a row.
struct Pair {
    float left;
    float right;
};

/// Where a pair is in the output.
struct PairPlace {
    int64_t row;
    int64_t col;    ///< of the left one
    bool is_whole;  ///< the right one exists, too; else it must not be touched
    int slot;       ///< of the pairs that the lane has in a row, which: [0, kTilesN)
};

/// @param from      the left one's address
/// @param is_whole  false: the right one is 0
/// @param aligned   the address is a multiple of 4 bytes
__device__ __forceinline__ Pair load_pair(const __nv_bfloat16* from,
                                          bool is_whole,
                                          bool aligned) {
    if (aligned && is_whole) {
        const float2 both =
            __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(from));
        return {both.x, both.y};
    }
    return {__bfloat162float(from[0]), is_whole ? __bfloat162float(from[1]) : 0.0f};
}

/// Rounds a pair to the nearest bf16, and stores it.
__device__ __forceinline__ void store_pair(__nv_bfloat16* to,
                                           Pair pair,
                                           bool is_whole,
                                           bool aligned) {
    if (aligned && is_whole) {
        *reinterpret_cast<__nv_bfloat162*>(to) =
            __floats2bfloat162_rn(pair.left, pair.right);
        return;
    }
    to[0] = __float2bfloat16(pair.left);
    if (is_whole) to[1] = __float2bfloat16(pair.right);
}

/// Rounds a pair to the nearest e4m3, at most 448 and at least -448, and stores it.
/// @param aligned  the address is a multiple of 2 bytes
__device__ __forceinline__ void store_pair(__nv_fp8_e4m3* to,
                                           Pair pair,
                                           bool is_whole,
                                           bool aligned) {
    if (aligned && is_whole) {
        *reinterpret_cast<__nv_fp8x2_storage_t*>(to) = __nv_cvt_float2_to_fp8x2(
            make_float2(pair.left, pair.right), __NV_SATFINITE, __NV_E4M3);
        return;
    }
    to[0] = __nv_fp8_e4m3(pair.left);
    if (is_whole) to[1] = __nv_fp8_e4m3(pair.right);
}
// #endregion pair

// #region for-pairs
/// Gives each pair of sums of this lane to apply(PairPlace, Pair). Those of a row that
/// are next to each other are in neighbouring lanes.
template <class S, class Function>
__device__ __forceinline__ void for_pairs(const WarpSums<S>& sums,
                                          const Place<S>& at,
                                          int64_t M,
                                          int64_t N,
                                          const Function& apply) {
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t first_row = at.row + at.warp_row + lane / 4;
    const int64_t first_col = at.col + at.warp_col + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < S::kTilesM; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int64_t row = first_row + i * kTileM + half * 8;
            if (row >= M) continue;
#pragma unroll
            for (int j = 0; j < S::kTilesN; ++j) {
                const int64_t col = first_col + j * kTileN;
                if (col >= N) continue;
                const float* const r_pair = &sums.at[i][j][2 * half];
                apply(PairPlace{row, col, col + 1 < N, j}, Pair{r_pair[0], r_pair[1]});
            }
        }
    }
}
// #endregion for-pairs

// #region reductions
/// *amax becomes at least the largest of a warp's numbers, of which none is negative.
/// As unsigned numbers, the bits of such floats are in the same order, and those of NaN
/// are above all. Called by all lanes of the warp.
///
/// @param largest  of this lane, or NaN
__device__ __forceinline__ void raise_amax(float* amax, float largest) {
    unsigned bits = __float_as_uint(fabsf(largest));
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2)
        bits = max(bits, __shfl_xor_sync(wb::kAllLanes, bits, apart));
    if (threadIdx.x % wb::kWarpSize == 0)
        atomicMax(reinterpret_cast<unsigned*>(amax), bits);
}

/// The larger of a largest number so far and |value|; NaN if one of them is NaN.
__device__ __forceinline__ float larger(float largest, float value) {
    return __uint_as_float(
        max(__float_as_uint(largest), __float_as_uint(value) & 0x7FFFFFFFu));
}

/// Adds what the lanes with the same lane % 4 have: lanes 0 to 3 get the sums of the
/// warp's rows, always in the same order. Called by all lanes of the warp.
__device__ __forceinline__ float sum_over_rows(float value) {
#pragma unroll
    for (int apart = 16; apart >= 4; apart /= 2)
        value += __shfl_down_sync(wb::kAllLanes, value, apart);
    return value;
}
// #endregion reductions

/// What a warp's rows add to the sums of the columns: a row of g_parts for each warp.
/// Called by all lanes of the warp.
///
/// @param columns  the sums of this lane's rows, of each pair that it has in a row
/// @param g_parts  [ceil_div(M, WM), N]
template <class S>
__device__ __forceinline__ void store_part(const Pair (&columns)[S::kTilesN],
                                           float* g_parts,
                                           const Place<S>& at,
                                           int64_t M,
                                           int64_t N) {
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t row = at.row + at.warp_row;
#pragma unroll
    for (int j = 0; j < S::kTilesN; ++j) {
        const float left = sum_over_rows(columns[j].left);
        const float right = sum_over_rows(columns[j].right);
        const int64_t col = at.col + at.warp_col + j * kTileN + lane * 2;
        float* const g_part = g_parts + row / S::WM * N;
        if (lane < 4 && row < M && col < N) g_part[col] = left;
        if (lane < 4 && row < M && col + 1 < N) g_part[col + 1] = right;
    }
}

constexpr int kThreadsOfColumns = 256;

/// dbias[k] = the sum of its parts, always in the same order.
///
/// @param g_parts  [parts, K]
///
/// Launch   grid ceil_div(K, kThreadsOfColumns), block kThreadsOfColumns
template <class T>  // float: so that two files may have this kernel
__global__ void __launch_bounds__(kThreadsOfColumns)
    add_parts_kernel(const float* g_parts, T* dbias, int64_t parts, int64_t K) {
    const int64_t k = int64_t{blockIdx.x} * kThreadsOfColumns + threadIdx.x;
    if (k >= K) return;
    float sum = 0.0f;
#pragma unroll 32  // so many loads are on their way at a time
    for (int64_t part = 0; part < parts; ++part)
        sum += g_parts[part * K + k];
    dbias[k] = sum;
}

/// Has launch(g_parts) write parts of dbias, one for each `rows` rows, and adds them;
/// where no dbias is wanted, g_parts is null.
template <class Function>
void with_parts(const LinearShape& s,
                int rows,
                float* dbias,
                cudaStream_t stream,
                Function launch) {
    if (dbias == nullptr) return launch(nullptr);
    const int64_t parts = wb::ceil_div(s.M, int64_t{rows});
    const wb::Scratch<float> g_parts(parts * s.K, stream);
    launch(g_parts.data());
    add_parts_kernel<<<wb::grid_size(s.K, kThreadsOfColumns),
                       kThreadsOfColumns,
                       0,
                       stream>>>(g_parts.data(), dbias, parts, s.K);
    CUDA_CHECK_LAUNCH();
}
