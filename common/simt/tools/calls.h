// Calls that nvcc refuses because the function is for the other side.
#pragma once

#include "kernels.h"

namespace rewriter {

/// Refuses host functions called in device code and device functions called in host
/// code, where the call is certain to mean that function: an unqualified name of which
/// the user's files declare functions for one side only.
void check_calls(Source& source, const Structure& structure);

/// Is the identifier at token `name` declared as a variable in tokens [first, name)?
bool is_declared_before(const Source& source, size_t first, size_t name);

}  // namespace rewriter
