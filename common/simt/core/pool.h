/// core/pool.h: the OS threads that share the blocks of a launch.
#pragma once

#include "scheduler.h"

namespace simt::detail {

/// Runs all blocks of the launch, with the calling OS thread's worker and, if the
/// launch turns out not to be tiny, with the pool's. One launch at a time; others wait.
void run_blocks(Launch& launch);

/// Calls the pool's workers to help with the launch.
void call_workers(Launch& launch);

/// This OS thread's worker, made when it is first needed.
Worker& own_worker();

/// Calls f(worker) for every worker of the process, which is kept alive meanwhile.
void for_each_worker(void (*f)(Worker&, void*), void* data);
void add_worker(Worker* w);
void remove_worker(Worker* w);

/// Seconds on a steady clock.
double now();

}  // namespace simt::detail
