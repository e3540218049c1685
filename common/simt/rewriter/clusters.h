// `__cluster_dims__`.
#pragma once

#include "kernels.h"

namespace rewriter {

/// Lets the runtime know the `__cluster_dims__` of each kernel before main, and refuses
/// them where nvcc does.
/// @param arch  the value of __CUDA_ARCH__
void rewrite_clusters(Source& source,
                      const Structure& structure,
                      const KernelTable& kernels,
                      int arch);

}  // namespace rewriter
