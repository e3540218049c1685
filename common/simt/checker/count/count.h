/// checker/count/count.h: the events from which the cost of kernels is counted. The
/// accesses themselves come through count_access(), see ../access.h.
#pragma once

#include <cstdint>

#include "core/scheduler.h"
#include "points.h"
#include "simt/tensor.h"

namespace simt::check {

void count_launch_begins(const detail::Launch& launch);
void count_launch_ends();
void count_block_begins(detail::Block& block);
void count_block_ends(detail::Block& block);
/// A barrier of the whole block has been passed.
void count_block_synchronised(detail::Block& block,
                              const char* op,
                              const char* file,
                              int line);
/// The lanes in `present` have performed a warp operation.
void count_warp_synchronised(detail::Block& block,
                             unsigned warp,
                             uint32_t present,
                             detail::WarpOp op,
                             const char* file,
                             int line);
/// The running thread has issued a cp.async.
void count_copy(
    const void* to, const void* from, int bytes, int src_bytes, detail::Worker& worker);

/// For a trace that is recorded: what the running thread does is no access to memory.
/// @param bytes  at the object; 0 if it is none of memory
void count_note(What what, const void* object, int bytes, detail::Worker& worker);

/// Tensor cores have worked for the kernel that runs.
void count_multiplied(detail::TensorType type, uint64_t operations);

/// A warp has products in flight from here on, or none: see observer.h.
void count_multiplies(detail::Block& block, unsigned warp, bool in_flight);

/// Called between two accesses: lets the other lanes of a warp catch up when the record
/// of the running one has become long.
void count_pause(detail::Worker& worker);

}  // namespace simt::check
