// Matrix-matrix routines.

#include "blas.h"
#include "call.h"
#include "product.h"

using namespace simt::cublas;
using blas::cpu;

#define SIMT_ROUTINES "level3.inc"
#include "real_types.inc"
