// copy_01_floats.cuh: copy_floats_v1, from which the other two go on. Included by
// occupancy_and_ilp.cu, above v2.
#pragma once

#include <wb/ladder.h>

#include <cstdint>

#include "occupancy_and_ilp.h"
#include "variants.h"

// #region copy-v1
/// copy_floats_v1: a float at a time. x and y might overlap, for all that the compiler
/// knows: what comes before in the code must be stored before the next load.
///
/// Launch   grid ceil_div(n, 4 * kLoads * kCopyThreads), block kCopyThreads
template <int kLoads>
__global__ void copy_floats_v1_kernel(const float* x, float* y, int64_t n) {
    constexpr int kFloats = 4 * kLoads;
    const int64_t first = int64_t{blockIdx.x} * (kFloats * kCopyThreads) + threadIdx.x;
#pragma unroll
    for (int k = 0; k < kFloats; ++k) {
        const int64_t i = first + k * kCopyThreads;
        if (i < n) y[i] = x[i];
    }
}
// #endregion copy-v1

static void copy_floats_v1(
    const float* x, float* y, int64_t n, Variant variant, cudaStream_t stream) {
    static const CopyKernel kKernels[] = {copy_floats_v1_kernel<1>,
                                          copy_floats_v1_kernel<2>,
                                          copy_floats_v1_kernel<4>,
                                          copy_floats_v1_kernel<8>};
    launch_copy(kKernels, x, y, n, variant, stream);
}
WB_RUNG(copy_floats, copy_floats_v1, "a float at a time, one after another");
