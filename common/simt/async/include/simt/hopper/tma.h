/// simt/hopper/tma.h: copies of whole tiles between global and shared memory.
///
/// A load poisons its destination when it is issued, and the data lands when somebody
/// waits for its mbarrier: who reads too early, or is still reading what the load
/// overwrites, finds NaN. A store reads shared memory when its thread waits for its
/// group.
///
/// Source: PTX ISA, "cp.async.bulk" and "cp.async.bulk.tensor", tiled mode.
#pragma once

#include "simt/core.h"
#include "simt/hopper/tensor_map.h"

namespace simt::ptx {

using TensorMap = CUtensorMap;

/// The map of a tensor of four dimensions with the 128-byte swizzle, as
/// wb::ptx::make_tensor_map asks for it. What the driver would refuse ends the program.
TensorMap make_tensor_map(const void* base,
                          int element_bytes,
                          const int64_t (&sizes)[4],
                          const int64_t (&strides)[3],
                          const int (&box)[4]);

/// Starts copying the box at `at` (elements, the contiguous dimension first) to shared
/// memory; its bytes are counted by the barrier. Outside of the tensor are zeros.
///
/// @param rank  that of the map, 1 to 5
void tma_load(void* shared,
              const TensorMap* map,
              uint64_t* barrier,
              const int* at,
              int rank,
              SIMT_OWN_SITE);
inline void tma_load(void* shared,
                     const TensorMap* map,
                     uint64_t* barrier,
                     int x,
                     int y,
                     int z,
                     int w,
                     SIMT_OWN_SITE) {
    const int at[4] = {x, y, z, w};
    tma_load(shared, map, barrier, at, 4, file, line);
}

/// Starts copying the box to the shared memory of several blocks of the cluster: to
/// where the tile lies in each, counted by the mbarrier that each has there.
///
/// @param blocks  a bit for each block, by rank
void tma_load_multicast(void* shared,
                        const TensorMap* map,
                        uint64_t* barrier,
                        const int* at,
                        int rank,
                        unsigned blocks,
                        SIMT_OWN_SITE);

/// Starts copying a box from shared memory; what lies outside of the tensor is not
/// written.
void tma_store(
    const TensorMap* map, const void* shared, const int* at, int rank, SIMT_OWN_SITE);
inline void tma_store(const TensorMap* map,
                      const void* shared,
                      int x,
                      int y,
                      int z,
                      int w,
                      SIMT_OWN_SITE) {
    const int at[4] = {x, y, z, w};
    tma_store(map, shared, at, 4, file, line);
}

/// Starts copying `bytes` bytes, a multiple of 16 like both addresses; also from shared
/// memory to that of another block of the cluster.
void bulk_load(
    void* shared, const void* global, int bytes, uint64_t* barrier, SIMT_OWN_SITE);

/// The same to several blocks, as tma_load_multicast.
void bulk_load_multicast(void* shared,
                         const void* global,
                         int bytes,
                         uint64_t* barrier,
                         unsigned blocks,
                         SIMT_OWN_SITE);
/// st.async: a word of 4 to 16 bytes to another block, counted by an mbarrier there.
void store_async(
    void* to, const void* value, int bytes, uint64_t* barrier, SIMT_OWN_SITE);

/// Closes a group of the thread's stores.
void tma_store_commit();
/// Waits until at most `pending` of the thread's newest groups have not been read.
void tma_store_wait_read(int pending);

}  // namespace simt::ptx
