/// simt/bfloat16.h: __nv_bfloat16 and __nv_bfloat162, with the functions of CUDA's
/// cuda_bf16.h, and the conversions between the two 16-bit types.
#pragma once
#include "simt/half.h"

struct __nv_bfloat162;

#define SIMT_F16 __nv_bfloat16
#define SIMT_F16X2 __nv_bfloat162
#define SIMT_F16_RAW __nv_bfloat16_raw
#define SIMT_F16X2_RAW __nv_bfloat162_raw
#define SIMT_F16_OTHER __half
#define SIMT_F16_FORMAT simt::Bfloat16
#define SIMT_F16_NAMED(before, after) before##bfloat16##after
#include "simt/float16/all.inc"

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

/// A pair of twice the same number.
constexpr __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) {
    return {a, a};
}

inline __half::__half(__nv_bfloat16 value) : __half(float(value)) {}
inline __nv_bfloat16::__nv_bfloat16(__half value) : __nv_bfloat16(float(value)) {}

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000U)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)
