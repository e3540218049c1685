// Mutant: waits for the kernel before it returns
// Rejected by: the launch goes to the caller's stream, and nobody waits for it
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
    CUDA_CHECK(cudaStreamSynchronize(stream));
}
