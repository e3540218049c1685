// Mutant: float4 if the whole tensor divides by four, not each plane
// Rejected by: planes of an odd size in a batch that divides by four
#include "add_bias_nchw.h"

#include <wb/arguments.h>
#include <wb/check.h>

// #region bug
__global__ void add_bias_float4_kernel(const float4* x,
                                       const float* bias,
                                       float4* y,
                                       int64_t count,
                                       int64_t C,
                                       int64_t HW) {
    const int64_t v = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (v < count / 4) {
        const float b = bias[4 * v / HW % C];
        const float4 r = x[v];
        y[v] = make_float4(r.x + b, r.y + b, r.z + b, r.w + b);
    }
}
// #endregion bug

__global__ void add_bias_kernel(
    const float* x, const float* bias, float* y, int64_t count, int64_t C, int64_t HW) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < count) y[i] = x[i] + bias[i / HW % C];
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
    const bool aligned = reinterpret_cast<uintptr_t>(x) % alignof(float4) == 0 &&
                         reinterpret_cast<uintptr_t>(y) % alignof(float4) == 0;
    if (count % 4 == 0 && aligned) {
        add_bias_float4_kernel<<<blocks, 256, 0, stream>>>(
            reinterpret_cast<const float4*>(x),
            bias,
            reinterpret_cast<float4*>(y),
            count,
            C,
            H * W);
    } else {
        add_bias_kernel<<<blocks, 256, 0, stream>>>(x, bias, y, count, C, H * W);
    }
    CUDA_CHECK_LAUNCH();
}
