/// simt/intrinsics.h: the remaining intrinsics: address spaces, hints to
/// compiler, profiler and debugger.
#pragma once

#include "simt/clock.h"
#include "simt/cluster.h"
#include "simt/core.h"
#include "simt/fault.h"
#include "simt/requirements.h"
#include "simt/shared.h"
#include "simt/sync.h"

/// The 32-bit address of shared memory that PTX instructions take: the low half of the
/// address.
SIMT_UNSEEN inline size_t __cvta_generic_to_shared(const void* address) {
    return reinterpret_cast<uintptr_t>(address) & 0xffffffffu;
}
/// The way back.
SIMT_UNSEEN inline void* __cvta_shared_to_generic(size_t address) {
    return simt::detail::shared_pointer(static_cast<uint32_t>(address));
}
/// There is one address space: a global address is itself.
inline size_t __cvta_generic_to_global(const void* address) {
    return reinterpret_cast<size_t>(address);
}
inline void* __cvta_global_to_generic(size_t address) {
    return reinterpret_cast<void*>(address);
}
/// Whether the address lies in the block's shared memory.
inline unsigned int __isShared(const void* address) {
    return simt::detail::is_shared(address);
}

/// A breakpoint; with no debugger attached it ends the launch, like __trap.
inline void __brkpt(SIMT_SITE) {
    simt::detail::trap(file, line);
}
/// A dependent kernel may begin: it begins when this one has ended.
inline void cudaTriggerProgrammaticLaunchCompletion() {}
/// The kernel that this one depends on has ended: it had before this one began.
inline void cudaGridDependencySynchronize() {
    simt::detail::await_dependency();
}

/// Counters of the profiler: nothing here reads them.
inline void __prof_trigger(int) {}

#ifndef __clang__
#define __builtin_assume(condition) \
    ((condition) ? static_cast<void>(0) : __builtin_unreachable())
#endif
#define __assume(condition) __builtin_assume(condition)
