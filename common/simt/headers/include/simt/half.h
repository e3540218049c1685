/// simt/half.h: __half (IEEE binary16) and __half2, with the functions of CUDA's
/// cuda_fp16.h.
#pragma once
#include "simt/float16/integers.h"
#include "simt/formats.h"
#include "simt/vector_types.h"

struct __half;
struct __half2;
struct __nv_bfloat16;

#define SIMT_F16 __half
#define SIMT_F16X2 __half2
#define SIMT_F16_RAW __half_raw
#define SIMT_F16X2_RAW __half2_raw
#define SIMT_F16_OTHER __nv_bfloat16
#define SIMT_F16_FORMAT simt::Binary16
#define SIMT_F16_NAMED(before, after) before##half##after
#include "simt/float16/all.inc"

using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

/// A pair of twice the same number.
constexpr __half2 __half2half2(__half a) {
    return {a, a};
}

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
