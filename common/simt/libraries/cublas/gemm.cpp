// GEMM for float and double, one at a time and in batches.

#include "blas.h"
#include "call.h"
#include "product.h"

using namespace simt::cublas;

#define SIMT_ROUTINES "gemm.inc"
#include "real_types.inc"
