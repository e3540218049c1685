/// core/write_watch.h: what the handler of the processor's exceptions asks.
#pragma once

namespace simt::detail {

/// True if memory is inaccessible for writing because it is watched. Then the write is
/// noted, and succeeds if it is repeated.
///
/// @param pc  the instruction that writes
bool note_watched_write(const void* address, void* pc);

}  // namespace simt::detail
