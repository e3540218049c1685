// Mutant: right, but neighbouring threads work on different rows
// Rejected by: neighbouring threads touch neighbouring elements
#include "add_bias_nchw.h"

#include <wb/arguments.h>
#include <wb/check.h>

// #region bug
__global__ void add_bias_kernel(const float* x,
                                const float* bias,
                                float* y,
                                int64_t planes,
                                int64_t C,
                                int64_t H,
                                int64_t W) {
    const int64_t h = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t w = int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    if (h >= H || w >= W) return;
    for (int64_t plane = 0; plane < planes; ++plane) {
        const int64_t i = (plane * H + h) * W + w;
        y[i] = x[i] + bias[plane % C];
    }
}
// #endregion bug

void add_bias_nchw(const float* x,
                   const float* bias,
                   float* y,
                   int64_t N,
                   int64_t C,
                   int64_t H,
                   int64_t W,
                   cudaStream_t stream) {
    const wb::Arguments arguments("add_bias_nchw");
    arguments.size("N", N).size("C", C).size("H", H).size("W", W);
    const int64_t count = arguments.product("N * C * H * W", {N, C, H, W});
    if (count == 0) return;
    arguments.device("x", x, count).device("bias", bias, C).device("y", y, count);
    const dim3 block(32, 8);
    const dim3 grid(static_cast<unsigned>((H + 31) / 32),
                    static_cast<unsigned>((W + 7) / 8));
    add_bias_kernel<<<grid, block, 0, stream>>>(x, bias, y, N * C, C, H, W);
    CUDA_CHECK_LAUNCH();
}
