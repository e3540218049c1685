/// measure.h: the roofs of the GPU at hand, by whatever clock the caller has.
#pragma once

#include "given.h"
#include "roofline.h"

#include <cuda_runtime.h>
#include <wb/check.h>

#include <functional>

/// How many seconds a launch takes.
using SecondsOf = std::function<double(const std::function<void(cudaStream_t)>&)>;

/// Measures the four roofs: a copy, chains of FMAs, loads from shared memory, a kernel
/// that does nothing. Takes 512 MiB of device memory meanwhile.
inline Roofs measure_roofs(const SecondsOf& seconds_of) {
    constexpr std::size_t kCopied = std::size_t{1} << 28;
    constexpr int kBlocksOfAnSm = 8;
    constexpr int kFmaSteps = 4096;
    constexpr int kSharedSteps = 512;
    int sms = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    const int blocks = 4 * kBlocksOfAnSm * sms;
    const double operations =
        static_cast<double>(blocks) * kRulerThreads * kRulerUnroll;

    char* memory = nullptr;
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&memory), 2 * kCopied));
    auto* sink = reinterpret_cast<float*>(memory);
    CUDA_CHECK(cudaMemset(memory, 0x3C, 2 * kCopied));
    Roofs roofs{};
    roofs.launch_s = seconds_of(launch_nothing);
    const double copy = seconds_of([&](cudaStream_t stream) {
        CUDA_CHECK(cudaMemcpyAsync(
            memory + kCopied, memory, kCopied, cudaMemcpyDeviceToDevice, stream));
    });
    roofs.bytes_per_s = 2.0 * static_cast<double>(kCopied) / (copy - roofs.launch_s);
    const double fma = seconds_of([&](cudaStream_t stream) {
        launch_fma_ruler(blocks, kFmaSteps, sink, stream);
    });
    roofs.flop_per_s = 2.0 * operations * kFmaSteps / (fma - roofs.launch_s);
    const double shared = seconds_of([&](cudaStream_t stream) {
        launch_shared_ruler(blocks, kSharedSteps, sink, stream);
    });
    roofs.requests_per_s = operations / 32.0 * kSharedSteps / (shared - roofs.launch_s);
    CUDA_CHECK(cudaFree(memory));
    return roofs;
}
