/// simt/libcu/scope.h: thread scopes and memory orders of CUDA's C++ library.
///
/// A CPU has one coherence domain: a scope says which threads may meet, and changes
/// nothing. Only the checker tells that of the block apart.
#pragma once
#include <atomic>

#include "simt/checked.h"
#include "simt/sync.h"

namespace cuda {

enum thread_scope {
    thread_scope_system,
    thread_scope_device,
    thread_scope_block,
    thread_scope_thread,
};

using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_consume;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;

/// Orders this thread's memory accesses.
inline void atomic_thread_fence(memory_order order,
                                thread_scope scope = thread_scope_system) {
    if (scope >= thread_scope_block) return simt::detail::block_fence();
    ::std::atomic_thread_fence(order);
    simt::detail::spin_hint();
}

namespace simt_detail {
/// While it lives, the running thread's atomic operations have the scope. That of the
/// thread counts as its block's.
template <thread_scope kScope>
using Scoped = simt::detail::AtomicScope<kScope >= thread_scope_block>;

/// Waits until ready() holds, while other threads run.
template <class Ready>
void wait_until(Ready ready) {
    while (!ready()) {
        simt::detail::yield();
    }
}
}  // namespace simt_detail

}  // namespace cuda
