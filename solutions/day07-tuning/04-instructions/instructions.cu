// instructions.cu: five small pieces, each about what a line of code costs.
// #solution
//
// compress_outliers_v3 is in compress_03_no_holes.cuh, copy_floats_v1 is given.
//
// <Ladder of="compress_outliers" at="n = 67108864">
//        GB/s  idea                  what limits it
//   v1    569  each thread its own   nearly every warp waits for an outlier
//   v2  1,860  lists of outliers     stores with holes, where outliers are
//   v3      -  stores without holes  memory: outliers are stored twice
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
//
// <Ladder of="copy_floats" at="n = 268435456 in + 1">
//        GB/s  idea                   what limits it
//   v1  2,330  float                  one float a thread under way
//   v2  2,330  float4 and both ends   here no float4 fits: as v1
//   v3  3,000  four floats under way  memory
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
// #end
#include "instructions.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
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
    // #solution
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? 0 : kNeverThere;
    const auto place = [](float x) {
        const int64_t steps = __float_as_uint(x) & 0x7FFFFFFFu;  // from 0
        return __float_as_uint(x) >> 31 ? -steps : steps;
    };
    const int64_t way = place(a) - place(b);  // up to 2^32 - 2^24: no int32_t
    return static_cast<uint32_t>(way < 0 ? -way : way);
    // #end
    // #starter return 0;  // and this line goes
}
// #endregion ulp

void ulp_distances(const float* a,
                   const float* b,
                   uint32_t* distance,
                   int64_t n,
                   cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when ulp_distance is written
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
    // #solution
    const uint64_t thread = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    unsigned long long mine = 0;
    for (uint64_t i = thread; i < count; i += stride) {
        const uint32_t bits = first + static_cast<uint32_t>(i);
        const float x = __uint_as_float(bits);
        mine = max(mine, packed(ulp_distance(F::value(x), F::exact(x)), bits));
    }
    for (int lanes = wb::kWarpSize / 2; lanes > 0; lanes /= 2)
        mine = max(mine, __shfl_xor_sync(0xFFFFFFFFu, mine, lanes));
    if (threadIdx.x % wb::kWarpSize == 0) atomicMax(worst, mine);
    // #end
}
// #endregion worst-kernel

void worst_error(Function function,
                 uint32_t first,
                 uint64_t count,
                 unsigned long long* worst,
                 cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when worst_kernel is written
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
    // #solution
    const float t = x * kLog2E;
    const float r = fmaf(x, kLog2ERest, fmaf(x, kLog2E, -t));
    const float power = wb::ptx::exp2_approx(t);
    return fabsf(t) < 128.0f ? fmaf(power, r * kLn2, power) : power;
    // #end
    // #starter return x * (kLog2E + kLog2ERest + kLn2);  // and this line goes
}
// #endregion exp

void exponentials(const float* x, float* y, int64_t n, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when quick_exp is written
    wb::Arguments("exponentials").size("n", n).device("x", x, n).device("y", y, n);
    if (n == 0) return;
    exp_kernel<<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(x, y, n);
    CUDA_CHECK_LAUNCH();
}

// --- 3. Outliers in full warps -----------------------------------------------------

// #solution
static void compress_outliers_v1(const float* x,
                                 float* y,
                                 int64_t n,
                                 cudaStream_t stream) {
    launch_divergent(x, y, n, stream);
}
WB_RUNG(compress_outliers, compress_outliers_v1, "each thread its own");
// #end

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
    // #solution
    __shared__ int s_outliers[kTile];  // their places in the tile, in any order
    __shared__ int s_count;
    const int64_t first = int64_t{blockIdx.x} * kTile;
    if (threadIdx.x == 0) s_count = 0;
    __syncthreads();
    const auto size = static_cast<int>(min(int64_t{kTile}, n - first));
    for (int k = static_cast<int>(threadIdx.x); k < size; k += kThreads) {
        const float value = x[first + k];
        if (is_outlier(value))
            s_outliers[atomicAdd(&s_count, 1)] = k;
        else
            y[first + k] = value;
    }
    __syncthreads();
    for (int j = static_cast<int>(threadIdx.x); j < s_count; j += kThreads) {
        const int64_t i = first + s_outliers[j];
        y[i] = compressed(x[i]);
    }
    // #end
}
// #endregion compress-kernel

static void compress_outliers_v2(const float* x,
                                 float* y,
                                 int64_t n,
                                 cudaStream_t stream) {
    compress_kernel<<<wb::grid_size(n, kTile), kThreads, 0, stream>>>(x, y, n);
    CUDA_CHECK_LAUNCH();
}
// #solution
WB_RUNG(compress_outliers, compress_outliers_v2, "lists of outliers");

#include "compress_03_no_holes.cuh"
// #end

void compress_outliers(const float* x, float* y, int64_t n, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when compress_kernel is written
    wb::Arguments("compress_outliers").size("n", n).device("x", x, n).device("y", y, n);
    if (n == 0) return;
    // #solution
    compress_outliers_v3(x, y, n, stream);
    // #end
    // #starter compress_outliers_v2(x, y, n, stream);
}

// --- 4. Four floats at a time -------------------------------------------------------

// #solution
WB_RUNG(copy_floats, copy_floats_v1, "float");
// #end

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
    // #solution
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t vectors = (n - head) / 4;
    if (i < vectors) {
        const auto* in4 = reinterpret_cast<const float4*>(in + head);
        auto* out4 = reinterpret_cast<float4*>(out + head);
        out4[i] = in4[i];
    }
    const int64_t tail = head + 4 * vectors;
    if (i < head) out[i] = in[i];
    if (i < n - tail) out[tail + i] = in[tail + i];
    // #end
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
// #solution
WB_RUNG(copy_floats, copy_floats_v2, "float4");

// #region copy-v3
/// copy_floats_v3, where no float4 fits both: four floats a thread, all loaded before
/// the first is stored.
///
/// Launch   grid ceil_div(n, 4 * kThreads), block kThreads, no shared memory
static __global__ void copy_v3_kernel(const float* in, float* out, int64_t n) {
    constexpr int kFloats = 4;
    const int64_t first = int64_t{blockIdx.x} * kThreads * kFloats + threadIdx.x;
    float r[kFloats];
#pragma unroll
    for (int j = 0; j < kFloats; ++j)
        if (first + j * kThreads < n) r[j] = in[first + j * kThreads];
#pragma unroll
    for (int j = 0; j < kFloats; ++j)
        if (first + j * kThreads < n) out[first + j * kThreads] = r[j];
}

static void copy_floats_v3(const float* in,
                           float* out,
                           int64_t n,
                           cudaStream_t stream) {
    if (floats_to_boundary(in) == floats_to_boundary(out))
        return copy_floats_v2(in, out, n, stream);
    const unsigned grid = wb::grid_size(n, 4 * kThreads);
    copy_v3_kernel<<<grid, kThreads, 0, stream>>>(in, out, n);
    CUDA_CHECK_LAUNCH();
}
// #endregion copy-v3
WB_RUNG(copy_floats, copy_floats_v3, "four floats under way");
// #end

void copy_floats(const float* in, float* out, int64_t n, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when copy_v2_kernel is written
    wb::Arguments("copy_floats").size("n", n).device("in", in, n).device("out", out, n);
    if (n == 0) return;
    // #solution
    copy_floats_v3(in, out, n, stream);
    // #end
    // #starter copy_floats_v2(in, out, n, stream);
}

// --- 5. Division without dividing ---------------------------------------------------

// #region divider
Divider make_divider(uint32_t divisor) {
    // #starter WB_NOT_SOLVED();  // delete this line when this and divide are written
    wb::Arguments("make_divider").positive("divisor", divisor);
    // TODO(learner): l, the smallest number with 2^l >= divisor; then, in 64 bits,
    // magic = 2^32 (2^l - divisor) / divisor, rounded down, + 1; the shifts are
    // min(l, 1) and max(l - 1, 0) (about 5 lines)
    // #solution
    uint32_t l = 0;
    while ((uint64_t{1} << l) < divisor)
        ++l;
    const uint64_t beyond = (uint64_t{1} << l) - divisor;
    const auto magic = static_cast<uint32_t>((beyond << 32) / divisor + 1);
    return {magic, std::min(l, 1u), l - std::min(l, 1u)};
    // #end
    // #starter return {};  // and this line goes
}

/// n / divisor, rounded down, with a high half of a product, two shifts, two additions.
__device__ uint32_t divide(uint32_t n, const Divider& divider) {
    // TODO(learner): t = the high half of magic * n (__umulhi). The quotient is
    // (t + n) >> l; but t + n may need 33 bits. (n - t) >> first_shift does not, nor
    // does t + that, and one shift less is left (about 2 lines)
    // #solution
    const uint32_t t = __umulhi(divider.magic, n);
    return (t + ((n - t) >> divider.first_shift)) >> divider.second_shift;
    // #end
    // #starter return n + divider.magic;  // and this line goes
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
