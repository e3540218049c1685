// __half: arithmetic, comparisons, functions and conversions.
#include <cuda_fp16.h>

#define H(name) fp16_##name
#define H_ONE __half
#define H_TWO __half2
#define H_FROM(what, mode) __##what##2half##mode
#define H_TO(what) __half2##what
#define H_TINY 0x1p-14f
#define H_BIG 0x1p10f
#include "digest_half.h"

DIGEST(fp16_pairs,
       __half,
       __highs2half2(__lows2half2(__halves2half2(a, b), __half2half2(c)),
                     __lowhigh2highlow(make_half2(b, c))))
