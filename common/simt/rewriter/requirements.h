// `__cluster_dims__` and `__launch_bounds__`.
#pragma once

#include "kernels.h"

namespace rewriter {

/// Lets the runtime know before main which clusters each kernel wants and how many
/// threads it allows, and refuses `__cluster_dims__` where nvcc does.
/// @param arch  the value of __CUDA_ARCH__
void rewrite_requirements(Source& source,
                          const Structure& structure,
                          const KernelTable& kernels,
                          int arch);

}  // namespace rewriter
