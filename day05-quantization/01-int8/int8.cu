// int8.cu: rows in 8 bits, and a layer that multiplies them.
#include "int8.h"

#include <wb/check.h>
#include <wb/exercise.h>
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
    return 0;
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
    return __float2bfloat16(0.0f);
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

// #region contract
void int8_quantize(const __nv_bfloat16* x,
                   int64_t rows,
                   int64_t columns,
                   int8_t* q,
                   float* scales,
                   int32_t* zeros,
                   int32_t* sums,
                   cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the first two are written
    if (!quantize_has_work(x, rows, columns, {q, scales, zeros, sums})) return;
    int8_quantize_v1(x, rows, columns, q, scales, zeros, sums, stream);
}

void int8_matmul(const Int8Shape& shape,
                 const Int8Inputs& in,
                 __nv_bfloat16* y,
                 cudaStream_t stream) {
    WB_NOT_SOLVED();  // and this one, when the other two are
    if (!product_has_work(shape, in, y)) return;
    int8_matmul_v1(shape, in, y, stream);
}
// #endregion contract
