// fp4_linear.cu: weights in FP4: how they are made, and y = act(x W^T + b) with them.
// #solution
//
// v1 is in this file, v2 to v4 in 02_gemv.cuh, v5 in fp4_linear_fast.cu, the second
// stage, v6 in 06_vector_loads.cuh.
//
// <Ladder of="fp4_linear" at="1 x 12288 x 4096, NVFP4">
//        GB/s  idea                                what limits it
//   v1    332  one warp a sum, a byte a lane       loads of a byte, comparisons
//   v2    841  vectors, a table in shared memory   bank conflicts of lookups
//   v3    938  a table in registers, by shuffle    one shuffle for each weight
//   v4  1,040  a table in two registers, by prmt   conversions to float
//   v5    765  tensor cores, prmt                  memory
//   v6      -  16 bytes a load, weights by shifts  memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
//
// <Ladder of="fp4_quantize" at="12288 x 4096, NVFP4">
//        GB/s  idea                            what limits it
//   v1    275  one warp a group                half of the lanes have no weight
//   v2  2,590  vectors, rounded by their bits  memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-24
// #end
#include "fp4_linear.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>

#include "formats.h"

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / wb::kWarpSize;

// #region v1-e2m1
/// What four bits mean: 0, 0.5, 1, 1.5, 2, 3, 4, 6 for q from 0 to 7, and the same with
/// a minus for 8 to 15.
__device__ __forceinline__ float e2m1(uint32_t q) {
    // TODO(learner): bit 3 is the sign, bits 2 and 1 the exponent e, bit 0 the mantissa
    // m. For e = 0 it is m / 2, else (1 + m / 2) 2^(e - 1). The eight values of a table
    // do as well (about 5 lines)
    // #solution
    const auto m = static_cast<float>(q & 1);
    const uint32_t e = q >> 1 & 3;
    const float magnitude =
        e == 0 ? 0.5f * m : (1.0f + 0.5f * m) * static_cast<float>(1u << (e - 1));
    return (q & 8) != 0 ? -magnitude : magnitude;
    // #end
    // #starter return 0.0f;
}

/// The four bits whose value is nearest to x; in the middle of two, those whose last
/// bit is 0; of what is beyond 6, those of 6. x is no NaN.
__device__ __forceinline__ uint32_t to_e2m1(float x) {
    const float a = fabsf(x);
    // TODO(learner): of the eight magnitudes, how many lie below a, so that a is
    // rounded up past the middle in front of them? The middles are 0.25, 0.75, 1.25,
    // 1.75, 2.5, 3.5 and 5; a middle itself is rounded to the code that is even. Put
    // the sign of x into bit 3, that of -0 too: signbit() (about 4 lines)
    // #solution
    const int code = (a > 0.25f) + (a >= 0.75f) + (a > 1.25f) + (a >= 1.75f) +
                     (a > 2.5f) + (a >= 3.5f) + (a > 5.0f);
    return static_cast<uint32_t>(code) | (signbit(x) ? 8u : 0u);
    // #end
    // #starter return a > 0.0f ? 0u : 8u;
}
// #endregion v1-e2m1

// #region v1-quantize
/// v1: a warp for each group of weights that share a scale.
///
/// Launch   grid ceil_div(groups, kWarps), block kThreads
/// Traffic  reads N K * 4 B, the second time from a cache; writes N K / 2 B, and scales
__global__ void __launch_bounds__(kThreads)
    fp4_quantize_v1_kernel(const float* weights,  // [N, K]
                           const Fp4Weights w,
                           Fp4Scales kind,
                           int64_t groups,
                           int64_t group) {  // weights of it
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t place = int64_t{blockIdx.x} * kWarps + threadIdx.x / wb::kWarpSize;
    if (place >= groups) return;
    const float* const mine = weights + place * group;
    // The bits of magnitudes are in the order of magnitudes, and those of infinity and
    // of a NaN are above all others.
    uint32_t largest = 0;
    for (int64_t i = lane; i < group; i += wb::kWarpSize)
        largest = max(largest, __float_as_uint(mine[i]) & 0x7FFFFFFFu);
    for (int apart = wb::kWarpSize / 2; apart > 0; apart /= 2)
        largest = max(largest, __shfl_xor_sync(wb::kAllLanes, largest, apart));
    const float scale = store_scale(
        w, kind, __uint_as_float(largest), largest < 0x7F800000u, place, lane == 0);
    uint8_t* const bytes = w.values + place * group / 2;
    for (int64_t i = lane; i < group / 2; i += wb::kWarpSize) {
        // TODO(learner): bytes[i] has weight 2 i in its low bits, 2 i + 1 in its high
        // ones: each divided by the scale and rounded. With a scale of 0 all bits are 0
        // (about 5 lines)
        // #solution
        uint32_t byte = 0;
        if (scale != 0.0f)
            byte = to_e2m1(mine[2 * i] / scale) | to_e2m1(mine[2 * i + 1] / scale) << 4;
        bytes[i] = static_cast<uint8_t>(byte);
        // #end
        // #starter bytes[i] = scale > 0.0f ? uint8_t{8} : uint8_t{0};
    }
}

static void fp4_quantize_v1(const Fp4Shape& shape,
                            const float* weights,
                            const Fp4Weights& w,
                            cudaStream_t stream) {
    const int64_t groups = shape.num_scales();
    fp4_quantize_v1_kernel<<<wb::grid_size(groups, kWarps), kThreads, 0, stream>>>(
        weights, w, shape.scales, groups, shape.group());
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-quantize

// #region v1-product
/// v1: a warp for each element of y, a byte a lane.
///
/// Launch   grid M blocks_across, block kThreads
/// Traffic  reads all of W for each row of x
__global__ void __launch_bounds__(kThreads)
    fp4_linear_v1_kernel(const Fp4View v,
                         Fp4Activation activation,
                         const __half* x,    // [M, K]
                         const float* bias,  // [N], or null
                         __half* y,          // [M, N]
                         unsigned blocks_across) {
    const int lane = threadIdx.x % wb::kWarpSize;
    const int64_t m = blockIdx.x / blocks_across;
    const int64_t n =  // N is a multiple of 8, so that each warp has a row of W
        int64_t{blockIdx.x % blocks_across} * kWarps + threadIdx.x / wb::kWarpSize;
    float sum = 0.0f;
    // TODO(learner): lane i takes byte i of row n, byte i + 32, and so on. A row has K
    // / 2 bytes. Byte j has weights 2 j and 2 j + 1: decode both, multiply with x, and
    // their sum with v.scale(n, 2 j / 16 * 16), in float (about 8 lines)
    // #solution
    for (int64_t j = lane; j < v.K / 2; j += wb::kWarpSize) {
        const uint32_t byte = v.values[n * (v.K / 2) + j];
        const float low = e2m1(byte & 15) * __half2float(x[m * v.K + 2 * j]);
        const float high = e2m1(byte >> 4) * __half2float(x[m * v.K + 2 * j + 1]);
        sum += (low + high) * v.scale(n, 2 * j / 16 * 16);
    }
    // #end
    for (int apart = wb::kWarpSize / 2; apart > 0; apart /= 2)
        sum += __shfl_xor_sync(wb::kAllLanes, sum, apart);
    if (lane > 0) return;
    const float z = bias != nullptr ? sum + bias[n] : sum;
    y[m * v.N + n] = __float2half(activate(z, activation));
}

static void fp4_linear_v1(const Fp4Shape& shape,
                          Fp4Activation activation,
                          const Fp4Weights& w,
                          const __half* x,
                          const float* bias,
                          __half* y,
                          cudaStream_t stream) {
    const unsigned across = wb::grid_size(shape.N, kWarps);
    fp4_linear_v1_kernel<<<wb::grid_size(shape.M * across, 1), kThreads, 0, stream>>>(
        Fp4View::of(shape, w), activation, x, bias, y, across);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-product

// #solution
#define WB_VERSION_ONLY
#include "fp4_linear_fast.cu"

#include "02_gemv.cuh"
#include "06_vector_loads.cuh"

WB_RUNG(fp4_quantize, fp4_quantize_v1, "one warp a group");
WB_RUNG(fp4_quantize, fp4_quantize_v2, "vectors, rounded by their bits");

WB_RUNG(fp4_linear, fp4_linear_v1, "one warp a sum, a byte a lane");
WB_RUNG(fp4_linear, fp4_linear_v2, "vectors, a table in shared memory");
WB_RUNG(fp4_linear, fp4_linear_v3, "a table in registers, by shuffle");
WB_RUNG(fp4_linear, fp4_linear_v4, "a table in two registers, by prmt");
WB_RUNG(fp4_linear, fp4_linear_v5, "tensor cores, prmt");
WB_RUNG(fp4_linear, fp4_linear_v6, "16 bytes a load, weights by shifts");

// #end
// #region contract
void fp4_quantize(const Fp4Shape& shape,
                  const float* weights,
                  const Fp4Weights& w,
                  cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the first three are written
    if (!quantize_has_work(shape, weights, w)) return;
    // #solution
    fp4_quantize_v2(shape, weights, w, stream);
    // #end
    // #starter fp4_quantize_v1(shape, weights, w, stream);
}

void fp4_linear(const Fp4Shape& shape,
                Fp4Activation activation,
                const Fp4Weights& w,
                const __half* x,
                const float* bias,
                __half* y,
                cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one, when the last one is
    if (!linear_has_work(shape, activation, w, x, bias, y)) return;
    // #solution
    fp4_linear_v6(shape, activation, w, x, bias, y, stream);
    // #end
    // #starter fp4_linear_v1(shape, activation, w, x, bias, y, stream);
}
// #endregion contract
