// hello_gpu.cu: the first launch, and the check that catches a bad one.
// #solution
//
// <Ladder of="hello_gpu" at="1056 blocks of 256" in="us">
//         us  idea                         what limits it
//   v1  4.30  <<<>>>, then the last error  a launch, which returns nothing
//   v2  3.76  cudaLaunchKernelEx           the same; its error is returned
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
// #end
#include "hello_gpu.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end

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
    // #solution
    const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
    greetings[number] = static_cast<int>(number);
    // #end
}
// #endregion v1-kernel

// #region check-launch
/// Throws if the launch just above was refused. Takes the error out of CUDA's slot for
/// the "last error", so that nobody finds it there a second time.
static void check_launch(int blocks, int threads) {
    // TODO(learner): take the last error; unless it is cudaSuccess, throw the refusal
    // of this launch (about 2 lines)
    // #solution
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) throw refusal(error, blocks, threads);
    // #end
}
// #endregion check-launch

// #region v1-launch
static void hello_gpu_v1(int* greetings, int blocks, int threads, cudaStream_t stream) {
    // TODO(learner): empty the slot of what earlier calls may have left there, then
    // launch the kernel on the caller's stream (2 lines)
    // #solution
    (void)cudaGetLastError();
    hello_gpu_v1_kernel<<<blocks, threads, 0, stream>>>(greetings);
    // #end
    check_launch(blocks, threads);
}
// #endregion v1-launch

// #solution
WB_RUNG(hello_gpu, hello_gpu_v1, "<<<>>>, then the last error");

// #region v2-launch
/// hello_gpu_v2: what <<<>>> stands for. The return value is this launch's own error,
/// so that no earlier one can be mistaken for it.
static void hello_gpu_v2(int* greetings, int blocks, int threads, cudaStream_t stream) {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.stream = stream;
    const cudaError_t error =
        cudaLaunchKernelEx(&config, hello_gpu_v1_kernel, greetings);
    if (error == cudaSuccess) return;
    (void)cudaGetLastError();  // a copy of it lies in the slot as well
    throw refusal(error, blocks, threads);
}
// #endregion v2-launch
WB_RUNG(hello_gpu, hello_gpu_v2, "cudaLaunchKernelEx, which returns its error");
// #end

// #region contract
void hello_gpu(int* greetings, int blocks, int threads, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs above are written
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
    // #starter WB_NOT_SOLVED();  // delete this line when the TODO below is written
    DeviceSummary summary{};
    // TODO(learner): let cudaGetDeviceProperties fill a cudaDeviceProp, inside of
    // CUDA_CHECK(), and copy the seven values (about 9 lines)
    // #solution
    cudaDeviceProp properties{};
    CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    summary.name = properties.name;
    summary.major = properties.major;
    summary.minor = properties.minor;
    summary.multiprocessors = properties.multiProcessorCount;
    summary.warp_size = properties.warpSize;
    summary.max_threads_per_block = properties.maxThreadsPerBlock;
    summary.memory_bytes = properties.totalGlobalMem;
    // #end
    return summary;
}
// #endregion describe-device
