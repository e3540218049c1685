// The right functions that the .diff files edit.
#include "fp4_linear.h"

#include <wb/check.h>
#include <wb/launch.h>

#include "formats.h"

constexpr int kThreads = 128;

__device__ inline float value_of(uint32_t q) {
    const float table[8] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
    const float magnitude = table[q & 7];
    return (q & 8) != 0 ? -magnitude : magnitude;
}

/// The code whose value is nearest, by looking at all of them.
__device__ inline uint32_t code_of(float x) {
    const float a = fminf(fabsf(x), 6.0f);
    uint32_t best = 0;
    for (uint32_t code = 1; code < 8; ++code) {
        const float nearer = fabsf(a - value_of(best)) - fabsf(a - value_of(code));
        if (nearer > 0.0f || (nearer == 0.0f && code % 2 == 0)) best = code;
    }
    return best | (signbit(x) ? 8u : 0u);
}

/// A thread for each group.
__global__ void quantize_kernel(const float* weights,
                                const Fp4Weights w,
                                Fp4Scales kind,
                                int64_t groups,
                                int64_t group) {
    const int64_t place = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (place >= groups) return;
    const float* const mine = weights + place * group;
    float largest = 0.0f;
    bool is_finite = true;
    for (int64_t i = 0; i < group; ++i) {
        is_finite = is_finite && isfinite(mine[i]);
        largest = fmaxf(largest, fabsf(mine[i]));
    }
    const float scale = store_scale(w, kind, largest, is_finite, place, true);
    for (int64_t i = 0; i < group; i += 2) {
        uint32_t low = 0;
        uint32_t high = 0;
        if (scale != 0.0f) {
            low = code_of(mine[i] / scale);
            high = code_of(mine[i + 1] / scale);
        }
        w.values[(place * group + i) / 2] = static_cast<uint8_t>(low | high << 4);
    }
}

/// A thread for each element of y.
__global__ void linear_kernel(const Fp4View v,
                              Fp4Activation activation,
                              const __half* x,
                              const float* bias,
                              __half* y,
                              int64_t M) {
    const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (i >= M * v.N) return;
    const int64_t m = i / v.N;
    const int64_t n = i % v.N;
    float sum = 0.0f;
    for (int64_t k = 0; k < v.K; k += 2) {
        const int64_t place = n * (v.K / 2) + k / 2;
        const uint32_t byte = v.values[place];
        const float scale = v.scale(n, k / 16 * 16);
        const float low = value_of(byte & 15) * scale;
        const float high = value_of(byte >> 4) * scale;
        sum += low * __half2float(x[m * v.K + k]);
        sum += high * __half2float(x[m * v.K + k + 1]);
    }
    if (bias != nullptr) sum += bias[n];
    y[i] = __float2half(activate(sum, activation));
}

void fp4_quantize(const Fp4Shape& shape,
                  const float* weights,
                  const Fp4Weights& w,
                  cudaStream_t stream) {
    if (!quantize_has_work(shape, weights, w)) return;
    const int64_t groups = shape.num_scales();
    quantize_kernel<<<wb::grid_size(groups, kThreads), kThreads, 0, stream>>>(
        weights, w, shape.scales, groups, shape.group());
    CUDA_CHECK_LAUNCH();
}

void fp4_linear(const Fp4Shape& shape,
                Fp4Activation activation,
                const Fp4Weights& w,
                const __half* x,
                const float* bias,
                __half* y,
                cudaStream_t stream) {
    if (!linear_has_work(shape, activation, w, x, bias, y)) return;
    const unsigned blocks = wb::grid_size(shape.M * shape.N, kThreads);
    linear_kernel<<<blocks, kThreads, 0, stream>>>(
        Fp4View::of(shape, w), activation, x, bias, y, shape.M);
    CUDA_CHECK_LAUNCH();
}
