// __nv_bfloat16: arithmetic, comparisons, functions and conversions, and the 8-bit
// types.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "digest.h"

DIGEST(bf16_hadd, __nv_bfloat16, __hadd(a, b))
DIGEST(bf16_hsub, __nv_bfloat16, __hsub(a, b))
DIGEST(bf16_hmul, __nv_bfloat16, __hmul(a, b))
DIGEST(bf16_hdiv, __nv_bfloat16, __hdiv(a, b))
DIGEST(bf16_hadd_rn, __nv_bfloat16, __hadd_rn(a, b))
DIGEST(bf16_hsub_rn, __nv_bfloat16, __hsub_rn(a, b))
DIGEST(bf16_hmul_rn, __nv_bfloat16, __hmul_rn(a, b))
DIGEST(bf16_hadd_sat, __nv_bfloat16, __hadd_sat(a, b))
DIGEST(bf16_hsub_sat, __nv_bfloat16, __hsub_sat(a, b))
DIGEST(bf16_hmul_sat, __nv_bfloat16, __hmul_sat(a, b))
DIGEST(bf16_hmax, __nv_bfloat16, __hmax(a, b))
DIGEST(bf16_hmin, __nv_bfloat16, __hmin(a, b))
DIGEST(bf16_hmax_nan, __nv_bfloat16, __hmax_nan(a, b))
DIGEST(bf16_hmin_nan, __nv_bfloat16, __hmin_nan(a, b))
DIGEST(bf16_heq, __nv_bfloat16, __heq(a, b))
DIGEST(bf16_hne, __nv_bfloat16, __hne(a, b))
DIGEST(bf16_hlt, __nv_bfloat16, __hlt(a, b))
DIGEST(bf16_hle, __nv_bfloat16, __hle(a, b))
DIGEST(bf16_hgt, __nv_bfloat16, __hgt(a, b))
DIGEST(bf16_hge, __nv_bfloat16, __hge(a, b))
DIGEST(bf16_hequ, __nv_bfloat16, __hequ(a, b))
DIGEST(bf16_hneu, __nv_bfloat16, __hneu(a, b))
DIGEST(bf16_hltu, __nv_bfloat16, __hltu(a, b))
DIGEST(bf16_hleu, __nv_bfloat16, __hleu(a, b))
DIGEST(bf16_hgtu, __nv_bfloat16, __hgtu(a, b))
DIGEST(bf16_hgeu, __nv_bfloat16, __hgeu(a, b))
DIGEST(bf16_hfma, __nv_bfloat16, __hfma(a, b, c))
DIGEST(bf16_hfma_sat, __nv_bfloat16, __hfma_sat(a, b, c))
DIGEST(bf16_hfma_relu, __nv_bfloat16, __hfma_relu(a, b, c))
DIGEST(bf16_hneg, __nv_bfloat16, __hneg(a))
DIGEST(bf16_habs, __nv_bfloat16, __habs(a))
DIGEST(bf16_hisnan, __nv_bfloat16, __hisnan(a))
DIGEST(bf16_hisinf, __nv_bfloat16, __hisinf(a))
DIGEST(bf16_hadd2, __nv_bfloat162, __hadd2(a, b))
DIGEST(bf16_hsub2, __nv_bfloat162, __hsub2(a, b))
DIGEST(bf16_hmul2, __nv_bfloat162, __hmul2(a, b))
DIGEST(bf16_h2div, __nv_bfloat162, __h2div(a, b))
DIGEST(bf16_hadd2_sat, __nv_bfloat162, __hadd2_sat(a, b))
DIGEST(bf16_hmax2, __nv_bfloat162, __hmax2(a, b))
DIGEST(bf16_hmin2_nan, __nv_bfloat162, __hmin2_nan(a, b))
DIGEST(bf16_heq2, __nv_bfloat162, __heq2(a, b))
DIGEST(bf16_hneu2, __nv_bfloat162, __hneu2(a, b))
DIGEST(bf16_hltu2, __nv_bfloat162, __hltu2(a, b))
DIGEST(bf16_hge2, __nv_bfloat162, __hge2(a, b))
DIGEST(bf16_hbeq2, __nv_bfloat162, __hbeq2(a, b))
DIGEST(bf16_hbneu2, __nv_bfloat162, __hbneu2(a, b))
DIGEST(bf16_hblt2, __nv_bfloat162, __hblt2(a, b))
DIGEST(bf16_heq2_mask, __nv_bfloat162, __heq2_mask(a, b))
DIGEST(bf16_hgtu2_mask, __nv_bfloat162, __hgtu2_mask(a, b))
DIGEST(bf16_hfma2, __nv_bfloat162, __hfma2(a, b, c))
DIGEST(bf16_hfma2_sat, __nv_bfloat162, __hfma2_sat(a, b, c))
DIGEST(bf16_hfma2_relu, __nv_bfloat162, __hfma2_relu(a, b, c))
DIGEST(bf16_hcmadd, __nv_bfloat162, __hcmadd(a, b, c))
DIGEST(bf16_hneg2, __nv_bfloat162, __hneg2(a))
DIGEST(bf16_habs2, __nv_bfloat162, __habs2(a))
DIGEST(bf16_hisnan2, __nv_bfloat162, __hisnan2(a))
DIGEST(bf16_hsqrt, __nv_bfloat16, hsqrt(a))
DIGEST(bf16_hrsqrt, __nv_bfloat16, hrsqrt(a))
DIGEST(bf16_hrcp, __nv_bfloat16, hrcp(a))
DIGEST(bf16_hexp, __nv_bfloat16, hexp(a))
DIGEST(bf16_hexp2, __nv_bfloat16, hexp2(a))
DIGEST(bf16_hexp10, __nv_bfloat16, hexp10(a))
DIGEST(bf16_hlog, __nv_bfloat16, hlog(a))
DIGEST(bf16_hlog2, __nv_bfloat16, hlog2(a))
DIGEST(bf16_hlog10, __nv_bfloat16, hlog10(a))
DIGEST(bf16_hsin, __nv_bfloat16, hsin(a))
DIGEST(bf16_hcos, __nv_bfloat16, hcos(a))
DIGEST(bf16_htanh, __nv_bfloat16, htanh(a))
DIGEST(bf16_hfloor, __nv_bfloat16, hfloor(a))
DIGEST(bf16_hceil, __nv_bfloat16, hceil(a))
DIGEST(bf16_hrint, __nv_bfloat16, hrint(a))
DIGEST(bf16_htrunc, __nv_bfloat16, htrunc(a))
DIGEST(bf16_less, __nv_bfloat16, a < b)
DIGEST(bf16_increment, __nv_bfloat16, ++a)
DIGEST(bf16_truth, __nv_bfloat16, bool(a))
DIGEST(bf16_to_float, __nv_bfloat16, __bfloat162float(a))
DIGEST(bf16_from_float_rn, float, __float2bfloat16_rn(a))
DIGEST(bf16_from_tiny_float_rn, float, __float2bfloat16_rn(a * 0x1p-126f))
DIGEST(bf16_from_big_float_rn, float, __float2bfloat16_rn(a * 0x1p122f))
DIGEST(bf16_from_short_rn, short, __short2bfloat16_rn(a))
DIGEST(bf16_to_short_rn, __nv_bfloat16, __bfloat162short_rn(a))
DIGEST(bf16_from_ushort_rn, unsigned short, __ushort2bfloat16_rn(a))
DIGEST(bf16_to_ushort_rn, __nv_bfloat16, __bfloat162ushort_rn(a))
DIGEST(bf16_from_int_rn, int, __int2bfloat16_rn(a))
DIGEST(bf16_to_int_rn, __nv_bfloat16, __bfloat162int_rn(a))
DIGEST(bf16_from_uint_rn, unsigned int, __uint2bfloat16_rn(a))
DIGEST(bf16_to_uint_rn, __nv_bfloat16, __bfloat162uint_rn(a))
DIGEST(bf16_from_ll_rn, long long, __ll2bfloat16_rn(a))
DIGEST(bf16_to_ll_rn, __nv_bfloat16, __bfloat162ll_rn(a))
DIGEST(bf16_from_ull_rn, unsigned long long, __ull2bfloat16_rn(a))
DIGEST(bf16_to_ull_rn, __nv_bfloat16, __bfloat162ull_rn(a))
DIGEST(bf16_from_float_rz, float, __float2bfloat16_rz(a))
DIGEST(bf16_from_tiny_float_rz, float, __float2bfloat16_rz(a * 0x1p-126f))
DIGEST(bf16_from_big_float_rz, float, __float2bfloat16_rz(a * 0x1p122f))
DIGEST(bf16_from_short_rz, short, __short2bfloat16_rz(a))
DIGEST(bf16_to_short_rz, __nv_bfloat16, __bfloat162short_rz(a))
DIGEST(bf16_from_ushort_rz, unsigned short, __ushort2bfloat16_rz(a))
DIGEST(bf16_to_ushort_rz, __nv_bfloat16, __bfloat162ushort_rz(a))
DIGEST(bf16_from_int_rz, int, __int2bfloat16_rz(a))
DIGEST(bf16_to_int_rz, __nv_bfloat16, __bfloat162int_rz(a))
DIGEST(bf16_from_uint_rz, unsigned int, __uint2bfloat16_rz(a))
DIGEST(bf16_to_uint_rz, __nv_bfloat16, __bfloat162uint_rz(a))
DIGEST(bf16_from_ll_rz, long long, __ll2bfloat16_rz(a))
DIGEST(bf16_to_ll_rz, __nv_bfloat16, __bfloat162ll_rz(a))
DIGEST(bf16_from_ull_rz, unsigned long long, __ull2bfloat16_rz(a))
DIGEST(bf16_to_ull_rz, __nv_bfloat16, __bfloat162ull_rz(a))
DIGEST(bf16_from_float_rd, float, __float2bfloat16_rd(a))
DIGEST(bf16_from_tiny_float_rd, float, __float2bfloat16_rd(a * 0x1p-126f))
DIGEST(bf16_from_big_float_rd, float, __float2bfloat16_rd(a * 0x1p122f))
DIGEST(bf16_from_short_rd, short, __short2bfloat16_rd(a))
DIGEST(bf16_to_short_rd, __nv_bfloat16, __bfloat162short_rd(a))
DIGEST(bf16_from_ushort_rd, unsigned short, __ushort2bfloat16_rd(a))
DIGEST(bf16_to_ushort_rd, __nv_bfloat16, __bfloat162ushort_rd(a))
DIGEST(bf16_from_int_rd, int, __int2bfloat16_rd(a))
DIGEST(bf16_to_int_rd, __nv_bfloat16, __bfloat162int_rd(a))
DIGEST(bf16_from_uint_rd, unsigned int, __uint2bfloat16_rd(a))
DIGEST(bf16_to_uint_rd, __nv_bfloat16, __bfloat162uint_rd(a))
DIGEST(bf16_from_ll_rd, long long, __ll2bfloat16_rd(a))
DIGEST(bf16_to_ll_rd, __nv_bfloat16, __bfloat162ll_rd(a))
DIGEST(bf16_from_ull_rd, unsigned long long, __ull2bfloat16_rd(a))
DIGEST(bf16_to_ull_rd, __nv_bfloat16, __bfloat162ull_rd(a))
DIGEST(bf16_from_float_ru, float, __float2bfloat16_ru(a))
DIGEST(bf16_from_tiny_float_ru, float, __float2bfloat16_ru(a * 0x1p-126f))
DIGEST(bf16_from_big_float_ru, float, __float2bfloat16_ru(a * 0x1p122f))
DIGEST(bf16_from_short_ru, short, __short2bfloat16_ru(a))
DIGEST(bf16_to_short_ru, __nv_bfloat16, __bfloat162short_ru(a))
DIGEST(bf16_from_ushort_ru, unsigned short, __ushort2bfloat16_ru(a))
DIGEST(bf16_to_ushort_ru, __nv_bfloat16, __bfloat162ushort_ru(a))
DIGEST(bf16_from_int_ru, int, __int2bfloat16_ru(a))
DIGEST(bf16_to_int_ru, __nv_bfloat16, __bfloat162int_ru(a))
DIGEST(bf16_from_uint_ru, unsigned int, __uint2bfloat16_ru(a))
DIGEST(bf16_to_uint_ru, __nv_bfloat16, __bfloat162uint_ru(a))
DIGEST(bf16_from_ll_ru, long long, __ll2bfloat16_ru(a))
DIGEST(bf16_to_ll_ru, __nv_bfloat16, __bfloat162ll_ru(a))
DIGEST(bf16_from_ull_ru, unsigned long long, __ull2bfloat16_ru(a))
DIGEST(bf16_to_ull_ru, __nv_bfloat16, __bfloat162ull_ru(a))
DIGEST(bf16_from_double, double, __double2bfloat16(isnan(a) ? 1.0 : a))
DIGEST(bf16_from_tiny_double, double, __double2bfloat16(isnan(a) ? 1.0 : a * 0x1p-126))
DIGEST(bf16_to_char, __nv_bfloat16, __bfloat162char_rz(a))
DIGEST(bf16_to_uchar, __nv_bfloat16, __bfloat162uchar_rz(a))
DIGEST(bf16_pairs,
       __nv_bfloat16,
       __highs2bfloat162(__lows2bfloat162(__halves2bfloat162(a, b),
                                          __bfloat162bfloat162(c)),
                         __lowhigh2highlow(make_bfloat162(b, c))))
DIGEST(e4m3_from_float_nosat, float, __nv_cvt_float_to_fp8(a, __NV_NOSAT, __NV_E4M3))
DIGEST(e4m3_from_small_float_nosat,
       float,
       __nv_cvt_float_to_fp8(a * 0x1p-8f, __NV_NOSAT, __NV_E4M3))
DIGEST(e4m3_from_double_nosat,
       double,
       __nv_cvt_double_to_fp8(isnan(a) ? 1.0 : a, __NV_NOSAT, __NV_E4M3))
DIGEST(e4m3_from_half_nosat, __half, __nv_cvt_halfraw_to_fp8(a, __NV_NOSAT, __NV_E4M3))
DIGEST(e4m3_from_bf16_nosat,
       __nv_bfloat16,
       __nv_cvt_bfloat16raw_to_fp8(a, __NV_NOSAT, __NV_E4M3))
DIGEST(e4m3_from_float_satfinite,
       float,
       __nv_cvt_float_to_fp8(a, __NV_SATFINITE, __NV_E4M3))
DIGEST(e4m3_from_small_float_satfinite,
       float,
       __nv_cvt_float_to_fp8(a * 0x1p-8f, __NV_SATFINITE, __NV_E4M3))
DIGEST(e4m3_from_double_satfinite,
       double,
       __nv_cvt_double_to_fp8(isnan(a) ? 1.0 : a, __NV_SATFINITE, __NV_E4M3))
DIGEST(e4m3_from_half_satfinite,
       __half,
       __nv_cvt_halfraw_to_fp8(a, __NV_SATFINITE, __NV_E4M3))
DIGEST(e4m3_from_bf16_satfinite,
       __nv_bfloat16,
       __nv_cvt_bfloat16raw_to_fp8(a, __NV_SATFINITE, __NV_E4M3))
DIGEST(e4m3_to_half, unsigned char, __nv_cvt_fp8_to_halfraw(a, __NV_E4M3))
DIGEST(e4m3x2_from_float2,
       float,
       __nv_cvt_float2_to_fp8x2(make_float2(a, b), __NV_SATFINITE, __NV_E4M3))
DIGEST(e5m2_from_float_nosat, float, __nv_cvt_float_to_fp8(a, __NV_NOSAT, __NV_E5M2))
DIGEST(e5m2_from_small_float_nosat,
       float,
       __nv_cvt_float_to_fp8(a * 0x1p-8f, __NV_NOSAT, __NV_E5M2))
DIGEST(e5m2_from_double_nosat,
       double,
       __nv_cvt_double_to_fp8(isnan(a) ? 1.0 : a, __NV_NOSAT, __NV_E5M2))
DIGEST(e5m2_from_half_nosat, __half, __nv_cvt_halfraw_to_fp8(a, __NV_NOSAT, __NV_E5M2))
DIGEST(e5m2_from_bf16_nosat,
       __nv_bfloat16,
       __nv_cvt_bfloat16raw_to_fp8(a, __NV_NOSAT, __NV_E5M2))
DIGEST(e5m2_from_float_satfinite,
       float,
       __nv_cvt_float_to_fp8(a, __NV_SATFINITE, __NV_E5M2))
DIGEST(e5m2_from_small_float_satfinite,
       float,
       __nv_cvt_float_to_fp8(a * 0x1p-8f, __NV_SATFINITE, __NV_E5M2))
DIGEST(e5m2_from_double_satfinite,
       double,
       __nv_cvt_double_to_fp8(isnan(a) ? 1.0 : a, __NV_SATFINITE, __NV_E5M2))
DIGEST(e5m2_from_half_satfinite,
       __half,
       __nv_cvt_halfraw_to_fp8(a, __NV_SATFINITE, __NV_E5M2))
DIGEST(e5m2_from_bf16_satfinite,
       __nv_bfloat16,
       __nv_cvt_bfloat16raw_to_fp8(a, __NV_SATFINITE, __NV_E5M2))
DIGEST(e5m2_to_half, unsigned char, __nv_cvt_fp8_to_halfraw(a, __NV_E5M2))
DIGEST(e5m2x2_from_float2,
       float,
       __nv_cvt_float2_to_fp8x2(make_float2(a, b), __NV_SATFINITE, __NV_E5M2))
DIGEST(bf16_operators, __nv_bfloat16, -(a + b) / (a - c))
