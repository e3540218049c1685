// Names that C++20 put into namespace std.
#pragma once

#include "structure.h"

namespace rewriter {

/// Renames functions, types and variables of the user that C++20's standard library
/// would make ambiguous; true if there were any, and the source must be read again.
///
/// nvcc compiles as C++17, the simulator as C++20. After `using namespace std` a
/// function `integral` or `predicate` of the user's clashes with a name that is new in
/// std.
bool rename_new_std_names(Source& source, const Structure& structure);

}  // namespace rewriter
