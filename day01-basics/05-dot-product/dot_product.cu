// dot_product.cu: the sum of a[i] * b[i], which all threads have to agree on.
#include "dot_product.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>

/// Threads in a block: a power of two, so that the tree can halve it down to one.
constexpr int kThreads = 256;
static_assert((kThreads & (kThreads - 1)) == 0,
              "the tree halves kThreads until it is 1");

// #region v2-kernel
/// dot_product_v2: the threads of a block add up in shared memory, then one adds the
/// block's sum to the result.
///
/// Launch   grid ceil_div(n, kThreads), block kThreads, static shared memory of
///          kThreads floats
__global__ void dot_product_v2_kernel(const float* a,  // [n]
                                      const float* b,  // [n]
                                      float* result,   // [1], 0 at the start
                                      int64_t n) {
    // TODO(learner): in shared memory, an array s_sum of one float a thread. Write this
    // thread's product into it, or 0 past the end; halve the number of adding threads
    // until s_sum[0] holds the block's sum, with a barrier before every step; let one
    // thread add that to *result (about 11 lines)
}
// #endregion v2-kernel

// #region v2-launch
static void dot_product_v2(
    const float* a, const float* b, float* result, int64_t n, cudaStream_t stream) {
    // TODO(learner): set *result to 0 on the stream, for whatever it holds now would be
    // part of the sum; then launch enough blocks for n elements (about 4 lines)
    CUDA_CHECK_LAUNCH();
}
// #endregion v2-launch

// #region contract
void dot_product(
    const float* a, const float* b, float* result, int64_t n, cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when both TODOs are written
    wb::Arguments("dot_product")
        .size("n", n)
        .device("a", a, n)
        .device("b", b, n)
        .device("result", result, 1);
    if (n == 0) {  // no kernel to launch, but an empty sum is 0, and somebody reads it
        CUDA_CHECK(cudaMemsetAsync(result, 0, sizeof(float), stream));
        return;
    }
    dot_product_v2(a, b, result, n, stream);
}
// #endregion contract
