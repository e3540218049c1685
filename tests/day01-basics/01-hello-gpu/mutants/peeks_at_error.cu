// Mutant: looks at the error, but leaves it where it is
// Rejected by: after a refused launch the next good one is not blamed
#include "rest.h"

__global__ void hello_kernel(int* greetings) {
    const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
    greetings[number] = static_cast<int>(number);
}

void hello_gpu(int* greetings, int blocks, int threads, cudaStream_t stream) {
    check_arguments(greetings, blocks, threads);
    hello_kernel<<<blocks, threads, 0, stream>>>(greetings);
    const cudaError_t error = cudaPeekAtLastError();
    if (error != cudaSuccess) throw refusal(error);
}
