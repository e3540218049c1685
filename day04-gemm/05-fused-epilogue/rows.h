/// rows.h: given with this exercise: eight neighbours of a row, loaded and stored at
/// once. There is nothing to write here.
#pragma once

#include <wb/elements.h>

#include "layers.h"

/// Columns that a lane takes at once: 16 bytes of bf16.
inline constexpr int kRowPart = 8;

// #region row-part
/// Eight neighbours of a row.
struct RowPart {
    float at[kRowPart];
};

/// Calls apply(e) for each of them, unrolled.
template <class Function>
__device__ __forceinline__ void for_row_part(const Function& apply) {
#pragma unroll
    for (int e = 0; e < kRowPart; ++e)
        apply(e);
}

/// @param from     the first one's address
/// @param count    how many there are: the rest is 0
/// @param vectors  the address is a multiple of 16 bytes
__device__ __forceinline__ RowPart load_row(const __nv_bfloat16* from,
                                            int count,
                                            bool vectors) {
    RowPart part = {};
    if (vectors && count == kRowPart) {
        wb::Elements<__nv_bfloat16, kRowPart>::load(from).unpack(part.at);
        return part;
    }
#pragma unroll
    for (int e = 0; e < kRowPart; ++e)
        if (e < count) part.at[e] = __bfloat162float(from[e]);
    return part;
}

/// Rounds to the nearest bf16.
__device__ __forceinline__ void store_row(__nv_bfloat16* to,
                                          const RowPart& part,
                                          int count,
                                          bool vectors) {
    if (vectors && count == kRowPart) {
        wb::Elements<__nv_bfloat16, kRowPart>::pack(part.at).store(to);
        return;
    }
#pragma unroll
    for (int e = 0; e < kRowPart; ++e)
        if (e < count) to[e] = __float2bfloat16(part.at[e]);
}

/// Rounds to the nearest e4m3, at most 448 and at least -448.
/// @param vectors  the address is a multiple of 8 bytes
__device__ __forceinline__ void store_row(__nv_fp8_e4m3* to,
                                          const RowPart& part,
                                          int count,
                                          bool vectors) {
    if (vectors && count == kRowPart) {
        uint32_t words[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const float* const r = part.at + 4 * i;
            const uint32_t low = __nv_cvt_float2_to_fp8x2(
                make_float2(r[0], r[1]), __NV_SATFINITE, __NV_E4M3);
            const uint32_t high = __nv_cvt_float2_to_fp8x2(
                make_float2(r[2], r[3]), __NV_SATFINITE, __NV_E4M3);
            words[i] = low | high << 16;
        }
        *reinterpret_cast<uint2*>(to) = make_uint2(words[0], words[1]);
        return;
    }
#pragma unroll
    for (int e = 0; e < kRowPart; ++e)
        if (e < count) to[e] = __nv_fp8_e4m3(part.at[e]);
}
// #endregion row-part

// #region columns
/// The columns of a lane of a warp that has 32 of them: the same in all its rows.
struct Columns {
    int64_t col;  ///< the first one
    int count;    ///< that exist: 0 to 8

    template <class S>
    static __device__ __forceinline__ Columns of(const Place<S>& at, int64_t N) {
        static_assert(S::WN == 4 * kRowPart, "four lanes share a row");
        const int64_t col = at.col + at.warp_col + threadIdx.x % 4 * kRowPart;
        const int64_t left = N - col;
        return {col, left <= 0 ? 0 : left < kRowPart ? int(left) : kRowPart};
    }
};
// #endregion columns

/// What a warp's rows add to the sums of the columns, as store_part() of pairs.h.
///
/// @param sums  of this lane's rows
template <class S>
__device__ __forceinline__ void store_part(const RowPart& sums,
                                           const Columns& columns,
                                           float* g_parts,
                                           const Place<S>& at,
                                           int64_t M,
                                           int64_t N) {
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t row = at.row + at.warp_row;
#pragma unroll
    for (int e = 0; e < kRowPart; ++e) {
        const float sum = sum_over_rows(sums.at[e]);
        if (lane < 4 && row < M && e < columns.count)
            g_parts[row / S::WM * N + columns.col + e] = sum;
    }
}
