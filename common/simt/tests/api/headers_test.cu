// The macros by which helper headers recognise CUDA's own, and the small headers.
#define TEST_GROUP "headers"
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <device_launch_parameters.h>
#include <driver_types.h>
#include <library_types.h>
#include <nvtx3/nvToolsExt.h>
#include <vector_types.h>

#include <cstring>

#include "check.h"

TEST(guard_macros) {
#if !defined(__DRIVER_TYPES_H__) || !defined(__CUDA_RUNTIME_H__) || \
    !defined(__CUDA_RUNTIME_API_H__) || !defined(CUBLAS_API_H_)
    EXPECT(!"a guard macro is missing");
#endif
    EXPECT(CUDART_VERSION >= 12000);
    EXPECT(CUDA_VERSION == CUDART_VERSION);
#if defined(cudaStreamNonBlocking) && defined(cudaHostAllocMapped) && \
    defined(cudaEventDisableTiming) && defined(cudaStreamPerThread)
    EXPECT(cudaStreamNonBlocking == 1);
#else
    EXPECT(!"flags are macros in CUDA");
#endif
}

#ifdef SIMT_CPU  // on a GPU these are in a library of their own, libcuda
TEST(driver_queries) {
    EXPECT(cuInit(0) == CUDA_SUCCESS);
    int version = 0;
    EXPECT(cuDriverGetVersion(&version) == CUDA_SUCCESS);
    EXPECT(version >= 12000);
    CUdevice device = -1;
    EXPECT(cuDeviceGet(&device, 0) == CUDA_SUCCESS);
    char name[256];
    EXPECT(cuDeviceGetName(name, sizeof name, device) == CUDA_SUCCESS);
    cudaDeviceProp prop;
    OK(cudaGetDeviceProperties(&prop, 0));
    EXPECT(std::strcmp(name, prop.name) == 0);
    int value = 0;
    EXPECT(cuDeviceGetAttribute(&value,
                                CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                device) == CUDA_SUCCESS);
    EXPECT(value == prop.major);
    const char* text = nullptr;
    EXPECT(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text) == CUDA_SUCCESS);
    EXPECT(std::strcmp(text, "CUDA_ERROR_INVALID_VALUE") == 0);
    EXPECT(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text) == CUDA_SUCCESS);
    EXPECT(std::strcmp(text, "invalid argument") == 0);
}
#endif

TEST(profiler_and_ranges_do_no_harm) {
    OK(cudaProfilerStart());
    nvtxRangePushA("range");
    nvtxMarkA("mark");
    nvtxRangePop();
    nvtxEventAttributes_t attributes = {};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "named";
    nvtxRangePushEx(&attributes);
    nvtxRangePop();
    OK(cudaProfilerStop());
}
