// What every mutant has right: the checks of the arguments, and describe_device().
#pragma once

#include "hello_gpu.h"

#include <wb/arguments.h>
#include <wb/check.h>

inline wb::CudaError refusal(cudaError_t error) {
    return wb::CudaError(
        error, std::string("the launch was refused: ") + cudaGetErrorName(error));
}

inline void check_arguments(const int* greetings, int blocks, int threads) {
    const wb::Arguments arguments("hello_gpu");
    arguments.size("blocks", blocks).size("threads", threads);
    const int64_t count = arguments.product("blocks * threads", {blocks, threads});
    arguments
        .require(count <= INT32_MAX, "blocks * threads", count, "must fit into an int")
        .device("greetings", greetings, count);
}

#ifndef OWN_DESCRIBE_DEVICE
DeviceSummary describe_device(int device) {
    cudaDeviceProp properties{};
    CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    return {properties.name,
            properties.major,
            properties.minor,
            properties.multiProcessorCount,
            properties.warpSize,
            properties.maxThreadsPerBlock,
            properties.totalGlobalMem};
}
#endif
