// Mutant: reads float4 from any address, also from one that is no multiple of 16
// Rejected by: a slice that starts at any element
#include "vector_add.h"

#include <wb/arguments.h>
#include <wb/check.h>

__global__ void add_kernel(const float* a, const float* b, float* c, int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        const float4 x = reinterpret_cast<const float4*>(a)[i];
        const float4 y = reinterpret_cast<const float4*>(b)[i];
        reinterpret_cast<float4*>(c)[i] =
            make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    } else if (i == n / 4) {
        for (int64_t k = n / 4 * 4; k < n; ++k)
            c[k] = a[k] + b[k];
    }
}

void vector_add(
    const float* a, const float* b, float* c, int64_t n, cudaStream_t stream) {
    wb::Arguments("vector_add")
        .size("n", n)
        .device("a", a, n)
        .device("b", b, n)
        .device("c", c, n);
    if (n == 0) return;
    const unsigned blocks = static_cast<unsigned>(n / 4 / 256 + 1);
    add_kernel<<<blocks, 256, 0, stream>>>(a, b, c, n);
    CUDA_CHECK_LAUNCH();
}
