#define TEST_GROUP "kernels"
#include "check.h"

#include <cooperative_groups.h>
#ifdef SIMT_CPU
#include <simt/options.h>
#endif

#include <cstdint>

namespace {

struct Parameters {
    int offset;
    double factor;
};

__global__ void plain(float* x, int n, Parameters p) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = static_cast<float>(p.factor * (i + p.offset));
}

template <class T, int kStep>
__global__ void stepped(T* x, T value) {
    x[threadIdx.x] = value + static_cast<T>(threadIdx.x * kStep);
}

__global__ void with_shared(int* x) {
    extern __shared__ int s_values[];
    s_values[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    x[threadIdx.x] = s_values[blockDim.x - 1 - threadIdx.x];
}

__global__ void over_the_grid(int* x) {
    auto grid = cooperative_groups::this_grid();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i;
    grid.sync();
    const int n = gridDim.x * blockDim.x;
    const int other = x[n - 1 - i];
    grid.sync();
    x[i] += other;
}

__global__ void empty() {}

template <class T>
T first(const T* p) {
    T value;
    cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost);
    return value;
}

}  // namespace

TEST(launch_by_address) {
    float* x = nullptr;
    OK(cudaMalloc(&x, 64 * sizeof(float)));
    int n = 64;
    Parameters p = {3, 0.5};
    void* args[] = {&x, &n, &p};
    OK(cudaLaunchKernel(
        reinterpret_cast<const void*>(plain), dim3(2), dim3(32), args, 0, 0));
    EXPECT(first(x + 33) == 18);
    p.offset = 5;
    OK(cudaLaunchKernel((void*)plain, dim3(2), dim3(32), args, 0, nullptr));
    EXPECT(first(x) == 2.5f);
    p.offset = 7;
    OK(cudaLaunchKernel(plain, dim3(2), dim3(32), args));
    EXPECT(first(x) == 3.5f);
    float value = 2;
    void* stepped_args[] = {&x, &value};
    OK(cudaLaunchKernel(
        (const void*)stepped<float, 4>, dim3(1), dim3(32), stepped_args, 0, 0));
    EXPECT(first(x + 31) == 126);
    const void* later = (const void*)stepped<float, 8>;
    OK(cudaLaunchKernel(later, dim3(1), dim3(32), stepped_args, 0, 0));
    EXPECT(first(x + 31) == 250);
    OK(cudaLaunchKernel((void*)empty, dim3(1), dim3(32), nullptr, 0, 0));
    OK(cudaFree(x));
}

TEST(launch_by_address_checks) {
    void* args[] = {nullptr};
    int not_a_kernel = 0;
    EXPECT_ERROR(cudaErrorInvalidResourceHandle,
                 cudaLaunchKernel((void*)&not_a_kernel, dim3(1), dim3(1), args, 0, 0));
    EXPECT_ERROR(cudaErrorInvalidDeviceFunction,
                 cudaLaunchKernel((void*)nullptr, dim3(1), dim3(1), args, 0, 0));
    EXPECT_ERROR(check::kImpossibleShape,
                 cudaLaunchKernel((void*)empty, dim3(1), dim3(1025), args, 0, 0));
    EXPECT_ERROR(check::kImpossibleShape,
                 cudaLaunchKernel((void*)empty, dim3(0), dim3(32), args, 0, 0));
    EXPECT_ERROR(check::kImpossibleShape,
                 cudaLaunchKernel((void*)empty, dim3(1), dim3(1, 1, 65), args, 0, 0));
    EXPECT_ERROR(check::kImpossibleShape,
                 cudaLaunchKernel((void*)empty, dim3(1, 65536), dim3(1), args, 0, 0));
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaLaunchKernel((void*)empty, dim3(1), dim3(1), args, 100000, 0));
}

TEST(launch_with_a_configuration) {
    float* x = nullptr;
    OK(cudaMalloc(&x, 64 * sizeof(float)));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2);
    config.blockDim = dim3(32);
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute[0].val.programmaticStreamSerializationAllowed = 0;
    config.attrs = attribute;
    config.numAttrs = 1;
    OK(cudaLaunchKernelEx(&config, plain, x, 64, Parameters{1, 2.0}));
    EXPECT(first(x + 63) == 128);
    int n = 64;
    Parameters p = {0, 1.0};
    void* args[] = {&x, &n, &p};
    OK(cudaLaunchKernelExC(&config, (const void*)plain, args));
    EXPECT(first(x + 63) == 63);
    attribute[0].id = static_cast<cudaLaunchAttributeID>(999);
    EXPECT(cudaLaunchKernelEx(&config, plain, x, 64, Parameters{1, 2.0}) !=
           cudaSuccess);
    cudaGetLastError();
    attribute[0].id = cudaLaunchAttributeIgnore;
    config.blockDim = dim3(4096);
    EXPECT_ERROR(check::kImpossibleShape,
                 cudaLaunchKernelEx(&config, plain, x, 64, Parameters{1, 2.0}));
    OK(cudaFree(x));
}

// What a launch with clusters computes: tests/conformance/cluster.cu.
TEST(clusters_are_for_hopper) {
    cudaDeviceProp prop;
    OK(cudaGetDeviceProperties(&prop, 0));
    EXPECT(prop.clusterLaunch == (prop.major >= 9));
    int* x = nullptr;
    OK(cudaMalloc(&x, sizeof(int)));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2);
    config.blockDim = dim3(32);
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = 2;
    attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
    int clusters = -1;
    OK(cudaOccupancyMaxPotentialClusterSize(&clusters, with_shared, &config));
    EXPECT(clusters == (prop.clusterLaunch ? 8 : 0));
    config.attrs = attribute;
    config.numAttrs = 1;
    if (!prop.clusterLaunch) {
#ifdef SIMT_CPU
        EXPECT_ERROR(cudaErrorNotSupported,
                     cudaLaunchKernelEx(&config, with_shared, x));
#endif
        EXPECT_ERROR(cudaErrorInvalidClusterSize,
                     cudaOccupancyMaxActiveClusters(&clusters, with_shared, &config));
    } else {
        OK(cudaOccupancyMaxActiveClusters(&clusters, with_shared, &config));
        EXPECT(clusters > 0);
    }
    OK(cudaFree(x));
}

TEST(cooperative_launch) {
    constexpr int kBlocks = 4;
    constexpr int kThreads = 64;
    int* x = nullptr;
    OK(cudaMalloc(&x, kBlocks * kThreads * sizeof(int)));
    void* args[] = {&x};
    OK(cudaLaunchCooperativeKernel(
        (void*)over_the_grid, dim3(kBlocks), dim3(kThreads), args, 0, 0));
    OK(cudaDeviceSynchronize());
    EXPECT(first(x) == kBlocks * kThreads - 1);
    EXPECT(first(x + 100) == kBlocks * kThreads - 1);
    OK(cudaLaunchCooperativeKernel(over_the_grid, dim3(kBlocks), dim3(kThreads), args));
    OK(cudaDeviceSynchronize());
    EXPECT_ERROR(cudaErrorCooperativeLaunchTooLarge,
                 cudaLaunchCooperativeKernel(
                     (void*)over_the_grid, dim3(1 << 20), dim3(kThreads), args, 0, 0));
    OK(cudaFree(x));
}

TEST(more_shared_memory_must_be_asked_for) {
    int* x = nullptr;
    OK(cudaMalloc(&x, 64 * sizeof(int)));
    with_shared<<<1, 64, 60 * 1024>>>(x);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGetLastError());
    OK(cudaFuncSetAttribute(
        with_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 * 1024));
    with_shared<<<1, 64, 60 * 1024>>>(x);
    OK(cudaGetLastError());
    EXPECT(first(x) == 63);
    with_shared<<<1, 64, 61 * 1024>>>(x);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGetLastError());
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaFuncSetAttribute((const void*)with_shared,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      1 << 20));
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaFuncSetAttribute(
                     with_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
#ifdef SIMT_CPU
    simt::set_shared_per_block(59 * 1024);  // a smaller GPU
    with_shared<<<1, 64, 60 * 1024>>>(x);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGetLastError());
    EXPECT_ERROR(
        cudaErrorInvalidValue,
        cudaFuncSetAttribute(
            with_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 * 1024));
    simt::set_shared_per_block(0);
#endif
    with_shared<<<1, 64, 60 * 1024>>>(x);
    OK(cudaGetLastError());
    OK(cudaFuncSetAttribute(
        with_shared, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaFuncSetAttribute(
                     with_shared, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
    OK(cudaFuncSetCacheConfig(with_shared, cudaFuncCachePreferShared));
    OK(cudaFree(x));
}

TEST(function_attributes) {
    cudaFuncAttributes a;
    OK(cudaFuncGetAttributes(&a, plain));
    EXPECT(a.maxThreadsPerBlock == 1024);
    EXPECT(a.numRegs > 0);
    EXPECT(a.maxDynamicSharedSizeBytes == 48 * 1024);
    EXPECT(a.binaryVersion >= 75);
    OK(cudaFuncGetAttributes(&a, (const void*)stepped<float, 4>));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaFuncGetAttributes(nullptr, plain));
    int not_a_kernel = 0;
    EXPECT_ERROR(cudaErrorInvalidResourceHandle,
                 cudaFuncGetAttributes(&a, (const void*)&not_a_kernel));
}

TEST(occupancy) {
    cudaDeviceProp prop;
    OK(cudaGetDeviceProperties(&prop, 0));
    int blocks = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 1024, 0));
    EXPECT(blocks == prop.maxThreadsPerMultiProcessor / 1024);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 32, 0));
    EXPECT(blocks == prop.maxBlocksPerMultiProcessor);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, (const void*)plain, 128, 40 * 1024));
    EXPECT(blocks == static_cast<int>(prop.sharedMemPerMultiprocessor / (41 * 1024)));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &blocks, plain, 256, 0, cudaOccupancyDefault));
    EXPECT(blocks == prop.maxThreadsPerMultiProcessor / 256);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 2048, 0));
    EXPECT(blocks == 0);
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 0, 0));
    int grid = 0;
    int block = 0;
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 0));
    EXPECT(block > 0 && block <= 1024);
    EXPECT(grid * block == prop.multiProcessorCount * prop.maxThreadsPerMultiProcessor);
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 200));
    EXPECT(block <= 200);
    OK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        &grid, &block, with_shared, [](int size) { return size * sizeof(int); }));
    EXPECT(block > 0);
    size_t bytes = 0;
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 2, 256));
    EXPECT(bytes > 0 && 2 * bytes <= prop.sharedMemPerMultiprocessor);
}
