// The right functions of instructions.h that the .diff files edit. Not the solution:
// its rulers take 2 CPU seconds to compile, and nothing is wrong with them.
#include "instructions.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/errors.h>
#include <wb/launch.h>

#include <algorithm>

#include "copies.h"
#include "elementwise.h"
#include "functions.h"
#include "outliers.h"
#ifdef WB_RIGHT_TEXT
#include "rulers.h"
#endif

constexpr int kThreads = 256;
constexpr int kTile = 2048;

__device__ uint32_t ulp_distance(float a, float b) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? 0 : kNeverThere;
    const auto place = [](float x) {
        const int64_t steps = __float_as_uint(x) & 0x7FFFFFFFu;  // from 0
        return __float_as_uint(x) >> 31 ? -steps : steps;
    };
    const int64_t way = place(a) - place(b);
    return static_cast<uint32_t>(way < 0 ? -way : way);
}

void ulp_distances(const float* a,
                   const float* b,
                   uint32_t* distance,
                   int64_t n,
                   cudaStream_t stream) {
    wb::Arguments("ulp_distances")
        .size("n", n)
        .device("a", a, n)
        .device("b", b, n)
        .device("distance", distance, n);
    if (n == 0) return;
    ulp_kernel<<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(a, b, distance, n);
    CUDA_CHECK_LAUNCH();
}

template <class F>
__global__ void worst_kernel(F,
                             uint32_t first,
                             uint64_t count,
                             unsigned long long* worst) {
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
}

void worst_error(Function function,
                 uint32_t first,
                 uint64_t count,
                 unsigned long long* worst,
                 cudaStream_t stream) {
    const auto floats = static_cast<int64_t>(std::min<uint64_t>(count, INT64_MAX));
    wb::Arguments("worst_error")
        .require(
            floats <= (int64_t{1} << 32) - first, "count", floats, "<= 2^32 - first")
        .device("worst", worst, 1);
    CUDA_CHECK(cudaMemsetAsync(worst, 0, sizeof *worst, stream));
    if (count == 0) return;
    const auto grid = static_cast<unsigned>(
        std::min(wb::ceil_div(floats, int64_t{kThreads}), int64_t{4096}));
    const auto launch = [&](auto f) {
        worst_kernel<<<grid, kThreads, 0, stream>>>(f, first, count, worst);
    };
    // The tests ask for these two only.
    if (function == Function::coarse) return launch(Coarse{});
    if (function == Function::own_exp) return launch(OwnExp{});
#ifdef WB_RIGHT_TEXT
    with_function(function, launch);
#endif
}

__device__ float quick_exp(float x) {
    constexpr float kLog2E = 0x1.715476p+0f;      // log2(e), rounded,
    constexpr float kLog2ERest = 0x1.4ae0cp-26f;  // and what was rounded away
    constexpr float kLn2 = 0x1.62e43p-1f;
    const float t = x * kLog2E;
    const float r = fmaf(x, kLog2ERest, fmaf(x, kLog2E, -t));
    const float power = wb::ptx::exp2_approx(t);
    return fabsf(t) < 128.0f ? fmaf(power, r * kLn2, power) : power;
}

void exponentials(const float* x, float* y, int64_t n, cudaStream_t stream) {
    wb::Arguments("exponentials").size("n", n).device("x", x, n).device("y", y, n);
    if (n == 0) return;
    exp_kernel<<<wb::grid_size(n, kThreads), kThreads, 0, stream>>>(x, y, n);
    CUDA_CHECK_LAUNCH();
}

__global__ void compress_kernel(const float* x, float* y, int64_t n) {
    __shared__ int s_outliers[kTile];
    __shared__ int s_count;
    const int64_t first = int64_t{blockIdx.x} * kTile;
    const auto thread = static_cast<int>(threadIdx.x);
    if (thread == 0) s_count = 0;
    __syncthreads();
    const auto size = static_cast<int>(min(int64_t{kTile}, n - first));
    for (int k = thread; k < size; k += kThreads) {
        const float value = x[first + k];
        if (is_outlier(value))
            s_outliers[atomicAdd(&s_count, 1)] = k;
        else
            y[first + k] = value;
    }
    __syncthreads();
    for (int j = thread; j < s_count; j += kThreads) {
        const int64_t i = first + s_outliers[j];
        y[i] = compressed(x[i]);
    }
}

void compress_outliers(const float* x, float* y, int64_t n, cudaStream_t stream) {
    wb::Arguments("compress_outliers").size("n", n).device("x", x, n).device("y", y, n);
    if (n == 0) return;
    compress_kernel<<<wb::grid_size(n, kTile), kThreads, 0, stream>>>(x, y, n);
    CUDA_CHECK_LAUNCH();
}

__global__ void copy_kernel(const float* in, float* out, int64_t n, int64_t head) {
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
}

void copy_floats(const float* in, float* out, int64_t n, cudaStream_t stream) {
    wb::Arguments("copy_floats").size("n", n).device("in", in, n).device("out", out, n);
    if (n == 0) return;
    if (floats_to_boundary(in) != floats_to_boundary(out))
        return copy_floats_v1(in, out, n, stream);  // no float4 fits both
    const int64_t head = std::min(n, floats_to_boundary(out));
    const unsigned grid = wb::grid_size(n, kThreads);
    copy_kernel<<<grid, kThreads, 0, stream>>>(in, out, n, head);
    CUDA_CHECK_LAUNCH();
}

Divider make_divider(uint32_t divisor) {
    wb::Arguments("make_divider").positive("divisor", divisor);
    uint32_t l = 0;
    while ((uint64_t{1} << l) < divisor)
        ++l;
    const uint64_t beyond = (uint64_t{1} << l) - divisor;
    const auto magic = static_cast<uint32_t>((beyond << 32) / divisor + 1);
    return {magic, std::min(l, 1u), l - std::min(l, 1u)};
}

__device__ uint32_t divide(uint32_t n, const Divider& divider) {
    const uint32_t t = __umulhi(divider.magic, n);
    return (t + ((n - t) >> divider.first_shift)) >> divider.second_shift;
}

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

#ifndef WB_RIGHT_TEXT
void wrong_quotients(uint32_t, uint32_t, uint64_t, unsigned long long*, cudaStream_t) {
    throw wb::NotSolved("this mutant has no rulers");
}

void launch_division_ruler(Division, uint32_t, uint32_t*, cudaStream_t) {
    throw wb::NotSolved("this mutant has no rulers");
}

void launch_function_ruler(Function, float, float*, cudaStream_t) {
    throw wb::NotSolved("this mutant has no rulers");
}

void launch_scale_rows(
    bool, const float*, const float*, float*, int64_t, cudaStream_t) {
    throw wb::NotSolved("this mutant has no rulers");
}
#endif
