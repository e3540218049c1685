// int8.cu: rows in 8 bits, and a layer that multiplies them.
// #solution
//
// v1 is in this file; the second version of both, and v3 of the product, are in
// int8_fast.cu, the second stage, and in 02_dp4a.cuh; v4 is in 04_wgmma.cuh.
//
// <Ladder of="int8_matmul" at="4096 x 4096 x 4096">
//       TFLOP/s  idea                                      what limits it
//   v1    0.494  one thread an element, byte by byte       loads of a byte
//   v2     93.0  dp4a: four products at once, tiles        shared memory
//   v3      601  tensor cores: mma.sync, a ring of stages  the rate of mma.sync
//   v4    1,190  wgmma, TMA, clusters                      tensor cores, their power
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-28
//
// <Ladder of="int8_quantize" at="4096 x 4096">
//        GB/s  idea                                               what limits it
//   v1  1,680  a block a row, read twice                          loads of 2 bytes
//   v2  2,480  16 bytes a load, the row kept in registers memory
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-28
// #end
#include "int8.h"

#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>

#include "product.h"
#include "rows.h"

constexpr int kThreads = 128;

// #region v1-round
/// x as a whole number: rint(x * r) + zero, kept within 8 bits.
__device__ __forceinline__ int8_t quantized(float x, const Step& step) {
    // TODO(learner): a float of 1.5 * 2^23 or a little more has no digits behind the
    // point. So fmaf(x, step.r, 12582912.0f) is that number plus x * r, rounded once,
    // ties to even. Take 12582912 away again, and you have a whole number. Then add the
    // zero; what is below -128 becomes -128, what is above 127 becomes 127 (about 3
    // lines)
    // #solution
    const float whole = fmaf(x, step.r, 12582912.0f) - 12582912.0f;
    const int q = static_cast<int>(whole) + step.zero;
    return static_cast<int8_t>(max(-128, min(q, 127)));
    // #end
    // #starter return 0;
}
// #endregion v1-round

// #region v1-quantize
/// v1: a block for each row, which it reads twice.
///
/// Launch   grid rows, block kThreads
/// Traffic  reads 2 B an element, and again, from L2; writes 1 B
__global__ void __launch_bounds__(kThreads)
    int8_quantize_v1_kernel(const __nv_bfloat16* x,  // [rows, columns]
                            int64_t columns,
                            const RowResults to) {
    // TODO(learner): the least and the largest x of row blockIdx.x, both with 0 among
    // them: each thread takes every kThreads-th column, over_block<kThreads>()
    // combines. A NaN or an infinity must not get lost: fminf() and fmaxf() do not keep
    // a NaN. Then the row's Step: of nothing, asymmetric if to.zeros is not null, or
    // symmetric. Round and store the row's q; thread 0 stores the scale, and the zero
    // and the sum of the row's q where they are wanted (about 25 lines)
    // #solution
    const int64_t row = blockIdx.x;
    const __nv_bfloat16* const g_x = x + row * columns;
    float lo = 0.0f;
    float hi = 0.0f;
    for (int64_t c = threadIdx.x; c < columns; c += kThreads) {
        const float value = __bfloat162float(g_x[c]);
        lo = fminf(lo, value);
        hi = isfinite(value) ? fmaxf(hi, value) : INFINITY;
    }
    lo = over_block<kThreads>(lo, [](float a, float b) { return fminf(a, b); });
    hi = over_block<kThreads>(hi, [](float a, float b) { return fmaxf(a, b); });
    const Step step = hi == INFINITY        ? Step::of_nothing()
                      : to.zeros != nullptr ? Step::asymmetric(lo, hi)
                                            : Step::symmetric(fmaxf(-lo, hi));
    int sum = 0;
    for (int64_t c = threadIdx.x; c < columns; c += kThreads) {
        const float value = hi == INFINITY ? 0.0f : __bfloat162float(g_x[c]);
        const int8_t q = quantized(value, step);
        to.q[row * columns + c] = q;
        sum += q;
    }
    sum = over_block<kThreads>(sum, [](int a, int b) { return a + b; });
    if (threadIdx.x == 0) {
        to.scales[row] = step.scale;
        if (to.zeros != nullptr) to.zeros[row] = step.zero;
        if (to.sums != nullptr) to.sums[row] = sum;
    }
    // #end
}

static void int8_quantize_v1(const __nv_bfloat16* x,
                             int64_t rows,
                             int64_t columns,
                             int8_t* q,
                             float* scales,
                             int32_t* zeros,
                             int32_t* sums,
                             cudaStream_t stream) {
    int8_quantize_v1_kernel<<<wb::grid_size(rows, 1), kThreads, 0, stream>>>(
        x, columns, {q, scales, zeros, sums});
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-quantize

// #region v1-dequantize
/// What the sum of x[m, k] * w[n, k] over k makes of y[m, n].
__device__ __forceinline__ __nv_bfloat16 dequantized(const Int8Inputs& in,
                                                     int64_t m,
                                                     int64_t n,
                                                     int sum) {
    // TODO(learner): whole numbers first: without zeros there is nothing to take away.
    // Then float: both scales, and the bias, if there is one (about 4 lines)
    // #solution
    if (in.x_zeros != nullptr) sum -= in.x_zeros[m] * in.w_sums[n];
    float y = static_cast<float>(sum) * in.x_scales[m] * in.w_scales[n];
    if (in.bias != nullptr) y += in.bias[n];
    return __float2bfloat16(y);
    // #end
    // #starter return __float2bfloat16(0.0f);
}
// #endregion v1-dequantize

// #region v1-product
/// v1: a thread for each element of y.
///
/// Launch   grid M blocks_across, block kThreads
/// Traffic  reads all of w for each row of x
__global__ void __launch_bounds__(kThreads)
    int8_matmul_v1_kernel(const Int8Shape shape,
                          const Int8Inputs in,
                          __nv_bfloat16* y,  // [M, N]
                          unsigned blocks_across) {
    const int64_t n = int64_t{blockIdx.x % blocks_across} * kThreads + threadIdx.x;
    if (n >= shape.N) return;
    // TODO(learner): the sum of the products of row n of w and row m of x, of which the
    // block's number says which it is, in int; then y[m, n] (about 6 lines)
    // #solution
    const int64_t m = blockIdx.x / blocks_across;
    const int8_t* const g_x = in.x + m * shape.K;
    const int8_t* const g_w = in.w + n * shape.K;
    int sum = 0;
    for (int64_t k = 0; k < shape.K; ++k)
        sum += g_x[k] * g_w[k];
    y[m * shape.N + n] = dequantized(in, m, n, sum);
    // #end
}

static void int8_matmul_v1(const Int8Shape& shape,
                           const Int8Inputs& in,
                           __nv_bfloat16* y,
                           cudaStream_t stream) {
    if (shape.K == 0) return bias_alone(shape, in, y, stream);
    const unsigned across = wb::grid_size(shape.N, kThreads);
    int8_matmul_v1_kernel<<<wb::grid_size(shape.M * across, 1), kThreads, 0, stream>>>(
        shape, in, y, across);
    CUDA_CHECK_LAUNCH();
}
// #endregion v1-product

// #solution
#define WB_VERSION_ONLY
#include "int8_fast.cu"

#include "02_dp4a.cuh"
#include "04_wgmma.cuh"

WB_RUNG(int8_quantize, int8_quantize_v1, "a block a row, read twice");
WB_RUNG(int8_quantize, int8_quantize_v2, "16 bytes a load, the row kept in registers");

WB_RUNG(int8_matmul, int8_matmul_v1, "one thread an element, byte by byte");
WB_RUNG(int8_matmul, int8_matmul_v2, "dp4a: four products at once, tiles");
WB_RUNG(int8_matmul, int8_matmul_v3, "tensor cores: mma.sync, a ring of stages");
WB_RUNG(int8_matmul, int8_matmul_v4, "wgmma, TMA, clusters");

// #end
// #region contract
void int8_quantize(const __nv_bfloat16* x,
                   int64_t rows,
                   int64_t columns,
                   int8_t* q,
                   float* scales,
                   int32_t* zeros,
                   int32_t* sums,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the first two are written
    if (!quantize_has_work(x, rows, columns, {q, scales, zeros, sums})) return;
    // #solution
    int8_quantize_v2(x, rows, columns, q, scales, zeros, sums, stream);
    // #end
    // #starter int8_quantize_v1(x, rows, columns, q, scales, zeros, sums, stream);
}

void int8_matmul(const Int8Shape& shape,
                 const Int8Inputs& in,
                 __nv_bfloat16* y,
                 cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // and this one, when the other two are
    if (!product_has_work(shape, in, y)) return;
    // #solution
    int8_matmul_v4(shape, in, y, stream);
    // #end
    // #starter int8_matmul_v1(shape, in, y, stream);
}
// #endregion contract
