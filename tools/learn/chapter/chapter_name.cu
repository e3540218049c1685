// chapter_name.cu: y = 2 x, one thread for each element.
// #solution
//
// <Ladder of="chapter_name" at="n = 268435456">
//       -  idea                   what limits it
//   v1  -  one thread an element  TODO(author): what limits it
// </Ladder> not measured
// #end
#include "chapter_name.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>

constexpr int kThreads = 256;

// #region v1-kernel
/// chapter_name_v1: one thread, one element.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads, no shared memory
__global__ void chapter_name_v1_kernel(const float* x,  // [n]
                                       float* y,        // [n]
                                       int64_t n) {
    // TODO(learner): find the element of this thread, and write it (about 4 lines)
    // #solution
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
    // #end
}
// #endregion v1-kernel

// #region v1-launch
static void chapter_name_v1(const float* x, float* y, int64_t n, cudaStream_t stream) {
    const unsigned blocks = wb::grid_size(n, kThreads);
    chapter_name_v1_kernel<<<blocks, kThreads, 0, stream>>>(x, y, n);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-launch
// #solution
WB_RUNG(chapter_name, chapter_name_v1, "one thread an element");
// #end

// #region contract
void chapter_name(const float* x, float* y, int64_t n, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO is written
    wb::Arguments("chapter_name").size("n", n).device("x", x, n).device("y", y, n);
    if (n == 0) return;  // a grid of zero blocks is an error: nothing to do, no launch
    chapter_name_v1(x, y, n, stream);
}
// #endregion contract
