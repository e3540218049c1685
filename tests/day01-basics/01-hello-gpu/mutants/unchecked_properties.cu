// Mutant: describes a device that does not exist as empty
// Rejected by: a device that does not exist is an error, not an empty description
#define OWN_DESCRIBE_DEVICE
#include "rest.h"

__global__ void hello_kernel(int* greetings) {
    const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
    greetings[number] = static_cast<int>(number);
}

void hello_gpu(int* greetings, int blocks, int threads, cudaStream_t stream) {
    check_arguments(greetings, blocks, threads);
    (void)cudaGetLastError();
    hello_kernel<<<blocks, threads, 0, stream>>>(greetings);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) throw refusal(error);
}

DeviceSummary describe_device(int device) {
    cudaDeviceProp properties{};
    (void)cudaGetDeviceProperties(&properties, device);
    return {properties.name,
            properties.major,
            properties.minor,
            properties.multiProcessorCount,
            properties.warpSize,
            properties.maxThreadsPerBlock,
            properties.totalGlobalMem};
}
