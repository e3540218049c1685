/// core/switch.h: the way from one CUDA thread to the next, inline.
///
/// A barrier goes it once for each thread, and what its functions leave on a fiber's
/// stack has to come back into the cache when the fiber goes on: frames are kept small.
#pragma once

#include "observer.h"
#include "scheduler.h"
#include "signals.h"

// The objects that core.h declares const, under the same symbol names, here writable.
extern constinit thread_local uint3 simt_threadIdx asm("threadIdx");
extern constinit thread_local uint3 simt_blockIdx asm("blockIdx");
extern constinit thread_local unsigned simt_thread_rank asm(
    "_ZN4simt6detail11thread_rankE");

namespace simt::detail {

/// Continues on another stack: that of a fiber, or the worker's own if `to` is null.
inline void switch_stack(void** save, void* load, const Fiber* to) {
    if (observer) [[unlikely]]
        observer->leaves_stack(to);
    simt_switch(save, load);
    if (observer) [[unlikely]]
        observer->enters_stack();
}

inline void Worker::set_current(Thread* t) {
    thread = t;
    t->state = State::running;
    spinning = nullptr;
    simt_threadIdx = t->index;
    simt_thread_rank = t->rank;
    if (t->block != block) {
        block = t->block;
        simt_blockIdx = block->index;
    }
    if (observer) [[unlikely]]
        observer->runs(*t);
}

inline void Worker::resume(Thread* t) {
    Fiber* self = fiber;
    thread->fiber = self;
    if (!t->fiber) t->fiber = take_fiber();
    set_current(t);
    if (t->fiber == self) return;
    fiber = t->fiber;
    switch_stack(&self->sp, fiber->sp, fiber);
}

/// The stacks of a block are more than the first-level cache holds: what a thread has
/// in its innermost frames is fetched while the one before it runs. (Always inline: g++
/// 12 drops calls of a function that only prefetches.)
[[gnu::always_inline]] inline void fetch_stack(const Thread& t) {
    if (!t.fiber) return;
    const char* sp = static_cast<const char*>(t.fiber->sp);
    __builtin_prefetch(sp, 1);
    __builtin_prefetch(sp + 64, 1);
    __builtin_prefetch(sp + 128, 1);
}

inline Thread* Worker::next_thread() {
    if (requested.load(std::memory_order_relaxed) < kTimeOut)
        if (Thread* t = ready_.pop_in_order()) [[likely]] {
            if (const Thread* after = t->next) fetch_stack(*after);
            return t;
        }
    return next_thread_other();
}

inline void Worker::suspend() {
    leave_row();
    resume(next_thread());
}

}  // namespace simt::detail
