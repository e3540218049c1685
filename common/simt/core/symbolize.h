/// core/symbolize.h: from program counters to source lines.
#pragma once

#include <string>
#include <vector>

namespace simt::detail {

/// The path of one of the simulator's files from its folder on, "core/fault.cpp"; ""
/// for any other file. It is known by its end, folder and name, not by where this copy
/// of the simulator lies. A line number may follow.
std::string own_path(const std::string& file);

/// True if the file is neither the simulator's nor the system's.
bool is_users(const std::string& file);

/// "file:line" of the innermost frame, inlined ones included, that is in neither the
/// simulator nor the system's libraries; "" if none is found (no debug information).
///
/// @param frames  program counters, innermost first
/// Runs addr2line of the binutils.
std::string user_place(const std::vector<void*>& frames);

}  // namespace simt::detail
