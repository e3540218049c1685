/// wb/ptx/exp2.h: 2^x in one instruction (ex2.approx, every architecture).
///
/// exp2f(x) is the same instruction between two multiplications, which save results
/// below the smallest normal float, 2^-126. A weight of a softmax that is so small
/// beside the largest, which is 1, may as well be 0.
///
/// Source: PTX ISA, "Floating Point Instructions: ex2".
#pragma once
#include <cuda_runtime.h>

namespace wb::ptx {

/// 2^x; relative error at most 2^-22; 0 for x < -126 and for -infinity.
__device__ __forceinline__ float exp2_approx(float x) {
#if defined(SIMT_CPU)
    return x < -126.0f ? 0.0f : exp2f(x);
#else
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
#endif
}

}  // namespace wb::ptx
