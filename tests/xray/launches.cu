// Kernels for launches_test.py, which looks at what the checker writes down of them.
#include <mma.h>

#include "wrappers/store.h"

/// Launched through variables only.
template <int kFactor>
__global__ void scale(float* y, const float* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = kFactor * x[i];  // guard
}

/// Stores through a wrapper, with a bank conflict of 32 ways.
__global__ void wrapped(float* y) {
    __shared__ float s_tile[32 * 32];
    store(&s_tile[threadIdx.x * 32], 1.0f);  // call
    __syncthreads();
    y[threadIdx.x] = s_tile[threadIdx.x * 32];
}

/// A product of 16 x 16 x 16.
__global__ void product(float* c) {
    namespace wmma = nvcuda::wmma;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(a, __float2half(1.0f));
    wmma::fill_fragment(b, __float2half(1.0f));
    wmma::fill_fragment(sum, 0.0f);
    wmma::mma_sync(sum, a, b, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

int main() {
    float *x, *y;
    cudaMalloc(&x, sizeof(float) * 256);
    cudaMalloc(&y, sizeof(float) * 256);
    cudaMemset(x, 0, sizeof(float) * 256);
    for (auto kernel : {scale<2>, scale<3>})
        kernel<<<1, 32>>>(y, x, 28);
    wrapped<<<1, 32>>>(y);
    product<<<1, 32>>>(y);
    return cudaDeviceSynchronize() != cudaSuccess;
}
