#pragma once
// The CPU's BLAS, overloaded for float and double, column-major throughout.

#include <cblas.h>

#include "cublas_v2.h"

namespace simt::cublas::blas {

inline CBLAS_TRANSPOSE cpu(cublasOperation_t op) {
    return op == CUBLAS_OP_N ? CblasNoTrans : CblasTrans;  // real: T and C are the same
}
inline CBLAS_UPLO cpu(cublasFillMode_t uplo) {
    return uplo == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper;
}
inline CBLAS_SIDE cpu(cublasSideMode_t side) {
    return side == CUBLAS_SIDE_LEFT ? CblasLeft : CblasRight;
}
inline CBLAS_DIAG cpu(cublasDiagType_t diag) {
    return diag == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit;
}

/// The routines by type: Routines<float>::axpy is cblas_saxpy.
template <class T>
struct Routines;

template <>
struct Routines<float> {
    static constexpr auto axpy = cblas_saxpy;
    static constexpr auto scal = cblas_sscal;
    static constexpr auto copy = cblas_scopy;
    static constexpr auto swap = cblas_sswap;
    static constexpr auto dot = cblas_sdot;
    static constexpr auto nrm2 = cblas_snrm2;
    static constexpr auto asum = cblas_sasum;
    static constexpr auto rot = cblas_srot;
    static constexpr auto gemv = cblas_sgemv;
    static constexpr auto ger = cblas_sger;
    static constexpr auto symv = cblas_ssymv;
    static constexpr auto syr = cblas_ssyr;
    static constexpr auto trmv = cblas_strmv;
    static constexpr auto trsv = cblas_strsv;
    static constexpr auto gemm = cblas_sgemm;
    static constexpr auto symm = cblas_ssymm;
    static constexpr auto syrk = cblas_ssyrk;
    static constexpr auto trmm = cblas_strmm;
    static constexpr auto trsm = cblas_strsm;
};

template <>
struct Routines<double> {
    static constexpr auto axpy = cblas_daxpy;
    static constexpr auto scal = cblas_dscal;
    static constexpr auto copy = cblas_dcopy;
    static constexpr auto swap = cblas_dswap;
    static constexpr auto dot = cblas_ddot;
    static constexpr auto nrm2 = cblas_dnrm2;
    static constexpr auto asum = cblas_dasum;
    static constexpr auto rot = cblas_drot;
    static constexpr auto gemv = cblas_dgemv;
    static constexpr auto ger = cblas_dger;
    static constexpr auto symv = cblas_dsymv;
    static constexpr auto syr = cblas_dsyr;
    static constexpr auto trmv = cblas_dtrmv;
    static constexpr auto trsv = cblas_dtrsv;
    static constexpr auto gemm = cblas_dgemm;
    static constexpr auto symm = cblas_dsymm;
    static constexpr auto syrk = cblas_dsyrk;
    static constexpr auto trmm = cblas_dtrmm;
    static constexpr auto trsm = cblas_dtrsm;
};

}  // namespace simt::cublas::blas
