/// digest_half.h: what __half and __nv_bfloat16 have in common. The file that includes
/// it says which of them it is about:
///
///     H(name)             its functions' names in the table: fp16_##name
///     H_ONE, H_TWO        __half, __half2
///     H_FROM(what, mode)  __int2half_rn for int, _rn
///     H_TO(what)          __half2float for float, __half2int_rn for int_rn
///     H_TINY              times this, results are subnormal; H_BIG: they overflow
#pragma once

#include "digest.h"

#define DIGEST_NAMED(NAME, T, ...) DIGEST(NAME, T, __VA_ARGS__)
#define DIGEST_ONE(NAME, ...) DIGEST_NAMED(H(NAME), H_ONE, __VA_ARGS__)
#define DIGEST_TWO(NAME, ...) DIGEST_NAMED(H(NAME), H_TWO, __VA_ARGS__)

DIGEST_ONE(hadd, __hadd(a, b))
DIGEST_ONE(hsub, __hsub(a, b))
DIGEST_ONE(hmul, __hmul(a, b))
DIGEST_ONE(hdiv, __hdiv(a, b))
DIGEST_ONE(hadd_rn, __hadd_rn(a, b))
DIGEST_ONE(hsub_rn, __hsub_rn(a, b))
DIGEST_ONE(hmul_rn, __hmul_rn(a, b))
DIGEST_ONE(hadd_sat, __hadd_sat(a, b))
DIGEST_ONE(hsub_sat, __hsub_sat(a, b))
DIGEST_ONE(hmul_sat, __hmul_sat(a, b))
DIGEST_ONE(hmax, __hmax(a, b))
DIGEST_ONE(hmin, __hmin(a, b))
DIGEST_ONE(hmax_nan, __hmax_nan(a, b))
DIGEST_ONE(hmin_nan, __hmin_nan(a, b))
DIGEST_ONE(heq, __heq(a, b))
DIGEST_ONE(hne, __hne(a, b))
DIGEST_ONE(hlt, __hlt(a, b))
DIGEST_ONE(hle, __hle(a, b))
DIGEST_ONE(hgt, __hgt(a, b))
DIGEST_ONE(hge, __hge(a, b))
DIGEST_ONE(hequ, __hequ(a, b))
DIGEST_ONE(hneu, __hneu(a, b))
DIGEST_ONE(hltu, __hltu(a, b))
DIGEST_ONE(hleu, __hleu(a, b))
DIGEST_ONE(hgtu, __hgtu(a, b))
DIGEST_ONE(hgeu, __hgeu(a, b))
DIGEST_ONE(hfma, __hfma(a, b, c))
DIGEST_ONE(hfma_sat, __hfma_sat(a, b, c))
DIGEST_ONE(hfma_relu, __hfma_relu(a, b, c))
DIGEST_ONE(hneg, __hneg(a))
DIGEST_ONE(habs, __habs(a))
DIGEST_ONE(hisnan, __hisnan(a))
DIGEST_ONE(hisinf, __hisinf(a))
DIGEST_ONE(hsqrt, hsqrt(a))
DIGEST_ONE(hrsqrt, hrsqrt(a))
DIGEST_ONE(hrcp, hrcp(a))
DIGEST_ONE(hexp, hexp(a))
DIGEST_ONE(hexp2, hexp2(a))
DIGEST_ONE(hexp10, hexp10(a))
DIGEST_ONE(hlog, hlog(a))
DIGEST_ONE(hlog2, hlog2(a))
DIGEST_ONE(hlog10, hlog10(a))
DIGEST_ONE(hsin, hsin(a))
DIGEST_ONE(hcos, hcos(a))
DIGEST_ONE(htanh, htanh(a))
DIGEST_ONE(hfloor, hfloor(a))
DIGEST_ONE(hceil, hceil(a))
DIGEST_ONE(hrint, hrint(a))
DIGEST_ONE(htrunc, htrunc(a))
DIGEST_ONE(less, a < b)
DIGEST_ONE(increment, ++a)
DIGEST_ONE(truth, bool(a))
DIGEST_ONE(operators, -(a + b) / (a - c))

DIGEST_TWO(hadd2, __hadd2(a, b))
DIGEST_TWO(hsub2, __hsub2(a, b))
DIGEST_TWO(hmul2, __hmul2(a, b))
DIGEST_TWO(h2div, __h2div(a, b))
DIGEST_TWO(hadd2_sat, __hadd2_sat(a, b))
DIGEST_TWO(hmax2, __hmax2(a, b))
DIGEST_TWO(hmin2_nan, __hmin2_nan(a, b))
DIGEST_TWO(heq2, __heq2(a, b))
DIGEST_TWO(hneu2, __hneu2(a, b))
DIGEST_TWO(hltu2, __hltu2(a, b))
DIGEST_TWO(hge2, __hge2(a, b))
DIGEST_TWO(hbeq2, __hbeq2(a, b))
DIGEST_TWO(hbneu2, __hbneu2(a, b))
DIGEST_TWO(hblt2, __hblt2(a, b))
DIGEST_TWO(heq2_mask, __heq2_mask(a, b))
DIGEST_TWO(hgtu2_mask, __hgtu2_mask(a, b))
DIGEST_TWO(hfma2, __hfma2(a, b, c))
DIGEST_TWO(hfma2_sat, __hfma2_sat(a, b, c))
DIGEST_TWO(hfma2_relu, __hfma2_relu(a, b, c))
DIGEST_TWO(hcmadd, __hcmadd(a, b, c))
DIGEST_TWO(hneg2, __hneg2(a))
DIGEST_TWO(habs2, __habs2(a))
DIGEST_TWO(hisnan2, __hisnan2(a))

// ---- Conversions ------------------------------------------------------------------

#define DIGEST_INTEGER(NAME, T, MODE)                            \
    DIGEST_NAMED(H(from_##NAME##MODE), T, H_FROM(NAME, MODE)(a)) \
    DIGEST_NAMED(H(to_##NAME##MODE), H_ONE, H_TO(NAME##MODE)(a))
#define DIGEST_ROUNDED(MODE)                                                       \
    DIGEST_NAMED(H(from_float##MODE), float, H_FROM(float, MODE)(a))               \
    DIGEST_NAMED(H(from_tiny_float##MODE), float, H_FROM(float, MODE)(a * H_TINY)) \
    DIGEST_NAMED(H(from_big_float##MODE), float, H_FROM(float, MODE)(a * H_BIG))   \
    DIGEST_INTEGER(short, short, MODE)                                             \
    DIGEST_INTEGER(ushort, unsigned short, MODE)                                   \
    DIGEST_INTEGER(int, int, MODE)                                                 \
    DIGEST_INTEGER(uint, unsigned int, MODE)                                       \
    DIGEST_INTEGER(ll, long long, MODE)                                            \
    DIGEST_INTEGER(ull, unsigned long long, MODE)

DIGEST_ONE(to_float, H_TO(float)(a))
DIGEST_ROUNDED(_rn)
DIGEST_ROUNDED(_rz)
DIGEST_ROUNDED(_rd)
DIGEST_ROUNDED(_ru)
DIGEST_NAMED(H(from_double), double, H_FROM(double, )(isnan(a) ? 1.0 : a))
DIGEST_NAMED(H(from_tiny_double), double, H_FROM(double, )(isnan(a) ? 1.0 : a* H_TINY))
DIGEST_ONE(to_char, H_TO(char_rz)(a))
DIGEST_ONE(to_uchar, H_TO(uchar_rz)(a))
