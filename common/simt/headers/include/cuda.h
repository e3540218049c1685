#pragma once
// The part of the driver API that programs of the runtime API use to look around:
// versions, devices, names of errors. Contexts, modules and the driver's own memory and
// launch functions are not there: a program that needs them does not compile.
#ifndef __cuda_cuda_h__
#define __cuda_cuda_h__
#endif
#define CUDA_VERSION 13000
#define CUDAAPI
#define CUDA_CB

#include <cstring>

#include "cuda_runtime_api.h"
#include "simt/hopper/tensor_map.h"

enum cudaDriverEntryPointQueryResult {
    cudaDriverEntryPointSuccess = 0,
    cudaDriverEntryPointSymbolNotFound = 1,
    cudaDriverEntryPointVersionNotSufficent = 2,
};
inline constexpr unsigned long long cudaEnableDefault = 0;

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;

/// The numbers are those of cudaError_t.
enum CUresult {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_UNKNOWN = 999,
};

/// The numbers are those of cudaDeviceAttr.
enum CUdevice_attribute {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
    CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
    CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
    CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};

namespace simt::detail {
inline CUresult driver_result(cudaError_t error) {
    return static_cast<CUresult>(error);
}
}  // namespace simt::detail

/// @returns CUDA_ERROR_INVALID_VALUE unless `flags` is 0.
inline CUresult cuInit(unsigned int flags) {
    return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
inline CUresult cuDriverGetVersion(int* version) {
    return simt::detail::driver_result(cudaDriverGetVersion(version));
}
inline CUresult cuDeviceGetCount(int* count) {
    return simt::detail::driver_result(cudaGetDeviceCount(count));
}
inline CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    if (ordinal != 0) return CUDA_ERROR_INVALID_DEVICE;
    *device = 0;
    return CUDA_SUCCESS;
}
/// The name, cut to `length` characters with its end.
inline CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
    cudaDeviceProp prop;
    if (!name || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    if (const cudaError_t error = cudaGetDeviceProperties(&prop, device))
        return simt::detail::driver_result(error);
    int i = 0;
    for (; i + 1 < length && prop.name[i]; ++i)
        name[i] = prop.name[i];
    name[i] = '\0';
    return CUDA_SUCCESS;
}
inline CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
    cudaDeviceProp prop;
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    if (const cudaError_t error = cudaGetDeviceProperties(&prop, device))
        return simt::detail::driver_result(error);
    *bytes = prop.totalGlobalMem;
    return CUDA_SUCCESS;
}
inline CUresult cuDeviceGetAttribute(int* value,
                                     CUdevice_attribute attribute,
                                     CUdevice device) {
    return simt::detail::driver_result(
        cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
}
/// Describes a tensor to TMA: the driver's rules, see simt/hopper/tensor_map.h.
inline CUresult cuTensorMapEncodeTiled(CUtensorMap* map,
                                       CUtensorMapDataType type,
                                       cuuint32_t rank,
                                       void* address,
                                       const cuuint64_t* sizes,
                                       const cuuint64_t* strides,
                                       const cuuint32_t* box,
                                       const cuuint32_t* element_strides,
                                       CUtensorMapInterleave interleave,
                                       CUtensorMapSwizzle swizzle,
                                       CUtensorMapL2promotion promotion,
                                       CUtensorMapFloatOOBfill fill) {
    return static_cast<CUresult>(simt::detail::encode_tensor_map(map,
                                                                 type,
                                                                 rank,
                                                                 address,
                                                                 sizes,
                                                                 strides,
                                                                 box,
                                                                 element_strides,
                                                                 interleave,
                                                                 swizzle,
                                                                 promotion,
                                                                 fill));
}
/// Finds a function of the driver by its name: cuTensorMapEncodeTiled is the only one.
inline cudaError_t cudaGetDriverEntryPointByVersion(
    const char* symbol,
    void** function,
    unsigned int version,
    unsigned long long flags,
    cudaDriverEntryPointQueryResult* result = nullptr) {
    (void)version, (void)flags;
    if (!symbol || !function) return cudaErrorInvalidValue;
    const bool found = std::strcmp(symbol, "cuTensorMapEncodeTiled") == 0;
    *function = found ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
    if (result)
        *result =
            found ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}
inline CUresult cuGetErrorName(CUresult result, const char** name) {
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    switch (result) {
#define SIMT_CU_NAME(enumerator) \
    case enumerator:             \
        *name = #enumerator;     \
        return CUDA_SUCCESS;
        SIMT_CU_NAME(CUDA_SUCCESS)
        SIMT_CU_NAME(CUDA_ERROR_INVALID_VALUE)
        SIMT_CU_NAME(CUDA_ERROR_OUT_OF_MEMORY)
        SIMT_CU_NAME(CUDA_ERROR_NOT_INITIALIZED)
        SIMT_CU_NAME(CUDA_ERROR_DEINITIALIZED)
        SIMT_CU_NAME(CUDA_ERROR_NO_DEVICE)
        SIMT_CU_NAME(CUDA_ERROR_INVALID_DEVICE)
        SIMT_CU_NAME(CUDA_ERROR_INVALID_CONTEXT)
        SIMT_CU_NAME(CUDA_ERROR_INVALID_HANDLE)
        SIMT_CU_NAME(CUDA_ERROR_NOT_FOUND)
        SIMT_CU_NAME(CUDA_ERROR_NOT_READY)
        SIMT_CU_NAME(CUDA_ERROR_ILLEGAL_ADDRESS)
        SIMT_CU_NAME(CUDA_ERROR_LAUNCH_FAILED)
        SIMT_CU_NAME(CUDA_ERROR_NOT_SUPPORTED)
        SIMT_CU_NAME(CUDA_ERROR_UNKNOWN)
#undef SIMT_CU_NAME
    }
    *name = nullptr;
    return CUDA_ERROR_INVALID_VALUE;
}
inline CUresult cuGetErrorString(CUresult result, const char** text) {
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    *text = cudaGetErrorString(static_cast<cudaError_t>(result));
    return CUDA_SUCCESS;
}
