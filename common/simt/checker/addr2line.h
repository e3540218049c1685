/// checker/addr2line.h: a running addr2line that answers one question after another.
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

/// The function that begins at an address, demangled, "void ns::scale<4>(float*, int)";
/// "" if it is not known.
std::string function_at(uintptr_t pc);

}  // namespace simt::check
