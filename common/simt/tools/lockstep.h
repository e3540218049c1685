// Code that relies on the lanes of a warp running in lockstep.
#pragma once

#include "structure.h"

namespace rewriter {

/// Warns where a `volatile` array in device code is reduced in consecutive statements
/// without __syncwarp() between them, as was usual before Volta. CUDA no longer promises
/// that this works, and in the simulator it does not.
void warn_of_lockstep(Source& source, const Structure& structure);

}  // namespace rewriter
