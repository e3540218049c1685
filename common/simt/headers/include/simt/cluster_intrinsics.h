/// simt/cluster_intrinsics.h: thread block clusters as functions of CUDA's own, those
/// of crt/sm_90_rt.h.
#pragma once

#include "simt/cluster.h"
#include "simt/intrinsics.h"
#include "simt/sync.h"
#include "simt/vector_types.h"

inline unsigned __clusterDimIsSpecified() {
    return simt::detail::cluster_is_given();
}
inline dim3 __clusterDim() {
    return simt::detail::cluster_dim();
}
inline dim3 __clusterRelativeBlockIdx() {
    return dim3(simt::detail::cluster_block_index());
}
inline dim3 __clusterGridDimInClusters() {
    const dim3 d = simt::detail::cluster_dim();
    return dim3(gridDim.x / d.x, gridDim.y / d.y, gridDim.z / d.z);
}
inline dim3 __clusterIdx() {
    return dim3(simt::detail::cluster_index());
}
inline unsigned __clusterRelativeBlockRank() {
    return simt::detail::cluster_block_rank();
}
inline unsigned __clusterSizeInBlocks() {
    const dim3 d = simt::detail::cluster_dim();
    return d.x * d.y * d.z;
}

inline void __cluster_barrier_arrive(SIMT_SITE) {
    simt::detail::cluster_arrive(true, "__cluster_barrier_arrive", file, line);
}
inline void __cluster_barrier_arrive_relaxed(SIMT_SITE) {
    simt::detail::cluster_arrive(false, "__cluster_barrier_arrive_relaxed", file, line);
}
inline void __cluster_barrier_wait(SIMT_SITE) {
    simt::detail::cluster_wait("__cluster_barrier_wait", file, line);
}
/// Orders this thread's memory accesses as seen by its cluster.
inline void __threadfence_cluster() {
    __threadfence();
}

/// Whether the address lies in the shared memory of a block of the cluster.
inline unsigned __isClusterShared(const void* address) {
    return simt::detail::is_cluster_shared(address);
}
/// What lies at `address` in the calling block, in the block of that rank.
inline void* __cluster_map_shared_rank(const void* address, unsigned rank, SIMT_SITE) {
    return simt::detail::map_shared(address, rank, file, line);
}
/// The rank of the block in whose shared memory the address lies.
inline unsigned __cluster_query_shared_rank(const void* address) {
    return simt::detail::shared_rank(address);
}
inline uint2 __cluster_map_shared_multicast(const void* address, unsigned blocks) {
    return {static_cast<unsigned>(__cvta_generic_to_shared(address)), blocks};
}
