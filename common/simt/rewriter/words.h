// CUDA's words other than __shared__: `__global__`, `__device__`, `__constant__`, …
#pragma once

#include "structure.h"

namespace rewriter {

/// Gives `__device__`, `__constant__` and `__managed__` variables the linkage that nvcc
/// gives them: each source file has its own, unless device code is relocatable.
/// @param relocatable  -rdc=true: `extern __device__` variables are shared between
/// files
void rewrite_device_variables(Source& source,
                              const Structure& structure,
                              bool relocatable);

/// Puts `__constant__` variables into a section of their own, where the checker of
/// simt-c++ --check=count recognises them. Constants that the compiler may put into
/// read-only memory stay there.
void mark_constant_variables(Source& source, const Structure& structure);

/// Refuses CUDA's attributes that the simulator does not know.
void check_attributes(Source& source);

/// Refuses texture references, `texture<float, 2> t;`, which CUDA no longer has.
void check_textures(Source& source);

/// Removes the words that mean nothing on a CPU and translates the inlining ones.
void rewrite_words(Source& source);

}  // namespace rewriter
