/// cublasLt.h: matrix products that are described by objects, with epilogues.
///
/// Products of float, double, half, bfloat16 and 8-bit integers; matrices by columns or
/// by rows, transposed, in strided batches; scalars in host or device memory; epilogues
/// RELU, GELU (with its tanh approximation, as on a GPU), BIAS, AUX, their gradients.
/// Anything else is CUBLAS_STATUS_NOT_SUPPORTED with a line on stderr. Link with
/// -lcublasLt.
#pragma once
#define CUBLASLT_H_  // other headers ask for it
#include <cublas_api.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "simt/cublas/lt_types.h"

// ---- The library -------------------------------------------------------------------

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle);
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle);
const char* cublasLtGetStatusName(cublasStatus_t status);
const char* cublasLtGetStatusString(cublasStatus_t status);
size_t cublasLtGetVersion();
size_t cublasLtGetCudartVersion();
cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value);

/// Accepted: nothing is logged or searched here.
cublasStatus_t cublasLtHeuristicsCacheGetCapacity(size_t* capacity);
cublasStatus_t cublasLtHeuristicsCacheSetCapacity(size_t capacity);
cublasStatus_t cublasLtLoggerSetCallback(cublasLtLoggerCallback_t callback);
cublasStatus_t cublasLtLoggerSetFile(FILE* file);
cublasStatus_t cublasLtLoggerOpenFile(const char* name);
cublasStatus_t cublasLtLoggerSetLevel(int level);
cublasStatus_t cublasLtLoggerSetMask(int mask);
cublasStatus_t cublasLtLoggerForceDisable();

// ---- Matrices ----------------------------------------------------------------------

cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout,
                                        cudaDataType type, uint64_t rows, uint64_t cols,
                                        int64_t ld);
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout,
                                          cudaDataType type, uint64_t rows,
                                          uint64_t cols, int64_t ld);
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout);
cublasStatus_t cublasLtMatrixLayoutSetAttribute(
    cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute,
    const void* value, size_t bytes);
cublasStatus_t cublasLtMatrixLayoutGetAttribute(
    cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute,
    void* value, size_t bytes, size_t* written);

// ---- Products ----------------------------------------------------------------------

cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t description,
                                      cublasComputeType_t compute_type,
                                      cudaDataType_t scale_type);
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description,
                                        cublasComputeType_t compute_type,
                                        cudaDataType_t scale_type);
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description);
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes);
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              void* value, size_t bytes,
                                              size_t* written);

/// D = epilogue(alpha op(A) op(B) + beta C), in `stream`. No workspace is needed, and
/// all algorithms are the same.
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                              const void* alpha, const void* A,
                              cublasLtMatrixLayout_t a_layout, const void* B,
                              cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* C, cublasLtMatrixLayout_t c_layout, void* D,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              size_t workspace_bytes, cudaStream_t stream);

// ---- The choice of an algorithm ----------------------------------------------------

cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t preference);
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference);
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference);
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t attribute, const void* value, size_t bytes);
cublasStatus_t cublasLtMatmulPreferenceGetAttribute(
    cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t attribute, void* value, size_t bytes,
    size_t* written);
/// Finds the one algorithm, if the product is supported.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
    cublasLtMatrixLayout_t a_layout, cublasLtMatrixLayout_t b_layout,
    cublasLtMatrixLayout_t c_layout, cublasLtMatrixLayout_t d_layout,
    cublasLtMatmulPreference_t preference, int requested,
    cublasLtMatmulHeuristicResult_t results[], int* returned);
cublasStatus_t cublasLtMatmulAlgoGetIds(cublasLtHandle_t handle,
                                        cublasComputeType_t compute_type,
                                        cudaDataType_t scale_type,
                                        cudaDataType_t a_type, cudaDataType_t b_type,
                                        cudaDataType_t c_type, cudaDataType_t d_type,
                                        int requested, int ids[], int* returned);
cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle,
                                      cublasComputeType_t compute_type,
                                      cudaDataType_t scale_type, cudaDataType_t a_type,
                                      cudaDataType_t b_type, cudaDataType_t c_type,
                                      cudaDataType_t d_type, int id,
                                      cublasLtMatmulAlgo_t* algorithm);
cublasStatus_t cublasLtMatmulAlgoCheck(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
    cublasLtMatrixLayout_t a_layout, cublasLtMatrixLayout_t b_layout,
    cublasLtMatrixLayout_t c_layout, cublasLtMatrixLayout_t d_layout,
    const cublasLtMatmulAlgo_t* algorithm, cublasLtMatmulHeuristicResult_t* result);
