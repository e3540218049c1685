/// wb/ptx/l2_policy.h: which data the L2 cache is to give up first.
///
///     const L2Policy once = evict_first();   // a stream that nobody reads again
///     const L2Policy keep = evict_last();    // what a later kernel will read
///     bulk_load(s_tile, g_tile, bytes, &s_full[0], once);
///     store_with(&peaks[i], peak, keep);
///
/// Hints: they change no result. GPUs before sm_80 and the simulator ignore them.
///
/// Source: PTX ISA, "Data Movement and Conversion Instructions: createpolicy" and
/// "Cache Eviction Priority Hints".
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#if defined(__CUDA_ARCH__) && !defined(SIMT_CPU) && __CUDA_ARCH__ >= 800
#define WB_L2_POLICY
#endif

namespace wb::ptx {

/// What createpolicy has made: 64 bits that mean something to the GPU only.
struct L2Policy {
    uint64_t bits;
};

/// For data that is used once: it is given up before all other.
__device__ __forceinline__ L2Policy evict_first() {
    L2Policy policy = {0};
#ifdef WB_L2_POLICY
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy.bits));
#endif
    return policy;
}

/// For data that will be used again: it is given up after all other.
__device__ __forceinline__ L2Policy evict_last() {
    L2Policy policy = {0};
#ifdef WB_L2_POLICY
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy.bits));
#endif
    return policy;
}

/// Writes a float.
/// @param address  in global memory
__device__ __forceinline__ void store_with(float* address,
                                           float value,
                                           L2Policy policy) {
#ifdef WB_L2_POLICY
    asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(address),
                 "f"(value),
                 "l"(policy.bits)
                 : "memory");
#else
    (void)policy;
    *address = value;
#endif
}

}  // namespace wb::ptx

#undef WB_L2_POLICY
