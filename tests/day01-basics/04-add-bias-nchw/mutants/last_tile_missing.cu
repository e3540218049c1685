// Mutant: the number of tiles of columns is rounded down
// Rejected by: 31, 32 and 33 along each dimension
#include "add_bias_nchw.h"

#include <wb/arguments.h>
#include <wb/check.h>

__global__ void add_bias_kernel(const float* x,
                                const float* bias,
                                float* y,
                                int64_t planes,
                                int64_t C,
                                int64_t H,
                                int64_t W) {
    const int64_t w = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t first_h = int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    const int64_t h_step = int64_t{gridDim.y} * blockDim.y;
    if (w >= W) return;
    for (int64_t plane = blockIdx.z; plane < planes; plane += gridDim.z) {
        for (int64_t h = first_h; h < H; h += h_step) {
            const int64_t i = (plane * H + h) * W + w;
            y[i] = x[i] + bias[plane % C];
        }
    }
}

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
    const int64_t rows = (H + 7) / 8;
    const dim3 grid(static_cast<unsigned>(W >= 32 ? W / 32 : 1),
                    static_cast<unsigned>(rows < 65535 ? rows : 65535),
                    static_cast<unsigned>(N * C < 65535 ? N * C : 65535));
    add_bias_kernel<<<grid, block, 0, stream>>>(x, bias, y, N * C, C, H, W);
    CUDA_CHECK_LAUNCH();
}
