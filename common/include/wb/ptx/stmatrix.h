/// wb/ptx/stmatrix.h: moving 8x8 matrices of 16-bit elements from registers to shared
/// memory (sm_90): the way back of ldmatrix.h.
///
/// Products leave a thread with pairs of neighbours of a row: 4 bytes here, 4 bytes
/// there. Stored one by one they are many small stores. stmatrix lets the lanes of a
/// warp exchange them on the way, and writes whole rows of 16 bytes. One matrix:
///
///     columns  0   1    2   3    4   5    6   7        address
///     row 0   | lane 0 | lane 1 | lane 2 | lane 3 |    of lane 0
///     row 1   | lane 4 | lane 5 | lane 6 | lane 7 |    of lane 1
///      ...
///     row 7   | lane 28| lane 29| lane 30| lane 31|    of lane 7
///
/// On the left, whose register has the elements: lane l those of row l / 4, columns
/// 2 (l % 4), in the low half, and 2 (l % 4) + 1. On the right, whose address says
/// where the row goes: lane i's, for row i. With kTranspose, rows and columns of the
/// left side change places: lane l has elements of column l / 4. Matrix m of several is
/// in r[m], and lanes 8 m to 8 m + 7 have its rows' addresses.
///
/// The accumulators of mma.m16n8k16 and wgmma have this layout, once pairs of floats
/// are rounded and packed. Of 16 rows and columns 8 j to 8 j + 7, the pair d[4 j],
/// d[4 j + 1] of each lane makes the upper matrix, d[4 j + 2], d[4 j + 3] the lower.
///
/// Rows may lie anywhere; the eight of a matrix are written without a bank conflict if
/// their addresses differ in bits 4 to 6, as the swizzle of tma.h has it.
///
/// Source: PTX ISA, "Warp-level matrix store instruction: stmatrix".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "wb/ptx/site.h"
#ifdef SIMT_CPU
#include "simt/ptx.h"
#endif

namespace wb::ptx {

/// Stores kMatrices matrices, by all 32 lanes of a warp together. What other lanes read
/// of it they may read after a __syncwarp() or a barrier. GPUs before sm_90 lack the
/// instruction: there the kernel traps.
///
/// @tparam kTranspose  whether to transpose each matrix on the way
/// @param row  lane 8 m + i passes the address of row i of matrix m, a multiple of 16
///             bytes in shared memory; the addresses of lanes >= 8 kMatrices are not
///             used
/// @param r    one register per matrix
template <bool kTranspose = false, int kMatrices>
__device__ __forceinline__ void stmatrix(void* row,
                                         const uint32_t (&r)[kMatrices] WB_PTX_SITE) {
    static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4,
                  "stmatrix stores 1, 2 or 4 matrices");
#if defined(SIMT_CPU)
    simt::ptx::stmatrix<kTranspose>(row, r WB_PTX_HERE);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(row));
    if constexpr (kMatrices == 1 && !kTranspose) {
        asm volatile(
            "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(address),
            "r"(r[0])
            : "memory");
    } else if constexpr (kMatrices == 1) {
        asm volatile(
            "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(address),
            "r"(r[0])
            : "memory");
    } else if constexpr (kMatrices == 2 && !kTranspose) {
        asm volatile(
            "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(address),
            "r"(r[0]),
            "r"(r[1])
            : "memory");
    } else if constexpr (kMatrices == 2) {
        asm volatile(
            "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(
                address),
            "r"(r[0]),
            "r"(r[1])
            : "memory");
    } else if constexpr (!kTranspose) {
        asm volatile(
            "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                address),
            "r"(r[0]),
            "r"(r[1]),
            "r"(r[2]),
            "r"(r[3])
            : "memory");
    } else {
        asm volatile(
            "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::
                "r"(address),
            "r"(r[0]),
            "r"(r[1]),
            "r"(r[2]),
            "r"(r[3])
            : "memory");
    }
#else
    __trap();
#endif
}

}  // namespace wb::ptx
