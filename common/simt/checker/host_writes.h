/// checker/host_writes.h: what host code has written into memory that it shares with
/// kernels (managed, pinned).
///
/// Host code in .cu files announces its writes; .cpp files and libraries do not. Fresh
/// shared memory is filled with a word that hardly anybody writes: where something else
/// stands, somebody has written.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shadow.h"

namespace simt::check {

/// From now on these bytes have been written where they hold something else than
/// `word`.
void watch_contents(const char* begin, size_t bytes, uint32_t word);

/// Their contents no longer say anything.
void ignore_contents(const char* begin, size_t bytes);

/// Notes in the shadow what the contents say of some bytes; true if they say anything.
bool learn_from_contents(Shadow& shadow, const char* begin, size_t bytes);

}  // namespace simt::check
