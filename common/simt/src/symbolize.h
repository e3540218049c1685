/// src/symbolize.h: from program counters to source lines.
#pragma once

#include <string>
#include <vector>

namespace simt::detail {

/// "file:line" of the innermost frame, inlined ones included, that is in neither the
/// simulator nor the system's libraries; "" if none is found (no debug information).
///
/// @param frames  program counters, innermost first
/// Runs addr2line of the binutils.
std::string user_place(const std::vector<void*>& frames);

}  // namespace simt::detail
