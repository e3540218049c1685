/// simt/sync.h: barriers and fences.
#pragma once

#include "core.h"

namespace simt::detail {

/// Waits for all threads of the block that have not returned.
/// Returns for how many of them `predicate` was not 0.
int block_barrier(int predicate, const char* op, const char* file, int line);

/// Waits for all threads of the grid; needs a cooperative launch.
void grid_barrier(const char* file, int line);

/// True in a cooperative launch.
bool is_cooperative();

/// Lets the other threads run: called wherever a kernel may be waiting for one.
void yield();

/// With some seeds, a thread is interrupted in front of each atomic operation.
extern bool atomics_interrupt;
/// Lets others run if that is so.
void interrupt();
/// Called by atomics before they begin. The checker would take the variable for one of
/// the kernel's.
[[gnu::always_inline]] inline void atomic_begins() {
#ifndef SIMT_CHECK
    if (!atomics_interrupt) [[likely]]
        return;
#endif
    interrupt();
}

/// Called by atomics that changed nothing and by fences: a thread that does this again
/// and again is spinning, and now and then yields.
void spin_hint();
/// The same, called by fences.
void fence_hint();
/// A fence that orders the thread's accesses for its block alone.
void block_fence();
/// Tells the checker that the thread's block has waited for the launch before its own.
void await_dependency();

}  // namespace simt::detail

/// Waits until all threads of the block have come here; orders their memory accesses.
inline void __syncthreads(SIMT_SITE) {
    simt::detail::block_barrier(0, "__syncthreads", file, line);
}
/// __syncthreads that returns how many threads passed a predicate other than 0.
inline int __syncthreads_count(int predicate, SIMT_SITE) {
    return simt::detail::block_barrier(predicate, "__syncthreads_count", file, line);
}
/// __syncthreads that returns whether any thread's predicate is not 0.
inline int __syncthreads_or(int predicate, SIMT_SITE) {
    return simt::detail::block_barrier(predicate, "__syncthreads_or", file, line) != 0;
}
/// __syncthreads that returns whether every thread's predicate is not 0.
inline int __syncthreads_and(int predicate, SIMT_SITE) {
    return simt::detail::block_barrier(!predicate, "__syncthreads_and", file, line) ==
           0;
}

/// Orders this thread's memory accesses as seen by its block.
inline void __threadfence_block() {
    simt::detail::block_fence();
}
/// Orders this thread's memory accesses as seen by the device.
inline void __threadfence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    simt::detail::fence_hint();
}
/// Orders this thread's memory accesses as seen by the device and the host.
inline void __threadfence_system() {
    __threadfence();
}
/// Suspends the thread for a short time.
inline void __nanosleep(unsigned) {
    simt::detail::yield();
}
