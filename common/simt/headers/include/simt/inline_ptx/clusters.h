/// simt/inline_ptx/clusters.h: clusters and mbarriers of inline PTX. A part of
/// simt/inline_ptx.h.
#pragma once

#include "simt/cluster_intrinsics.h"
#include "simt/hopper/mbarrier.h"
#include "simt/hopper/tma.h"
#include "simt/inline_ptx/base.h"

namespace simt::ptx {

/// mapa with 32-bit addresses of shared memory, and with pointers.
inline uint32_t mapa_shared(uint32_t address, unsigned rank, SIMT_SITE) {
    return shared_address(
        detail::map_shared(detail::shared_pointer(address), rank, file, line));
}
template <class T>
unsigned long long mapa(T address, unsigned rank, SIMT_SITE) {
    return reinterpret_cast<unsigned long long>(
        detail::map_shared(as<const void*>(address), rank, file, line));
}
inline void cluster_arrive(bool releases, SIMT_SITE) {
    detail::cluster_arrive(releases, "barrier.cluster.arrive", file, line);
}
inline void cluster_wait(SIMT_SITE) {
    detail::cluster_wait("barrier.cluster.wait", file, line);
}
/// What mbarrier.arrive leaves for a wait: the parity of the phase.
inline unsigned long long mbarrier_phase(const uint64_t* barrier) {
    return *barrier >> 63;
}

}  // namespace simt::ptx
