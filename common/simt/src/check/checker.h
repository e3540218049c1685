/// src/check/checker.h: where the compiler's hooks lead.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt::check {

/// A load or store of the program, in a kernel or in host code.
///
/// @param pc     the address that the hook returns to
/// @param frame  the hook's own frame pointer
/// @param structure  true if it may stand for several instructions
void access(char* address,
            size_t bytes,
            bool write,
            bool atomic,
            bool structure,
            uintptr_t pc,
            void* const* frame);

/// The running thread has entered the basic block before `pc`.
/// @param frame  the hook's own frame pointer
void enter_basic_block(uintptr_t pc, void* const* frame);

}  // namespace simt::check
