// Mutant: no bounds guard, the last block writes past the end
// Rejected by: more elements than one block has threads
#include "vector_add.h"

#include <wb/arguments.h>
#include <wb/check.h>

__global__ void add_kernel(const float* a, const float* b, float* c, int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

void vector_add(
    const float* a, const float* b, float* c, int64_t n, cudaStream_t stream) {
    wb::Arguments("vector_add")
        .size("n", n)
        .device("a", a, n)
        .device("b", b, n)
        .device("c", c, n);
    if (n == 0) return;
    const unsigned blocks = static_cast<unsigned>((n + 255) / 256);
    add_kernel<<<blocks, 256, 0, stream>>>(a, b, c, n);
    CUDA_CHECK_LAUNCH();
}
