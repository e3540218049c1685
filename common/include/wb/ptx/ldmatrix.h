/// wb/ptx/ldmatrix.h: moving 8x8 matrices of 16-bit elements from shared memory into
/// the registers that mma.sync wants (sm_75). The way back is stmatrix.h.
///
/// Of each matrix lane l holds, in one register, elements 2 (l % 4) and 2 (l % 4) + 1
/// of row l / 4; transposed, of column l / 4. Called by all 32 lanes of a warp
/// together.
///
/// Source: PTX ISA, "Warp-level matrix load instruction: ldmatrix".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "wb/ptx/site.h"
#ifdef SIMT_CPU
#include "simt/ptx.h"
#endif

namespace wb::ptx {

/// Loads kMatrices matrices.
///
/// @tparam kTranspose  whether to transpose each matrix on the way
/// @param r    one register per matrix
/// @param row  lane 8 m + i passes the address of row i of matrix m, a multiple of 16
///             bytes in shared memory; the addresses of lanes >= 8 kMatrices are not
///             used
template <bool kTranspose = false, int kMatrices>
__device__ __forceinline__ void ldmatrix(uint32_t (&r)[kMatrices],
                                         const void* row WB_PTX_SITE) {
    static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4,
                  "ldmatrix loads 1, 2 or 4 matrices");
#ifdef SIMT_CPU
    simt::ptx::ldmatrix<kTranspose>(r, row WB_PTX_HERE);
#else
    const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(row));
    if constexpr (kMatrices == 1 && !kTranspose) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                     : "=r"(r[0])
                     : "r"(address)
                     : "memory");
    } else if constexpr (kMatrices == 1) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                     : "=r"(r[0])
                     : "r"(address)
                     : "memory");
    } else if constexpr (kMatrices == 2 && !kTranspose) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(r[0]), "=r"(r[1])
                     : "r"(address)
                     : "memory");
    } else if constexpr (kMatrices == 2) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(r[0]), "=r"(r[1])
                     : "r"(address)
                     : "memory");
    } else if constexpr (!kTranspose) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(address)
                     : "memory");
    } else {
        asm volatile(
            "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
            : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
            : "r"(address)
            : "memory");
    }
#endif
}

}  // namespace wb::ptx
