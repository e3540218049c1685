// cudaGetDeviceProperties and cudaDeviceGetAttribute, both from the device model.

#include "properties.h"

#include <cstdio>
#include <cstring>

#include "call.h"
#include "core/cluster.h"
#include "core/device_model.h"
#include "core/devices.h"
#include "core/memory.h"
#include "simt/api/device.h"

namespace simt::detail {

namespace {

// What every architecture that CUDA 13 supports has in common, in textures for
// instance, although the simulator refuses to create any.
void fill_texture_limits(cudaDeviceProp& prop) {
    prop.maxTexture1D = 131072;
    prop.maxTexture1DMipmap = 32768;
    prop.maxTexture1DLinear = 268435456;
    const int two[2] = {131072, 65536};
    std::memcpy(prop.maxTexture2D, two, sizeof two);
    prop.maxTexture2DMipmap[0] = prop.maxTexture2DMipmap[1] = 32768;
    prop.maxTexture2DLinear[0] = 131072;
    prop.maxTexture2DLinear[1] = 65000;
    prop.maxTexture2DLinear[2] = 2097120;
    prop.maxTexture2DGather[0] = prop.maxTexture2DGather[1] = 32768;
    for (int& size : prop.maxTexture3D)
        size = 16384;
    prop.maxTexture3DAlt[0] = prop.maxTexture3DAlt[1] = 8192;
    prop.maxTexture3DAlt[2] = 32768;
    prop.maxTextureCubemap = 32768;
    prop.maxTexture1DLayered[0] = 32768;
    prop.maxTexture1DLayered[1] = 2048;
    prop.maxTexture2DLayered[0] = prop.maxTexture2DLayered[1] = 32768;
    prop.maxTexture2DLayered[2] = 2048;
    prop.maxTextureCubemapLayered[0] = 32768;
    prop.maxTextureCubemapLayered[1] = 2046;
    prop.maxSurface1D = 32768;
    prop.maxSurface2D[0] = 131072;
    prop.maxSurface2D[1] = 65536;
    for (int& size : prop.maxSurface3D)
        size = 16384;
    prop.maxSurface1DLayered[0] = 32768;
    prop.maxSurface1DLayered[1] = 2048;
    prop.maxSurface2DLayered[0] = prop.maxSurface2DLayered[1] = 32768;
    prop.maxSurface2DLayered[2] = 2048;
    prop.maxSurfaceCubemap = 32768;
    prop.maxSurfaceCubemapLayered[0] = 32768;
    prop.maxSurfaceCubemapLayered[1] = 2046;
    prop.surfaceAlignment = 512;
    prop.textureAlignment = 512;
    prop.texturePitchAlignment = 32;
}

void fill_launch_limits(cudaDeviceProp& prop, const DeviceModel& model) {
    prop.warpSize = DeviceModel::kWarpSize;
    prop.maxThreadsPerBlock = DeviceModel::kMaxThreadsPerBlock;
    for (int i = 0; i < 3; ++i) {
        prop.maxThreadsDim[i] = DeviceModel::kMaxBlockDim[i];
        prop.maxGridSize[i] = DeviceModel::kMaxGridDim[i];
    }
    prop.regsPerBlock = DeviceModel::kRegistersPerBlock;
    prop.regsPerMultiprocessor = DeviceModel::kRegistersPerSm;
    prop.multiProcessorCount = multiprocessors();
    prop.maxThreadsPerMultiProcessor = model.max_threads_per_sm;
    prop.maxBlocksPerMultiProcessor = model.max_blocks_per_sm;
    prop.sharedMemPerBlock = model.shared_per_block;
    prop.sharedMemPerBlockOptin = shared_per_block_optin();
    prop.sharedMemPerMultiprocessor = model.shared_per_sm;
    prop.reservedSharedMemPerBlock = model.reserved_shared_per_block();
}

void fill_memory(cudaDeviceProp& prop, const DeviceModel& model) {
    prop.totalGlobalMem = memory_limit_of_device();
    prop.totalConstMem = DeviceModel::kConstantBytes;
    prop.memPitch = 2147483647;
    prop.l2CacheSize = static_cast<int>(l2_bytes());
    prop.persistingL2CacheMaxSize = static_cast<int>(l2_bytes() * 3 / 4);
    prop.accessPolicyMaxWindowSize = 128 << 20;
    prop.memoryBusWidth = model.memory_bus_bits;
    prop.globalL1CacheSupported = 1;
    prop.localL1CacheSupported = 1;
}

}  // namespace

cudaDeviceProp device_properties(int device) {
    const DeviceModel& model = device_model();
    cudaDeviceProp prop = {};
    std::snprintf(prop.name, sizeof prop.name, "Warpbook SIMT simulator (CPU)");
    std::memcpy(prop.uuid.bytes, "warpbook-simt-0", sizeof prop.uuid.bytes);
    prop.uuid.bytes[14] = static_cast<char>('0' + device);
    prop.pciBusID = device;
    prop.major = compute_capability() / 10;
    prop.minor = compute_capability() % 10;
    fill_launch_limits(prop, model);
    fill_memory(prop, model);
    fill_texture_limits(prop);

    // Abilities that the simulator really has.
    prop.canMapHostMemory = 1;
    prop.unifiedAddressing = 1;
    prop.managedMemory = 1;
    prop.concurrentManagedAccess = 1;
    prop.canUseHostPointerForRegisteredMem = 1;
    prop.hostRegisterSupported = 1;
    prop.memoryPoolsSupported = 1;
    prop.cooperativeLaunch = 1;
    prop.clusterLaunch = knows_clusters();
    prop.concurrentKernels = 1;
    prop.asyncEngineCount = 1;
    prop.deviceOverlap = 1;
    prop.streamPrioritiesSupported = 1;
    prop.unifiedFunctionPointers = 1;
    prop.deviceNumaId = -1;
    prop.hostNumaId = 0;

    prop.clockRate = model.clock_khz;
    prop.memoryClockRate = model.memory_clock_khz;
    prop.computeMode = cudaComputeModeDefault;
    prop.singleToDoublePrecisionPerfRatio =
        model.minor() == 0 && model.arch >= 80 ? 2 : 64;
    return prop;
}

}  // namespace simt::detail

using namespace simt::detail;

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
    return api_call([&] {
        if (!prop) return cudaErrorInvalidValue;
        if (!is_device(device)) return cudaErrorInvalidDevice;
        *prop = device_properties(device);
        return cudaSuccess;
    });
}
