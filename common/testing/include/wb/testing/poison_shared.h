/// wb/testing/poison_shared.h: shared memory that nobody initialised is made to show.
#pragma once

#include <cuda_runtime.h>

namespace wb::testing {

/// On a GPU: fills the shared memory of every multiprocessor with 0xFF bytes, a NaN in
/// every float format. Without it a kernel that forgets to initialise shared memory
/// often finds zeros there and passes. The simulator poisons each block's by itself.
///
/// @param stream  where the filling kernel is queued
#ifdef SIMT_CPU
inline void poison_shared_memory(cudaStream_t) {}
#else
void poison_shared_memory(cudaStream_t stream);
#endif

}  // namespace wb::testing
