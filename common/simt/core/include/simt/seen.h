/// simt/seen.h: accesses that the simulator makes for a lane, told to the checker of
/// simt-c++ --check. What the compiled program does itself, the compiler tells.
#pragma once

#include <cstddef>

#include "simt/core.h"

#ifdef SIMT_CHECK
extern "C" void simt_access_seen(const void* address, size_t bytes, bool write);
#else
inline void simt_access_seen(const void*, size_t, bool) {}
#endif

/// Copies for a lane, and tells of it: 16 bytes at once where addresses and size allow.
SIMT_UNSEEN inline void simt_copy(void* to, const void* from, size_t bytes) {
#ifdef SIMT_CHECK
    const size_t bits =
        reinterpret_cast<size_t>(to) | reinterpret_cast<size_t>(from) | bytes;
    const size_t piece = bits % 16 == 0 ? 16 : bits % 4 == 0 ? 4 : 1;
    for (size_t i = 0; i < bytes; i += piece) {
        simt_access_seen(static_cast<const char*>(from) + i, piece, false);
        simt_access_seen(static_cast<char*>(to) + i, piece, true);
    }
#endif
    __builtin_memcpy(to, from, bytes);
}
