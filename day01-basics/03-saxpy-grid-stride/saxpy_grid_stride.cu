// saxpy_grid_stride.cu: y = alpha * x + y, each thread as many elements as it takes.
#include "saxpy_grid_stride.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>

/// Threads in a block. How many blocks there are is the caller's choice.
constexpr int kThreads = 256;

// #region grid-stride
__host__ __device__ GridStride grid_stride(unsigned block,
                                           unsigned num_blocks,
                                           unsigned thread,
                                           unsigned block_size) {
    GridStride result{0, INT64_MAX};  // a step that ends any loop
    // TODO(learner): this thread's number in the grid, and the number of threads in the
    // grid, both computed in 64 bits (2 lines)
    return result;
}
// #endregion grid-stride

// #region v1-kernel
/// saxpy_grid_stride_v1: a thread walks through the array in steps of the whole grid.
///
/// Launch   any grid along x, block kThreads, no shared memory
__global__ void saxpy_grid_stride_v1_kernel(float alpha,
                                            const float* x,  // [n]
                                            float* y,        // [n]
                                            int64_t n) {
    // TODO(learner): ask grid_stride() where this thread begins and how far it steps,
    // and update every element of y that is its own (about 5 lines)
}
// #endregion v1-kernel

// #region v1-launch
static void saxpy_grid_stride_v1(float alpha,
                                 const float* x,
                                 float* y,
                                 int64_t n,
                                 int num_blocks,
                                 cudaStream_t stream) {
    // TODO(learner): launch the kernel with just num_blocks blocks of kThreads threads,
    // on the caller's stream (1 or 2 lines)
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-launch

// #region contract
void saxpy_grid_stride(float alpha,
                       const float* x,
                       float* y,
                       int64_t n,
                       int num_blocks,
                       cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the three TODOs are written
    wb::Arguments("saxpy_grid_stride")
        .size("n", n)
        .positive("num_blocks", num_blocks)
        .device("x", x, n)
        .device("y", y, n);
    if (n == 0) return;  // nothing to do, no launch
    saxpy_grid_stride_v1(alpha, x, y, n, num_blocks, stream);
}
// #endregion contract
