/// simt/cluster.h: thread block clusters, what a kernel sees of its own.
///
/// A launch without clusters counts as one whose clusters have one block each.
#pragma once

#include "core.h"

namespace simt::detail {

/// Blocks of a cluster in each direction.
dim3 cluster_dim();
/// The calling block's place in its cluster; its number there, x fastest.
uint3 cluster_block_index();
unsigned cluster_block_rank();
/// The calling block's cluster among those of the grid.
uint3 cluster_index();
/// True if the launch or the kernel has named a size.
bool cluster_is_given();

/// Both halves of the cluster's barrier at once.
void cluster_barrier(const char* op, const char* file, int line);
/// Counts as having come, and goes on.
///
/// @param releases  what the thread did before comes before what the others do after
///                  their wait: not for .relaxed
void cluster_arrive(bool releases, const char* op, const char* file, int line);
/// Waits until all threads of the cluster have come that have not returned.
void cluster_wait(const char* op, const char* file, int line);

/// The address in block number `rank` of what lies at `address` in the shared memory of
/// some block of the cluster.
void* map_shared(const void* address, unsigned rank, const char* file, int line);
/// The number of the block in whose shared memory the address lies, or all ones.
unsigned shared_rank(const void* address);
/// True if the address lies in the shared memory of any block of the cluster.
bool is_cluster_shared(const void* address);

/// The pointer behind a 32-bit address of shared memory, in any block.
void* shared_pointer(uint32_t address);

}  // namespace simt::detail
