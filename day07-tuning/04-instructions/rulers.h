/// rulers.h: kernels that do one thing again and again. instructions.cu includes this
/// file, so that they are compiled with your divide() and quick_exp().
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <cstdint>

#include "elementwise.h"
#include "functions.h"
#include "given.h"
#include "instructions.h"

struct ByVariable {
    uint32_t divisor;
    uint32_t zero;  // which the compiler cannot know to be 0
    __device__ uint32_t operator()(uint32_t n) const {
        return n / (divisor + (n & zero));
    }
};
struct BySame {
    uint32_t divisor;
    __device__ uint32_t operator()(uint32_t n) const { return n / divisor; }
};
template <uint32_t kDivisor>
struct ByConstant {
    __device__ uint32_t operator()(uint32_t n) const { return n / kDivisor; }
};
struct ByDivider {
    Divider divider;
    __device__ uint32_t operator()(uint32_t n) const { return divide(n, divider); }
};
struct In64Bits {
    uint64_t divisor;
    __device__ uint32_t operator()(uint32_t n) const {
        // The upper half is not zero, and the compiler does not know what it is.
        const uint64_t wide = divisor << 32 | n;
        return static_cast<uint32_t>(wide / divisor);
    }
};

// #region ruler
/// kRulerChains independent chains, so that latency does not count; see given.h.
///
/// Launch   grid kRulerBlocks, block kRulerThreads, no shared memory
template <class Operation>
__global__ void division_ruler_kernel(Operation divided, uint32_t* y) {
    const uint32_t thread = blockIdx.x * kRulerThreads + threadIdx.x;
    uint32_t x[kRulerChains];
    for (int j = 0; j < kRulerChains; ++j)
        x[j] = thread;
#pragma unroll 4
    for (int step = 0; step < kRulerSteps; ++step) {
#pragma unroll
        for (int j = 0; j < kRulerChains; ++j)
            x[j] = divided(x[j]) * 747796405u + static_cast<uint32_t>(j);
    }
    uint32_t sum = 0;
    for (int j = 0; j < kRulerChains; ++j)
        sum += x[j];
    y[thread] = sum;
}
// #endregion ruler

/// Launch   as division_ruler_kernel
template <class F>
__global__ void function_ruler_kernel(F, float c, float* y) {
    float x[kRulerChains];
    for (int j = 0; j < kRulerChains; ++j)
        x[j] = c + static_cast<float>(j);
#pragma unroll 4
    for (int step = 0; step < kRulerSteps; ++step) {
#pragma unroll
        for (int j = 0; j < kRulerChains; ++j)
            x[j] = fmaf(F::value(x[j]), 0x1p-10f, c);
    }
    float sum = 0.0f;
    for (int j = 0; j < kRulerChains; ++j)
        sum += x[j];
    y[blockIdx.x * kRulerThreads + threadIdx.x] = sum;
}

void launch_division_ruler(Division division,
                           uint32_t divisor,
                           uint32_t* y,
                           cudaStream_t stream) {
    const auto run = [&](auto divided) {
        division_ruler_kernel<<<kRulerBlocks, kRulerThreads, 0, stream>>>(divided, y);
    };
    switch (division) {
        case Division::by_variable:
            run(ByVariable{divisor, 0});
            break;
        case Division::by_same:
            run(BySame{divisor});
            break;
        case Division::by_seven:
            run(ByConstant<7>{});
            break;
        case Division::by_divider:
            run(ByDivider{make_divider(divisor)});
            break;
        case Division::by_eight:
            run(ByConstant<8>{});
            break;
        case Division::in_64_bits:
            run(In64Bits{divisor});
            break;
    }
    CUDA_CHECK_LAUNCH();
}

void launch_function_ruler(Function function, float c, float* y, cudaStream_t stream) {
    with_function(function, [&](auto f) {
        function_ruler_kernel<<<kRulerBlocks, kRulerThreads, 0, stream>>>(f, c, y);
    });
    CUDA_CHECK_LAUNCH();
}

/// Counts the numbers of which divide() and the operator / say different things.
///
/// Launch   any grid along x, any block, no shared memory
static __global__ void wrong_quotients_kernel(uint32_t divisor,
                                              Divider divider,
                                              uint32_t first,
                                              uint64_t count,
                                              unsigned long long* wrong) {
    const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        const uint32_t n = first + static_cast<uint32_t>(i);
        if (divide(n, divider) != n / divisor) atomicAdd(wrong, 1ull);
    }
}

void wrong_quotients(uint32_t divisor,
                     uint32_t first,
                     uint64_t count,
                     unsigned long long* wrong,
                     cudaStream_t stream) {
    const Divider divider = make_divider(divisor);
    CUDA_CHECK(cudaMemsetAsync(wrong, 0, sizeof *wrong, stream));
    if (count == 0) return;
    const auto blocks = wb::ceil_div(count, uint64_t{kRulerThreads});
    const auto grid = static_cast<unsigned>(blocks < 4096 ? blocks : 4096);
    wrong_quotients_kernel<<<grid, kRulerThreads, 0, stream>>>(
        divisor, divider, first, count, wrong);
    CUDA_CHECK_LAUNCH();
}

// #region scale-plain
/// Launch   grid ceil_div(n, 256), block 256, no shared memory
static __global__ void scale_plain_kernel(const float* x,      // [kScaledRows][n]
                                          const float* scale,  // [kScaledRows]
                                          float* y,            // [kScaledRows][n]
                                          int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= n) return;
#pragma unroll
    for (int row = 0; row < kScaledRows; ++row)
        y[row * n + i] = scale[row] * x[row * n + i];
}
// #endregion scale-plain

// #region scale-restrict
/// Launch   grid ceil_div(n, 256), block 256, no shared memory
static __global__ void scale_restrict_kernel(const float* __restrict__ x,
                                             const float* __restrict__ scale,
                                             float* __restrict__ y,
                                             int64_t n) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= n) return;
#pragma unroll
    for (int row = 0; row < kScaledRows; ++row)
        y[row * n + i] = scale[row] * x[row * n + i];
}
// #endregion scale-restrict

void launch_scale_rows(bool is_restricted,
                       const float* x,
                       const float* scale,
                       float* y,
                       int64_t n,
                       cudaStream_t stream) {
    constexpr int kBlock = 256;
    const unsigned grid = wb::grid_size(n, kBlock);
    if (is_restricted)
        scale_restrict_kernel<<<grid, kBlock, 0, stream>>>(x, scale, y, n);
    else
        scale_plain_kernel<<<grid, kBlock, 0, stream>>>(x, scale, y, n);
    CUDA_CHECK_LAUNCH();
}
