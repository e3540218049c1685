/// simt/blackwell/tcgen05.h: products that accumulate in tensor memory (TMEM), 128
/// lanes of 512 columns of 32 bits.
///
/// A product is computed when somebody waits for the mbarrier that tcgen05.commit
/// named; until then its accumulator holds NaN, and operands that change are a fault.
/// Loads fill their registers at tcgen05.wait::ld, stores arrive at tcgen05.wait::st;
/// in between registers and memory hold NaN. The fences around thread synchronisation
/// do nothing: one that is missing is not found.
///
/// Source: PTX ISA, "TensorCore 5th Generation Family Instructions".
#pragma once

#include "simt/core.h"

namespace simt::ptx {

/// Allocates columns (32, 64, 128, 256 or 512) and writes their address to shared
/// memory. By all lanes of a warp; a block has 512 columns in all.
void tcgen05_alloc(uint32_t* address, int columns, SIMT_OWN_SITE);
/// Frees them; a block that ends with columns allocated is a fault.
void tcgen05_dealloc(uint32_t address, int columns, SIMT_OWN_SITE);

/// d (128 x N, float, in TMEM) = a * b (+ d) for 16-bit operands and K = 16, by one
/// thread; a in shared memory, or (`ts`) in TMEM, two elements of K in a column.
///
/// @param instruction  the instruction descriptor, for kind::f16
void tcgen05_mma_ss(uint32_t d,
                    uint64_t a,
                    uint64_t b,
                    uint32_t instruction,
                    bool accumulate,
                    SIMT_OWN_SITE);
void tcgen05_mma_ts(uint32_t d,
                    uint32_t a,
                    uint64_t b,
                    uint32_t instruction,
                    bool accumulate,
                    SIMT_OWN_SITE);
/// Lets the barrier count one arrival when the products that this thread has issued so
/// far are done.
void tcgen05_commit(uint64_t* barrier, SIMT_OWN_SITE);

inline void tcgen05_fence_before_sync() {}
inline void tcgen05_fence_after_sync() {}

namespace detail {
void tcgen05_load(uint32_t* r, int count, uint32_t address, const char* file, int line);
void tcgen05_store(
    uint32_t address, const uint32_t* r, int count, const char* file, int line);
}  // namespace detail

/// Shape .32x32b.x<kCount>: lane l of warp w loads r[i] from TMEM lane 32 (w % 4) + l,
/// column i. `address` names the first lane of the warp, which may access no others.
template <int kCount>
void tcgen05_ld(uint32_t (&r)[kCount], uint32_t address, SIMT_OWN_SITE) {
    detail::tcgen05_load(r, kCount, address, file, line);
}
template <int kCount>
void tcgen05_st(uint32_t address, const uint32_t (&r)[kCount], SIMT_OWN_SITE) {
    detail::tcgen05_store(address, r, kCount, file, line);
}
/// By whole warps, and so are the loads and stores: the lanes meet here, and those that
/// have not made the same ones, or have returned, are a fault.
void tcgen05_wait_ld(SIMT_OWN_SITE);
void tcgen05_wait_st(SIMT_OWN_SITE);

}  // namespace simt::ptx
