// `__shared__` variables.
#pragma once

#include "structure.h"

namespace rewriter {

/// Turns `__shared__ T a[N];` into a reference to the block's copy, and
/// `extern __shared__ T s[];` into a pointer to the launch's dynamic shared memory.
void rewrite_shared_variables(Source& source, const Structure& structure);

}  // namespace rewriter
