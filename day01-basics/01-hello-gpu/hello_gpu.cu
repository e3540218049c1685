// hello_gpu.cu: the first launch, and the check that catches a bad one.
#include "hello_gpu.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>

#include <climits>
#include <string>

/// The exception for a launch that CUDA refused.
inline wb::CudaError refusal(cudaError_t error, int blocks, int threads) {
    return wb::CudaError(error,
                         "the launch <<<" + std::to_string(blocks) + ", " +
                             std::to_string(threads) +
                             ">>> failed: " + cudaGetErrorName(error) + " (" +
                             cudaGetErrorString(error) + ")");
}

// #region v1-kernel
/// hello_gpu_v1: every thread writes its own number.
///
/// Launch   any grid and block along x, no shared memory
__global__ void hello_gpu_v1_kernel(int* greetings) {  // [gridDim.x * blockDim.x]
    // TODO(learner): number this thread, counting through the blocks before its own,
    // and store the number in the element of that number (about 2 lines)
}
// #endregion v1-kernel

// #region check-launch
/// Throws if the launch just above was refused. Takes the error out of CUDA's slot for
/// the "last error", so that nobody finds it there a second time.
static void check_launch(int blocks, int threads) {
    // TODO(learner): take the last error; unless it is cudaSuccess, throw the refusal
    // of this launch (about 2 lines)
}
// #endregion check-launch

// #region v1-launch
static void hello_gpu_v1(int* greetings, int blocks, int threads, cudaStream_t stream) {
    // TODO(learner): empty the slot of what earlier calls may have left there, then
    // launch the kernel on the caller's stream (2 lines)
    check_launch(blocks, threads);
}
// #endregion v1-launch

// #region contract
void hello_gpu(int* greetings, int blocks, int threads, cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODOs above are written
    const wb::Arguments arguments("hello_gpu");
    arguments.size("blocks", blocks).size("threads", threads);
    const int64_t count = arguments.product("blocks * threads", {blocks, threads});
    arguments
        .require(count <= INT_MAX,
                 "blocks * threads",
                 count,
                 "must fit into an int: the greetings are ints")
        .device("greetings", greetings, count);
    hello_gpu_v1(greetings, blocks, threads, stream);
}
// #endregion contract

// #region describe-device
DeviceSummary describe_device(int device) {
    WB_NOT_SOLVED();  // delete this line when the TODO below is written
    DeviceSummary summary{};
    // TODO(learner): let cudaGetDeviceProperties fill a cudaDeviceProp, inside of
    // CUDA_CHECK(), and copy the seven values (about 9 lines)
    return summary;
}
// #endregion describe-device
