/// simt/hopper/mbarrier.h: barriers in shared memory that count arrivals and bytes.
///
/// The 64-bit word holds the state: see async/hopper/mbarrier.h. A word that has not
/// been initialised, or was overwritten, is a fault (719); so is an arrival too many.
/// Threads of other blocks of the cluster may arrive, and announce bytes.
///
/// Source: PTX ISA, "Parallel Synchronization and Communication Instructions:
/// mbarrier".
#pragma once

#include "simt/core.h"

namespace simt::ptx {

/// The 32 bits that stand for an address of shared memory: the low half of the pointer.
inline uint32_t shared_address(const void* pointer) {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(pointer));
}

/// Makes a barrier of 1 to 2^20 - 1 arrivals a phase, in phase 0.
void mbarrier_init(uint64_t* barrier, int arrivals, SIMT_OWN_SITE);

/// Arrives once; releases what the thread did before.
void mbarrier_arrive(uint64_t* barrier, SIMT_OWN_SITE);
/// Arrives once, after announcing `bytes` bytes that TMA will write in this phase.
void mbarrier_expect(uint64_t* barrier, int bytes, SIMT_OWN_SITE);

/// Arrives `count` times.
void mbarrier_arrive_many(uint64_t* barrier, int count, SIMT_OWN_SITE);
/// Announces bytes without an arrival; counts bytes as having arrived.
void mbarrier_expect_bytes(uint64_t* barrier, int bytes, SIMT_OWN_SITE);
void mbarrier_complete_bytes(uint64_t* barrier, int bytes, SIMT_OWN_SITE);

/// Whether the phase of that parity is complete. If not, other threads run first.
bool mbarrier_try_wait(uint64_t* barrier, unsigned parity, SIMT_OWN_SITE);
/// Waits until the phase of that parity is complete: a loop of try_wait, which is
/// reported at once if it cannot end.
void mbarrier_wait(uint64_t* barrier, unsigned parity, SIMT_OWN_SITE);

/// Every access is strongly ordered here: these do nothing. The checker of simt-c++
/// --check finds where one is missing.
void mbarrier_init_fence();
void async_proxy_fence();

}  // namespace simt::ptx
