/// src/check/addr2line.h: a running addr2line that answers one question after another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace simt::check {

/// The lines at an address, as "file:line", innermost inlined frame first. Empty if
/// addr2line is missing or knows nothing.
///
/// @param pc  inside the instruction that is meant
std::vector<std::string> lines_at(uintptr_t pc);

/// True if the file is neither the simulator's nor the system's.
bool is_users(const std::string& file);

/// True if the file belongs to a directory of the simulator's, such as "src/".
bool is_in(const std::string& file, const char* directory);

}  // namespace simt::check
