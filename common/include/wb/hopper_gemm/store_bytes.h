/// wb/hopper_gemm/store_bytes.h: sums leave as numbers of 8 bits (e4m3), from
/// registers.
///
/// A thread has two neighbours of a row in each 8 columns: stored as they are, 2 bytes
/// at a time, a warp would write 8 bytes of each of 8 rows. So the four threads of a
/// row exchange theirs: each gets all of 8 columns, and together they write 32 bytes of
/// a row, a whole sector.
#pragma once

#include <cuda_fp8.h>

#include "wb/hopper_gemm/ahead.h"
#include "wb/hopper_gemm/consume.h"

namespace wb::hopper_gemm {

// #region exchange
/// Four lanes have four values each; lane t of them gets value t of each, in their
/// order. By the whole warp.
__device__ __forceinline__ void transpose_among_four(uint32_t (&r)[4]) {
    const bool is_odd = threadIdx.x % 2 != 0;
    const bool is_high = threadIdx.x / 2 % 2 != 0;
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        const uint32_t mine = is_odd ? r[i] : r[i + 1];
        const uint32_t theirs = __shfl_xor_sync(wb::kAllLanes, mine, 1);
        (is_odd ? r[i] : r[i + 1]) = theirs;
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const uint32_t mine = is_high ? r[i] : r[i + 2];
        const uint32_t theirs = __shfl_xor_sync(wb::kAllLanes, mine, 2);
        (is_high ? r[i] : r[i + 2]) = theirs;
    }
}

/// Two floats as e4m3, at most 448 and at least -448; `low` in the lower byte.
__device__ __forceinline__ uint32_t pack_e4m3(float low, float high) {
    return __nv_cvt_float2_to_fp8x2(make_float2(low, high), __NV_SATFINITE, __NV_E4M3);
}
// #endregion exchange

// #region store-bytes
/// Stores a warpgroup's sums: each thread 8 neighbours of a row at a time, 8 bytes.
/// Rows of C begin at multiples of 8 bytes, and N is a multiple of 8.
template <class S, class Epilogue>
__device__ __forceinline__ void store_bytes(const Problem& p,
                                            const typename Epilogue::Params& params,
                                            const Place& at,
                                            int group,
                                            const Sums<S>& sums) {
    auto* const C = static_cast<unsigned char*>(p.C);
    const int lane = threadIdx.x % wb::kWarpSize;
    const int warp = threadIdx.x / wb::kWarpSize % 4;
#pragma unroll
    for (int i = 0; i < S::kRowBlocks; ++i) {
        const int row =
            at.row + group * S::kGroupRows + i * kWgmmaRows + warp * 16 + lane / 4;
        Epilogue epilogue(params, p, row);
        const int in_row = lane % 4 * 2;
        auto next = fetch_columns<4>(epilogue, at.col + in_row);
#pragma unroll
        for (int j = 0; j < S::BN / 8; j += 4) {
            const auto ahead = next;
            if (j + 4 < S::BN / 8)
                next = fetch_columns<4>(epilogue, at.col + (j + 4) * 8 + in_row);
            uint32_t r[4];  // of four times 8 columns, a pair of each of two rows
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                float x[4];
#pragma unroll
                for (int e = 0; e < 4; ++e)
                    x[e] = sums.d[i][4 * (j + k) + e];
                epilogue.apply(x, at.col + (j + k) * 8 + in_row, ahead.of[k]);
                r[k] = pack_e4m3(x[0], x[1]) | pack_e4m3(x[2], x[3]) << 16;
            }
            transpose_among_four(r);
            const int col = at.col + (j + lane % 4) * 8;
            if (col >= p.N) continue;
            const uint2 upper = {__byte_perm(r[0], r[1], 0x5410),
                                 __byte_perm(r[2], r[3], 0x5410)};
            const uint2 lower = {__byte_perm(r[0], r[1], 0x7632),
                                 __byte_perm(r[2], r[3], 0x7632)};
            unsigned char* const g_row = C + row * p.ldc + col;
            if (row < p.M) *reinterpret_cast<uint2*>(g_row) = upper;
            if (row + 8 < p.M) *reinterpret_cast<uint2*>(g_row + 8 * p.ldc) = lower;
        }
        epilogue.finish();
    }
}
// #endregion store-bytes

}  // namespace wb::hopper_gemm
