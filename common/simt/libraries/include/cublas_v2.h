#pragma once
// cuBLAS on the CPU. Link with -lcublas, which is the library simt_cublas here.
#ifndef CUBLAS_V2_H_
#define CUBLAS_V2_H_
#endif
#include "cublas_api.h"

// The names that CUDA's header gives these functions in the library.
#define cublasCreate_v2 cublasCreate
#define cublasDestroy_v2 cublasDestroy
#define cublasSetStream_v2 cublasSetStream
#define cublasGetVersion_v2 cublasGetVersion
#define cublasSetPointerMode_v2 cublasSetPointerMode
#define cublasSgemm_v2 cublasSgemm
#define cublasDgemm_v2 cublasDgemm
#define cublasSgemv_v2 cublasSgemv
#define cublasDgemv_v2 cublasDgemv
#define cublasSaxpy_v2 cublasSaxpy
#define cublasDaxpy_v2 cublasDaxpy
#define cublasSdot_v2 cublasSdot
#define cublasDdot_v2 cublasDdot
