// Mutant: treats a launch that cannot be as nothing to do
// Rejected by: a grid of zero blocks and a block of zero threads are noticed
#include "rest.h"

__global__ void hello_kernel(int* greetings) {
    const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
    greetings[number] = static_cast<int>(number);
}

void hello_gpu(int* greetings, int blocks, int threads, cudaStream_t stream) {
    check_arguments(greetings, blocks, threads);
    if (blocks == 0 || threads == 0) return;
    (void)cudaGetLastError();
    hello_kernel<<<blocks, threads, 0, stream>>>(greetings);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) throw refusal(error);
}
