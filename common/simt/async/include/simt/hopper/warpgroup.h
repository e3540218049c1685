/// simt/hopper/warpgroup.h: barriers for a part of the block, registers that change
/// hands, and the election of a lane.
///
/// Source: PTX ISA, "bar", "setmaxnreg" and "elect.sync".
#pragma once

#include "simt/core.h"

namespace simt::ptx {

/// Waits at barrier `id` (0 to 15; 0 is __syncthreads) until `threads` threads have
/// come, those included that only arrive. A number that is no multiple of 32, or not
/// that of the others, is a fault.
void named_barrier_sync(int id, int threads, SIMT_OWN_SITE);
/// Counts as having come, and goes on.
void named_barrier_arrive(int id, int threads, SIMT_OWN_SITE);

/// Gives registers back, takes registers: 24 to 256 a thread, a multiple of 8. A block
/// begins with 65536 / threads, rounded down to a multiple of 8 and at most 255, for
/// each thread. Who takes more than there are waits until others have given back.
void setmaxnreg_dec(int registers, SIMT_OWN_SITE);
void setmaxnreg_inc(int registers, SIMT_OWN_SITE);

/// True for one lane of the warp: the lowest. All 32 lanes together.
bool elect_one(SIMT_OWN_SITE);

}  // namespace simt::ptx
