// The right functions that the .diff files edit.
#include "int8.h"

#include <wb/check.h>

#include "product.h"
#include "rows.h"

constexpr int kThreads = 128;

__device__ inline int8_t quantized(float x, const Step& step) {
    const float whole = fmaf(x, step.r, 12582912.0f) - 12582912.0f;
    const int q = static_cast<int>(whole) + step.zero;
    return static_cast<int8_t>(max(-128, min(q, 127)));
}

__global__ void quantize_kernel(const __nv_bfloat16* x,
                                int64_t columns,
                                const RowResults to) {
    const int64_t row = blockIdx.x;
    float lo = 0.0f;
    float hi = 0.0f;
    for (int64_t c = threadIdx.x; c < columns; c += kThreads) {
        const float value = __bfloat162float(x[row * columns + c]);
        lo = fminf(lo, value);
        hi = isfinite(value) ? fmaxf(hi, value) : INFINITY;
    }
    lo = over_block<kThreads>(lo, [](float a, float b) { return fminf(a, b); });
    hi = over_block<kThreads>(hi, [](float a, float b) { return fmaxf(a, b); });
    const bool is_bad = hi == INFINITY;
    Step step = Step::symmetric(fmaxf(-lo, hi));
    if (to.zeros != nullptr) step = Step::asymmetric(lo, hi);
    if (is_bad) step = Step::of_nothing();
    int sum = 0;
    for (int64_t c = threadIdx.x; c < columns; c += kThreads) {
        const float value = is_bad ? 0.0f : __bfloat162float(x[row * columns + c]);
        const int8_t q = quantized(value, step);
        to.q[row * columns + c] = q;
        sum += q;
    }
    sum = over_block<kThreads>(sum, [](int a, int b) { return a + b; });
    if (threadIdx.x != 0) return;
    to.scales[row] = step.scale;
    if (to.zeros != nullptr) to.zeros[row] = step.zero;
    if (to.sums != nullptr) to.sums[row] = sum;
}

__global__ void product_kernel(const Int8Shape shape,
                               const Int8Inputs in,
                               __nv_bfloat16* y) {
    const int64_t n = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (n >= shape.N) return;
    for (int64_t m = blockIdx.y; m < shape.M; m += gridDim.y) {
        int sum = 0;
        for (int64_t k = 0; k < shape.K; ++k) {
            const int x = in.x[m * shape.K + k];
            const int w = in.w[n * shape.K + k];
            sum += x * w;
        }
        if (in.x_zeros != nullptr) sum -= in.x_zeros[m] * in.w_sums[n];
        float value = static_cast<float>(sum) * in.x_scales[m] * in.w_scales[n];
        if (in.bias != nullptr) value += in.bias[n];
        y[m * shape.N + n] = __float2bfloat16(value);
    }
}

void int8_quantize(const __nv_bfloat16* x,
                   int64_t rows,
                   int64_t columns,
                   int8_t* q,
                   float* scales,
                   int32_t* zeros,
                   int32_t* sums,
                   cudaStream_t stream) {
    if (!quantize_has_work(x, rows, columns, {q, scales, zeros, sums})) return;
    quantize_kernel<<<wb::grid_size(rows, 1), kThreads, 0, stream>>>(
        x, columns, {q, scales, zeros, sums});
    CUDA_CHECK_LAUNCH();
}

void int8_matmul(const Int8Shape& shape,
                 const Int8Inputs& in,
                 __nv_bfloat16* y,
                 cudaStream_t stream) {
    if (!product_has_work(shape, in, y)) return;
    if (shape.K == 0) return bias_alone(shape, in, y, stream);
    const dim3 grid(wb::grid_size(shape.N, kThreads),
                    static_cast<unsigned>(shape.M < 1024 ? shape.M : 1024));
    product_kernel<<<grid, kThreads, 0, stream>>>(shape, in, y);
    CUDA_CHECK_LAUNCH();
}
