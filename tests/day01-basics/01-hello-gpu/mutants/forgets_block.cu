// Mutant: a thread knows its place in the block, but not its block
// Rejected by: the numbers go on from one block to the next
#include "rest.h"

__global__ void hello_kernel(int* greetings) {
    greetings[threadIdx.x] = static_cast<int>(threadIdx.x);
}

void hello_gpu(int* greetings, int blocks, int threads, cudaStream_t stream) {
    check_arguments(greetings, blocks, threads);
    (void)cudaGetLastError();
    hello_kernel<<<blocks, threads, 0, stream>>>(greetings);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) throw refusal(error);
}
