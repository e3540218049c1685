// __nv_bfloat16: arithmetic, comparisons, functions and conversions, and the 8-bit
// types.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#define H(name) bf16_##name
#define H_ONE __nv_bfloat16
#define H_TWO __nv_bfloat162
#define H_FROM(what, mode) __##what##2bfloat16##mode
#define H_TO(what) __bfloat162##what
#define H_TINY 0x1p-126f
#define H_BIG 0x1p122f
#include "digest_half.h"

DIGEST(bf16_pairs,
       __nv_bfloat16,
       __highs2bfloat162(__lows2bfloat162(__halves2bfloat162(a, b),
                                          __bfloat162bfloat162(c)),
                         __lowhigh2highlow(make_bfloat162(b, c))))

// ---- Eight bits -------------------------------------------------------------------

#define FP8_FROM(FORMAT, RANGE, ...)                                                  \
    DIGEST(FORMAT##_from_float_##RANGE, float, __nv_cvt_float_to_fp8(a, __VA_ARGS__)) \
    DIGEST(FORMAT##_from_small_float_##RANGE,                                         \
           float,                                                                     \
           __nv_cvt_float_to_fp8(a * 0x1p-8f, __VA_ARGS__))                           \
    DIGEST(FORMAT##_from_double_##RANGE,                                              \
           double,                                                                    \
           __nv_cvt_double_to_fp8(isnan(a) ? 1.0 : a, __VA_ARGS__))                   \
    DIGEST(                                                                           \
        FORMAT##_from_half_##RANGE, __half, __nv_cvt_halfraw_to_fp8(a, __VA_ARGS__))  \
    DIGEST(FORMAT##_from_bf16_##RANGE,                                                \
           __nv_bfloat16,                                                             \
           __nv_cvt_bfloat16raw_to_fp8(a, __VA_ARGS__))
#define FP8(FORMAT, KIND)                                                     \
    FP8_FROM(FORMAT, nosat, __NV_NOSAT, KIND)                                 \
    FP8_FROM(FORMAT, satfinite, __NV_SATFINITE, KIND)                         \
    DIGEST(FORMAT##_to_half, unsigned char, __nv_cvt_fp8_to_halfraw(a, KIND)) \
    DIGEST(FORMAT##x2_from_float2,                                            \
           float,                                                             \
           __nv_cvt_float2_to_fp8x2(make_float2(a, b), __NV_SATFINITE, KIND))

FP8(e4m3, __NV_E4M3)
FP8(e5m2, __NV_E5M2)
