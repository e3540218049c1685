/// checker/trace/trace.h: records what the warps of one block do, step by step.
///
/// Built on the counting mode (checker/count): a program of simt-c++ --check=count that
/// finds SIMT_TRACE=file in its environment records one block of one kernel, writes the
/// file and ends. While it records, each thread of the block lets the others run after
/// every access and basic block, so that all warps go forward side by side, as on a
/// GPU; SIMT_SEED chooses another order.
#pragma once

#include <cstdint>

#include "checker/access.h"
#include "checker/count/lockstep.h"
#include "checker/count/points.h"
#include "core/scheduler.h"
#include "simt/tensor.h"

namespace simt::check {

/// True if SIMT_TRACE names a file.
extern bool tracing;

void trace_launch_begins(const detail::Launch& launch);
/// Writes what there is if a fault has ended the block.
void trace_launch_ends();
void trace_block_begins(const detail::Block& block);
/// Writes the trace and ends the program if this is the block that is recorded.
void trace_block_ends(const detail::Block& block);

/// Writes what there is, and ends the program: the block has reached the limit.
void trace_stops();

/// True if the block is recorded, and not yet at its limit.
bool is_traced(const detail::Block& block);

/// A lane of the recorded block has added an event to its trace.
void trace_event(uint32_t rank);
/// replay() has found that `lanes` of the warp went through a point together.
void trace_step(unsigned warp, uint32_t point, uint32_t lanes, const Event* events);

/// What replay() cannot see: barriers, warp operations, tiles of TMA, products.
void trace_barrier(const detail::Block& block,
                   const char* op,
                   const char* file,
                   int line);
void trace_warp_op(const detail::Block& block,
                   unsigned warp,
                   uint32_t lanes,
                   const Place& place);
void trace_tile(const detail::Worker& worker,
                const void* to,
                size_t bytes,
                bool begins,
                const Place& place);
void trace_product(const detail::Worker& worker,
                   detail::TensorType type,
                   uint64_t operations,
                   const Place& place);

/// The running thread's next access is what a finding is about.
/// @param number  in findings()
void trace_finding(size_t number);

}  // namespace simt::check
