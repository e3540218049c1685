// Inline PTX.
#pragma once

#include "structure.h"

namespace rewriter {

/// Translates the few PTX instructions that have an exact meaning on a CPU, and refuses
/// the others with their line.
void rewrite_ptx(Source& source, const Structure& structure);

}  // namespace rewriter
