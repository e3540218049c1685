// Mutant: nobody asks whether the launch was refused
// Rejected by: a block of more threads than the GPU allows is noticed
#include "rest.h"

__global__ void hello_kernel(int* greetings) {
    const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
    greetings[number] = static_cast<int>(number);
}

void hello_gpu(int* greetings, int blocks, int threads, cudaStream_t stream) {
    check_arguments(greetings, blocks, threads);
    hello_kernel<<<blocks, threads, 0, stream>>>(greetings);
}
