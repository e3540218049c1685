// Mutant: takes an earlier error for its own
// Rejected by: an earlier error of somebody else is not blamed on the launch
#include "rest.h"

__global__ void hello_kernel(int* greetings) {
    const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
    greetings[number] = static_cast<int>(number);
}

void hello_gpu(int* greetings, int blocks, int threads, cudaStream_t stream) {
    check_arguments(greetings, blocks, threads);
    hello_kernel<<<blocks, threads, 0, stream>>>(greetings);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) throw refusal(error);
}
