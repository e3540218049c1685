#define TEST_GROUP "device"
#include "check.h"
#ifdef SIMT_CPU
#include <simt/options.h>
#endif

#include <cstring>

TEST(choosing_a_device) {
    int count = 0;
    OK(cudaGetDeviceCount(&count));
    EXPECT(count >= 1);
    int device = -1;
    OK(cudaGetDevice(&device));
    EXPECT(device == 0);
    OK(cudaSetDevice(0));
    EXPECT_ERROR(cudaErrorInvalidDevice, cudaSetDevice(count));
    EXPECT_ERROR(cudaErrorInvalidDevice, cudaSetDevice(-1));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGetDeviceCount(nullptr));
    cudaDeviceProp wanted = {};
    OK(cudaChooseDevice(&device, &wanted));
    EXPECT(device >= 0 && device < count);
}

TEST(properties_agree_with_attributes) {
    cudaDeviceProp prop;
    OK(cudaGetDeviceProperties(&prop, 0));
    EXPECT_ERROR(cudaErrorInvalidDevice, cudaGetDeviceProperties(&prop, 64));
    EXPECT(std::strlen(prop.name) > 0);
    struct Pair {
        cudaDeviceAttr attribute;
        long long value;
    };
    const Pair pairs[] = {
        {cudaDevAttrMaxThreadsPerBlock, prop.maxThreadsPerBlock},
        {cudaDevAttrMaxBlockDimX, prop.maxThreadsDim[0]},
        {cudaDevAttrMaxBlockDimZ, prop.maxThreadsDim[2]},
        {cudaDevAttrMaxGridDimX, prop.maxGridSize[0]},
        {cudaDevAttrMaxGridDimY, prop.maxGridSize[1]},
        {cudaDevAttrMaxSharedMemoryPerBlock,
         static_cast<long long>(prop.sharedMemPerBlock)},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin,
         static_cast<long long>(prop.sharedMemPerBlockOptin)},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor,
         static_cast<long long>(prop.sharedMemPerMultiprocessor)},
        {cudaDevAttrTotalConstantMemory, static_cast<long long>(prop.totalConstMem)},
        {cudaDevAttrWarpSize, prop.warpSize},
        {cudaDevAttrMultiProcessorCount, prop.multiProcessorCount},
        {cudaDevAttrMaxThreadsPerMultiProcessor, prop.maxThreadsPerMultiProcessor},
        {cudaDevAttrMaxBlocksPerMultiprocessor, prop.maxBlocksPerMultiProcessor},
        {cudaDevAttrMaxRegistersPerBlock, prop.regsPerBlock},
        {cudaDevAttrMaxRegistersPerMultiprocessor, prop.regsPerMultiprocessor},
        {cudaDevAttrL2CacheSize, prop.l2CacheSize},
        {cudaDevAttrGlobalMemoryBusWidth, prop.memoryBusWidth},
        {cudaDevAttrComputeCapabilityMajor, prop.major},
        {cudaDevAttrComputeCapabilityMinor, prop.minor},
        {cudaDevAttrCooperativeLaunch, prop.cooperativeLaunch},
        {cudaDevAttrManagedMemory, prop.managedMemory},
        {cudaDevAttrUnifiedAddressing, prop.unifiedAddressing},
        {cudaDevAttrMemoryPoolsSupported, prop.memoryPoolsSupported},
        {cudaDevAttrReservedSharedMemoryPerBlock,
         static_cast<long long>(prop.reservedSharedMemPerBlock)},
    };
    for (const Pair& pair : pairs) {
        int value = -1;
        OK(cudaDeviceGetAttribute(&value, pair.attribute, 0));
        EXPECT(value == pair.value);
    }
}

TEST(properties_are_those_of_a_cuda_device) {
    cudaDeviceProp prop;
    OK(cudaGetDeviceProperties(&prop, 0));
    EXPECT(prop.warpSize == 32);
    EXPECT(prop.maxThreadsPerBlock == 1024);
    EXPECT(prop.maxThreadsDim[0] == 1024 && prop.maxThreadsDim[1] == 1024 &&
           prop.maxThreadsDim[2] == 64);
    EXPECT(prop.maxGridSize[0] == 2147483647 && prop.maxGridSize[1] == 65535 &&
           prop.maxGridSize[2] == 65535);
    EXPECT(prop.sharedMemPerBlock == 48 * 1024);
    EXPECT(prop.sharedMemPerBlockOptin >= prop.sharedMemPerBlock);
    EXPECT(prop.sharedMemPerMultiprocessor >= prop.sharedMemPerBlockOptin);
    EXPECT(prop.regsPerBlock == 65536);
    EXPECT(prop.totalConstMem == 65536);
    EXPECT(prop.multiProcessorCount > 0);
    EXPECT(prop.totalGlobalMem > 0);
    EXPECT(prop.unifiedAddressing == 1);
    EXPECT(prop.managedMemory == 1);
    EXPECT(prop.concurrentKernels == 1);
    EXPECT(prop.canMapHostMemory == 1);
#ifdef SIMT_CPU
    EXPECT(std::strstr(prop.name, "simulator") != nullptr);
    EXPECT(prop.clockRate > 0 && prop.memoryClockRate > 0);  // removed in CUDA 13
    EXPECT(prop.major * 100 + prop.minor * 10 == __CUDA_ARCH_LIST__);
#endif
}

#ifdef SIMT_CPU
TEST(the_l2_cache_is_as_large_as_it_is_asked_to_be) {
    int before = 0;
    OK(cudaDeviceGetAttribute(&before, cudaDevAttrL2CacheSize, 0));
    simt::set_l2_bytes(4096);
    int value = 0;
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrL2CacheSize, 0));
    EXPECT(value == 4096);
    simt::set_l2_bytes(0);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrL2CacheSize, 0));
    EXPECT(value == before);
}
#endif

#ifdef SIMT_CPU
TEST(the_gpu_is_as_old_as_it_is_asked_to_be) {
    const auto expect = [](int capability) {
        int major = 0;
        int minor = 0;
        cudaDeviceProp prop;
        OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
        OK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
        OK(cudaGetDeviceProperties(&prop, 0));
        EXPECT(10 * major + minor == capability);
        EXPECT(10 * prop.major + prop.minor == capability);
    };
    simt::set_compute_capability(75);
    expect(75);
    simt::set_compute_capability(990);  // not newer than what files are compiled for
    expect(__CUDA_ARCH_LIST__ / 10);
    simt::set_compute_capability(0);
    expect(__CUDA_ARCH_LIST__ / 10);
}
#endif

TEST(attributes_removed_from_the_properties) {
    int value = -1;
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0));
    EXPECT(value > 0);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMemoryClockRate, 0));
    EXPECT(value > 0);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeMode, 0));
    EXPECT(value == cudaComputeModeDefault);
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0));
    EXPECT_ERROR(cudaErrorInvalidDevice,
                 cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 64));
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
}

TEST(limits) {
    size_t value = 0;
    OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    EXPECT(value == 1024);
    OK(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
    EXPECT(value == 8 * 1024 * 1024);
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    EXPECT(value == 4096);
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 1024));
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaDeviceGetLimit(&value, static_cast<cudaLimit>(77)));
}

TEST(caches_versions_and_flags) {
    OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    cudaFuncCache config;
    OK(cudaDeviceGetCacheConfig(&config));
    OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone));
    int version = 0;
    OK(cudaRuntimeGetVersion(&version));
    EXPECT(version == CUDART_VERSION);
    int driver = 0;
    OK(cudaDriverGetVersion(&driver));
    EXPECT(driver >= 12000);
    unsigned flags = 0;
    OK(cudaGetDeviceFlags(&flags));
    OK(cudaSetDeviceFlags(cudaDeviceScheduleAuto));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaSetDeviceFlags(0x40000000));
}

TEST(bus_ids) {
    char id[64];
    OK(cudaDeviceGetPCIBusId(id, sizeof id, 0));
    int device = -1;
    OK(cudaDeviceGetByPCIBusId(&device, id));
    EXPECT(device == 0);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaDeviceGetPCIBusId(nullptr, 64, 0));
}

TEST(a_device_is_not_its_own_peer) {
    int can = 7;
    OK(cudaDeviceCanAccessPeer(&can, 0, 0));
    EXPECT(can == 0);
    EXPECT_ERROR(cudaErrorPeerAccessUnsupported, cudaDeviceEnablePeerAccess(0, 0));
}

TEST(synchronize) {
    OK(cudaDeviceSynchronize());
    OK(cudaFree(0));  // the usual way to create the context
}
