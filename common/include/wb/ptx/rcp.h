/// wb/ptx/rcp.h: 1 / x in one instruction (rcp.approx, every architecture).
///
/// 1.0f / x is the same instruction and some more, which round the result to the
/// nearest and serve subnormal numbers.
///
/// Source: PTX ISA, "Floating Point Instructions: rcp.approx.ftz".
#pragma once
#include <cuda_runtime.h>

namespace wb::ptx {

/// 1 / x; relative error at most 2^-23; 0 for |x| > 2^126 and for infinities.
__device__ __forceinline__ float rcp_approx(float x) {
#if defined(SIMT_CPU)
    return x > 0x1p126f || x < -0x1p126f ? 0.0f : 1.0f / x;
#else
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
#endif
}

}  // namespace wb::ptx
