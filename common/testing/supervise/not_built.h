/// not_built.h: the verdict of a program that could not be built.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ending.h"

namespace wb::supervise {

/// The verdict, if the build has left PROGRAM.not_built (cmake/scripts/build_first.py),
/// which says why as a finding, and has not made the program since. An older program
/// may be there; what it does says nothing about the file that does not compile.
///
/// @param command  the program and the test case that it was to run
std::optional<Ending> not_built(const std::vector<std::string>& command);

}  // namespace wb::supervise
