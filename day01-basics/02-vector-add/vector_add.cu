// vector_add.cu: c = a + b, one thread for each element.
#include "vector_add.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>

/// Threads in a block. A multiple of the warp's 32; 128 to 512 all work well.
constexpr int kThreads = 256;

// #region v1-kernel
/// vector_add_v1: one thread, one element.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads, no shared memory
__global__ void vector_add_v1_kernel(const float* a,  // [n]
                                     const float* b,  // [n]
                                     float* c,        // [n]
                                     int64_t n) {
    // TODO(learner): find the index i of this thread in the whole grid, make sure that
    // it lies inside the arrays, and write c[i] (about 4 lines)
}
// #endregion v1-kernel

// #region v1-launch
static void vector_add_v1(
    const float* a, const float* b, float* c, int64_t n, cudaStream_t stream) {
    // TODO(learner): launch the kernel with enough blocks of kThreads threads for n
    // elements, on the caller's stream (about 2 lines)
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-launch

// #region contract
void vector_add(
    const float* a, const float* b, float* c, int64_t n, cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when both TODOs are written
    wb::Arguments("vector_add")
        .size("n", n)
        .device("a", a, n)
        .device("b", b, n)
        .device("c", c, n);
    if (n == 0) return;  // a grid of zero blocks is an error: nothing to do, no launch
    vector_add_v1(a, b, c, n, stream);
}
// #endregion contract
