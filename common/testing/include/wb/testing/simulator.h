/// wb/testing/simulator.h: the simulator's strict settings, for grading.
#pragma once

namespace wb::testing {

/// Under the simulator: allocations end exactly at an inaccessible page, threads that
/// returned before a barrier are an error, a kernel that makes no progress for ten
/// seconds is stopped. On a GPU: nothing.
void prepare_simulator();

/// Under the simulator: threads and blocks of all later launches run in another,
/// reproducible order; 0 is the usual one. On a GPU: nothing, the order is never sure.
void shuffle_threads(unsigned seed);

}  // namespace wb::testing
