// instructions.cu: five small pieces, each about what a line of code costs.
#include "instructions.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/launch.h>

#include <algorithm>

#include "copies.h"
#include "elementwise.h"
#include "functions.h"
#include "outliers.h"
#include "rulers.h"

/// Threads in a block.
constexpr int kThreads = 256;

// --- 1. How wrong is a function, and where? ---------------------------------------

// #region ulp
/// Steps from one float to the next that lead from a to b; see instructions.h.
__device__ uint32_t ulp_distance(float a, float b) {
    // TODO(learner): NaNs first. Then the place of each float in the row, as a whole
    // number: its bits without the sign, counted down from 0 if it is negative. How far
    // apart may the places be, and what type holds that? (about 8 lines)
    return 0;  // and this line goes
}
// #endregion ulp

void ulp_distances(const float* a,
                   const float* b,
                   uint32_t* distance,
                   int64_t n,
                   cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when ulp_distance is written
    wb::Arguments("ulp_distances")
        .size("n", n)
        .device("a", a, n)
        .device("b", b, n)
        .device("distance", distance, n);
    if (n == 0) return;
    ulp_kernel<<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(a, b, distance, n);
    CUDA_CHECK_LAUNCH();
}

// #region worst-kernel
/// The largest packed(distance, bits) of `count` floats.
///
/// Launch   any grid along x, block kThreads, no shared memory
template <class F>
__global__ void worst_kernel(F,
                             uint32_t first,
                             uint64_t count,
                             unsigned long long* worst) {
    // TODO(learner): a grid-stride loop over the floats with the bits first + 0, ...,
    // first + (count - 1): compare F::value(x) with F::exact(x) and keep the largest
    // packed(). Then let the warp's lanes agree (__shfl_xor_sync), and one lane of each
    // warp call atomicMax. 32 bits do not hold `count` (about 12 lines)
}
// #endregion worst-kernel

void worst_error(Function function,
                 uint32_t first,
                 uint64_t count,
                 unsigned long long* worst,
                 cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when worst_kernel is written
    constexpr int64_t kFloats = int64_t{1} << 32;
    constexpr int64_t kMostBlocks = 4096;
    const auto floats = static_cast<int64_t>(std::min<uint64_t>(count, INT64_MAX));
    wb::Arguments("worst_error")
        .require(floats <= kFloats - first, "count", floats, "<= 2^32 - first")
        .device("worst", worst, 1);
    CUDA_CHECK(cudaMemsetAsync(worst, 0, sizeof *worst, stream));
    if (count == 0) return;
    const auto grid = static_cast<unsigned>(
        std::min(wb::ceil_div(floats, int64_t{kThreads}), kMostBlocks));
    with_function(function, [&](auto f) {
        worst_kernel<<<grid, kThreads, 0, stream>>>(f, first, count, worst);
    });
    CUDA_CHECK_LAUNCH();
}

// --- 2. An exponential and its rounding -------------------------------------------

// #region exp
/// e^x = 2^(x log2(e)); the error bound is in instructions.h.
__device__ float quick_exp(float x) {
    constexpr float kLog2E = 0x1.715476p+0f;      // log2(e), rounded,
    constexpr float kLog2ERest = 0x1.4ae0cp-26f;  // and what was rounded away
    constexpr float kLn2 = 0x1.62e43p-1f;
    // TODO(learner): t = x * kLog2E is rounded. Find what the rounding lost with an
    // fmaf, add the rest of log2(e), and correct wb::ptx::exp2_approx(t) with it:
    // 2^(t + r) is 2^t + 2^t r ln(2), nearly. Where 2^t is infinite or NaN, and from
    // |t| = 128 on, leave it as it is (about 4 lines)
    return x * (kLog2E + kLog2ERest + kLn2);  // and this line goes
}
// #endregion exp

void exponentials(const float* x, float* y, int64_t n, cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when quick_exp is written
    wb::Arguments("exponentials").size("n", n).device("x", x, n).device("y", y, n);
    if (n == 0) return;
    exp_kernel<<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(x, y, n);
    CUDA_CHECK_LAUNCH();
}

// --- 3. Outliers in full warps -----------------------------------------------------

// #region compress-kernel
/// Elements of a block: about a hundred of them are outliers, three warps full.
constexpr int kTile = 2048;

/// compress_outliers_v2: copies its tile, keeps a list of the outliers, and then works
/// it off with warps that are full.
///
/// Launch   grid ceil_div(n, kTile), block kThreads, static shared memory
static __global__ void compress_kernel(const float* x, float* y, int64_t n) {
    // TODO(learner): in shared memory, a list s_outliers of kTile ints and its length
    // s_count, which one thread sets to 0. The block goes through its tile, kThreads
    // elements a step: what is no outlier is copied, the place of an outlier goes into
    // the list (atomicAdd says where). Then through the list in the same way. What has
    // to be finished before what? (about 15 lines)
}
// #endregion compress-kernel

static void compress_outliers_v2(const float* x,
                                 float* y,
                                 int64_t n,
                                 cudaStream_t stream) {
    compress_kernel<<<wb::grid_size(n, kTile), kThreads, 0, stream>>>(x, y, n);
    CUDA_CHECK_LAUNCH();
}

void compress_outliers(const float* x, float* y, int64_t n, cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when compress_kernel is written
    wb::Arguments("compress_outliers").size("n", n).device("x", x, n).device("y", y, n);
    if (n == 0) return;
    compress_outliers_v2(x, y, n, stream);
}

// --- 4. Four floats at a time -------------------------------------------------------

// #region copy-v2
/// copy_floats_v2: a float4 a thread; the first threads also copy the floats that lie
/// before the first whole float4 and behind the last one.
///
/// Launch   grid: a thread for each of the (n - head) / 4 vectors, and 3 at least;
///          block kThreads, no shared memory
/// @param in, out  in + head and out + head are multiples of 16 bytes
/// @param head     0 to 3, <= n
static __global__ void copy_v2_kernel(const float* in,
                                      float* out,
                                      int64_t n,
                                      int64_t head) {
    // TODO(learner): how many whole float4 are there behind the head? The i-th thread
    // of the grid copies the i-th of them, the i-th float of the head, and the i-th
    // float of what is left behind them, as far as there are such (about 10 lines)
}
// #endregion copy-v2

static void copy_floats_v2(const float* in,
                           float* out,
                           int64_t n,
                           cudaStream_t stream) {
    const int64_t head = std::min(n, floats_to_boundary(out));
    if (floats_to_boundary(in) != floats_to_boundary(out))
        return copy_floats_v1(in, out, n, stream);  // no float4 fits both
    const int64_t threads = std::max<int64_t>((n - head) / 4, 3);
    const unsigned grid = wb::grid_size(threads, kThreads);
    copy_v2_kernel<<<grid, kThreads, 0, stream>>>(in, out, n, head);
    CUDA_CHECK_LAUNCH();
}

void copy_floats(const float* in, float* out, int64_t n, cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when copy_v2_kernel is written
    wb::Arguments("copy_floats").size("n", n).device("in", in, n).device("out", out, n);
    if (n == 0) return;
    copy_floats_v2(in, out, n, stream);
}

// --- 5. Division without dividing ---------------------------------------------------

// #region divider
Divider make_divider(uint32_t divisor) {
    WB_NOT_SOLVED();  // delete this line when this and divide are written
    wb::Arguments("make_divider").positive("divisor", divisor);
    // TODO(learner): l, the smallest number with 2^l >= divisor; then, in 64 bits,
    // magic = 2^32 (2^l - divisor) / divisor, rounded down, + 1; the shifts are
    // min(l, 1) and max(l - 1, 0) (about 5 lines)
    return {};  // and this line goes
}

/// n / divisor, rounded down, with a high half of a product, two shifts, two additions.
__device__ uint32_t divide(uint32_t n, const Divider& divider) {
    // TODO(learner): t = the high half of magic * n (__umulhi). The quotient is
    // (t + n) >> l; but t + n may need 33 bits. (n - t) >> first_shift does not, nor
    // does t + that, and one shift less is left (about 2 lines)
    return n + divider.magic;  // and this line goes
}
// #endregion divider

void quotients(const uint32_t* n,
               uint32_t* quotient,
               int64_t count,
               uint32_t divisor,
               cudaStream_t stream) {
    const Divider divider = make_divider(divisor);
    wb::Arguments("quotients")
        .size("count", count)
        .device("n", n, count)
        .device("quotient", quotient, count);
    if (count == 0) return;
    quotients_kernel<<<wb::grid_size(count, kThreads), kThreads, 0, stream>>>(
        n, quotient, count, divider);
    CUDA_CHECK_LAUNCH();
}
