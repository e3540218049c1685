// The right hello_gpu that the .diff files edit.
#include "hello_gpu.h"

#include <wb/arguments.h>
#include <wb/check.h>

inline wb::CudaError refusal(cudaError_t error) {
    return wb::CudaError(
        error, std::string("the launch was refused: ") + cudaGetErrorName(error));
}

__global__ void hello_kernel(int* greetings) {
    const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
    greetings[number] = static_cast<int>(number);
}

void hello_gpu(int* greetings, int blocks, int threads, cudaStream_t stream) {
    const wb::Arguments arguments("hello_gpu");
    arguments.size("blocks", blocks).size("threads", threads);
    const int64_t count = arguments.product("blocks * threads", {blocks, threads});
    arguments
        .require(count <= INT32_MAX, "blocks * threads", count, "must fit into an int")
        .device("greetings", greetings, count);
    (void)cudaGetLastError();
    hello_kernel<<<blocks, threads, 0, stream>>>(greetings);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) throw refusal(error);
}

DeviceSummary describe_device(int device) {
    cudaDeviceProp properties{};
    CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    return {properties.name,
            properties.major,
            properties.minor,
            properties.multiProcessorCount,
            properties.warpSize,
            properties.maxThreadsPerBlock,
            properties.totalGlobalMem};
}
