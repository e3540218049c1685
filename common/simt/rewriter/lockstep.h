// Code that relies on the lanes of a warp running in lockstep.
#pragma once

#include "structure.h"

namespace rewriter {

/// Where a `volatile` array in device code is reduced in consecutive statements without
/// __syncwarp() between them, as was usual before Volta: lets the lanes go in step from
/// statement to statement, and warns, because CUDA no longer promises that this works.
void rewrite_lockstep(Source& source, const Structure& structure);

}  // namespace rewriter
