/// checker/safety.h: races, bounds and uninitialised reads: what happens at each event.
#pragma once

#include <vector>

#include "access.h"
#include "core/fault.h"
#include "core/observer.h"
#include "report.h"
#include "sites.h"

namespace simt::check {

void safety_launch_begins(const detail::Launch& launch);
void safety_launch_ends(const detail::Launch& launch);
void safety_block_begins(detail::Block& block);
void safety_block_ends(detail::Worker& worker, detail::Block& block);
void safety_block_synchronised(detail::Worker& worker, detail::Block& block);
void safety_cluster_begins(detail::Cluster& cluster);
void safety_cluster_synchronised(detail::Worker& worker, detail::Cluster& cluster);
void safety_cluster_arrives(const detail::Thread& thread);
void safety_cluster_passes(const detail::Thread& thread);
void safety_grid_synchronised(detail::Worker& worker);
void safety_warp_synchronised(detail::Block& block, unsigned warp, uint32_t lanes);
/// @param of_block  only the threads of its block can rely on it
void safety_fenced(detail::Worker& worker, bool of_block);
/// Whether the running thread's atomic operations have the scope of its block.
void safety_set_atomic_scope(detail::Worker& worker, bool of_block);
bool safety_atomic_scope_is_block(const detail::Worker& worker);
/// A load through the read-only cache.
void safety_read_only(detail::Worker& worker,
                      const char* address,
                      size_t bytes,
                      uint32_t site);
void safety_dependency_awaited(detail::Worker& worker);
void safety_work_begins(uint64_t number, const std::vector<uint64_t>& beside);
void safety_work_ends();
void safety_launches_divided();
void safety_shared_variable(detail::Block& block, const detail::SharedVariable& v);
void safety_allocated(const detail::Allocation& allocation);
void safety_released(const detail::Allocation& allocation);
void safety_host_wrote(const void* address, size_t bytes);
void safety_host_copied(const void* to, const void* from, size_t bytes);
/// @param site  of the call, as a read of global memory and as a write of shared memory
void safety_copy_issued(detail::Worker& worker,
                        const void* to,
                        const void* from,
                        int bytes,
                        int src_bytes,
                        uint32_t read_site,
                        uint32_t write_site);
void safety_copy_landed(detail::Worker& worker, const void* to, int bytes);
/// At the end of a block: what nobody has waited for, but has written over.
void check_copies_in_flight(detail::Worker& worker, const detail::Block& block);
/// What mbarriers and TMA do, see observer.h.
void safety_synchronises(detail::Worker& worker,
                         const void* object,
                         bool acquires,
                         bool releases);
void safety_barrier_made(detail::Worker& worker, const void* barrier, uint32_t site);
/// True if the barrier was made before, by CUDA's rules; or nobody has seen it made.
bool safety_may_use_barrier(detail::Worker& worker, const void* barrier);
/// The same for TMA and the tensor cores, which need a fence behind it.
bool safety_may_give_barrier(detail::Worker& worker, const void* barrier);
void safety_report_barrier(detail::Worker& worker,
                           const void* barrier,
                           bool writes,
                           uint32_t site,
                           Special special = Special::none);
void safety_barrier_fence(detail::Worker& worker);
/// What a warpgroup's tensor cores do, see observer.h.
uint32_t safety_product_begins(detail::Worker& worker);
bool safety_product_is_past(const detail::Worker& worker, uint32_t product);
void safety_products_done(detail::Worker& worker,
                          uint32_t product,
                          const uint32_t* read_until);
uint32_t safety_moment(const detail::Worker& worker);
/// @param product  that the access is a part of, or 0
void safety_async_access(detail::Worker& worker,
                         const void* address,
                         size_t bytes,
                         bool write,
                         uint32_t product,
                         uint32_t site);
void safety_proxy_fence(detail::Worker& worker);
void safety_async_pending(detail::Worker& worker,
                          const void* to,
                          size_t bytes,
                          bool begins);
/// True if the fault need not be printed: a finding says more.
bool safety_faulted(const detail::Launch& launch, const detail::PendingFault& fault);

/// True if an access outside of all memory has been found in the launch.
bool safety_knows_damage(const detail::Launch& launch);

/// Keeps what an access has shown to be valid, for the next one of the instruction:
/// see quick.h. To be called after check_safety().
void note_known(const Access& access, const detail::Worker& worker);

/// An access to memory that is none of a kernel's: a host pointer, or a wild one.
void check_wild_access(const Access& access, detail::Worker& worker);
/// An index, an alignment or a value that the compiler's code has found wrong.
void check_expression(Kind kind,
                      const Place& place,
                      const char* what,
                      detail::Worker& worker);
/// Memory that a kernel has allocated by malloc or new.
struct HeapBlock {
    const char* begin = nullptr;
    size_t size = 0;
};
/// The last one that begins at or before the address; none: of no bytes at null.
HeapBlock heap_block_before(const void* address);
/// True if kernels have allocated the memory by malloc or new.
bool is_heap_of_kernels(const void* address);

/// An access of host code to an address among the allocations.
void check_host_access(char* address, size_t bytes, bool write, uint32_t site);
/// True for memory that host and kernels share.
bool is_hosts_too(const void* address);
/// True if memory of kernels ever was allocated there.
bool in_device_memory(const void* address);

}  // namespace simt::check
