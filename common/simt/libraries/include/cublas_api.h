#pragma once
// The functions of cuBLAS that textbooks use, for real numbers: levels 1 to 3, batched
// and mixed-precision GEMM. Complex types and the 64-bit forms are not there.
//
// As in cuBLAS, matrices are column-major, vectors and matrices lie in device memory,
// and the scalars alpha, beta and results lie where the pointer mode says. Device
// pointers are checked: a host pointer, or a matrix that leaves its allocation, is
// CUBLAS_STATUS_INVALID_VALUE with a line on stderr.
#ifndef CUBLAS_API_H_
#define CUBLAS_API_H_
#endif

#include <cstddef>

#include "cuComplex.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime_api.h"
#include "simt/cublas/types.h"

// ---- The library ------------------------------------------------------------------

cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version);
cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value);
size_t cublasGetCudartVersion();
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
/// Accepted: no workspace is needed here.
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, size_t bytes);
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);

// ---- Copies between host and device -----------------------------------------------

cublasStatus_t cublasSetVector(int n, int elem_size, const void* x, int incx,
                               void* device_y, int incy);
cublasStatus_t cublasGetVector(int n, int elem_size, const void* device_x, int incx,
                               void* y, int incy);
cublasStatus_t cublasSetMatrix(int rows, int cols, int elem_size, const void* A,
                               int lda, void* device_B, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int cols, int elem_size, const void* device_A,
                               int lda, void* B, int ldb);
cublasStatus_t cublasSetVectorAsync(int n, int elem_size, const void* x, int incx,
                                    void* device_y, int incy, cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int n, int elem_size, const void* device_x,
                                    int incx, void* y, int incy, cudaStream_t stream);
cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int elem_size, const void* A,
                                    int lda, void* device_B, int ldb,
                                    cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int elem_size,
                                    const void* device_A, int lda, void* B, int ldb,
                                    cudaStream_t stream);

// ---- Levels 1 to 3, for float (S) and double (D) ----------------------------------

#define SIMT_REAL float
#define SIMT_CUBLAS(routine) cublasS##routine
#define SIMT_CUBLAS_INDEX(routine) cublasIs##routine
#include "simt/cublas/real_routines.inc"
#undef SIMT_CUBLAS_INDEX
#undef SIMT_CUBLAS
#undef SIMT_REAL

#define SIMT_REAL double
#define SIMT_CUBLAS(routine) cublasD##routine
#define SIMT_CUBLAS_INDEX(routine) cublasId##routine
#include "simt/cublas/real_routines.inc"
#undef SIMT_CUBLAS_INDEX
#undef SIMT_CUBLAS
#undef SIMT_REAL

// ---- GEMM in half and in mixed precision ------------------------------------------

#include "simt/cublas/mixed_gemm.h"
