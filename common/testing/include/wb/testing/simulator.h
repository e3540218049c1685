/// wb/testing/simulator.h: the simulator's strict settings, for grading.
#pragma once

namespace wb::testing {

/// Under the simulator: allocations end exactly at an inaccessible page, threads that
/// returned before a barrier are an error, a kernel that makes no progress for ten
/// seconds is stopped. On a GPU: nothing.
void prepare_simulator();

}  // namespace wb::testing
