/// checker/checker.h: where the compiler's hooks lead.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/observer.h"

namespace simt::check {

/// What is known of a load or store; may be combined.
enum AccessFlags : unsigned {
    kWrite = 1,
    kAtomic = 2,     // a read-modify-write operation
    kStructure = 4,  // it may stand for several instructions
    kVolatile = 8,
    kRelaxed = 16,    // an atomic load or store
    kStores = 32,     // an atomic operation that does not read
    kReleases = 64,   // an atomic operation with release semantics
    kAcquires = 128,  // the same with acquire semantics
    kSeen = 256,      // told by a function, perhaps after it
};

/// A load or store of the program, in a kernel or in host code.
///
/// @param flags  AccessFlags
/// @param pc     the address that the hook returns to
/// @param frame  the frame pointer of the function that has called the hook
void access(
    char* address, size_t bytes, unsigned flags, uintptr_t pc, void* const* frame);

/// True if a call of memcpy and the like is the program's own, and may touch memory of
/// kernels.
///
/// @param pc  where the call returns to
bool is_watched_call(const void* address, uintptr_t pc);

/// An index that an array of known size does not have, or an address that is no
/// multiple of what its type demands.
///
/// @param kind  out_of_bounds or misaligned
/// @param what  in words
void bad_expression(FindingKind kind,
                    const char* file,
                    uint32_t line,
                    const char* what,
                    detail::Caller caller);

/// A fence in the program's own code, which both releases and acquires.
/// @param of_block  only the threads of its block can rely on it
void fence(bool of_block);

/// From here on the running thread's atomic operations have the scope of its block, or
/// hold for all.
void set_atomic_scope(bool of_block);

/// A load of the program through the read-only cache; access() is told of it, too.
///
/// @param pc, frame  as of access()
void read_only_access(const char* address,
                      size_t bytes,
                      uintptr_t pc,
                      void* const* frame);

/// The running thread has entered the basic block before `pc`.
/// @param frame  the hook's own frame pointer
void enter_basic_block(uintptr_t pc, void* const* frame);

}  // namespace simt::check
