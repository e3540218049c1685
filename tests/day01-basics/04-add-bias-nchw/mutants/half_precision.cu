// Mutant: adds in half precision
// Rejected by: one image: every channel gets its own bias
#include "add_bias_nchw.h"

#include <cuda_fp16.h>
#include <wb/arguments.h>
#include <wb/check.h>

__global__ void add_bias_kernel(
    const float* x, const float* bias, float* y, int64_t count, int64_t C, int64_t HW) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) {
        const __half b = __float2half(bias[i / HW % C]);
        y[i] = __half2float(__hadd(__float2half(x[i]), b));
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
    const unsigned blocks = static_cast<unsigned>((count + 255) / 256);
    add_bias_kernel<<<blocks, 256, 0, stream>>>(x, bias, y, count, C, H * W);
    CUDA_CHECK_LAUNCH();
}
