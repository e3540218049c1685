/// simt/seen.h: accesses that the simulator makes for a lane, told to the checker of
/// simt-c++ --check. What the compiled program does itself, the compiler tells.
#pragma once

#include <cstddef>

#ifdef SIMT_CHECK
extern "C" void simt_access_seen(const void* address, size_t bytes, bool write);
#else
inline void simt_access_seen(const void*, size_t, bool) {}
#endif
