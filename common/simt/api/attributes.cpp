// cudaDeviceGetAttribute: the properties by number.

#include <optional>

#include "call.h"
#include "core/device_model.h"
#include "core/devices.h"
#include "properties.h"
#include "simt/api/device.h"

namespace simt::detail {
namespace {

struct Attribute {
    cudaDeviceAttr id;
    int (*value)(const cudaDeviceProp&);
};

#define SIMT_ATTRIBUTE(id, expression)                        \
    {                                                         \
        cudaDevAttr##id, [](const cudaDeviceProp& p) -> int { \
            return static_cast<int>(p.expression);            \
        }                                                     \
    }

constexpr Attribute kAttributes[] = {
    SIMT_ATTRIBUTE(MaxThreadsPerBlock, maxThreadsPerBlock),
    SIMT_ATTRIBUTE(MaxBlockDimX, maxThreadsDim[0]),
    SIMT_ATTRIBUTE(MaxBlockDimY, maxThreadsDim[1]),
    SIMT_ATTRIBUTE(MaxBlockDimZ, maxThreadsDim[2]),
    SIMT_ATTRIBUTE(MaxGridDimX, maxGridSize[0]),
    SIMT_ATTRIBUTE(MaxGridDimY, maxGridSize[1]),
    SIMT_ATTRIBUTE(MaxGridDimZ, maxGridSize[2]),
    SIMT_ATTRIBUTE(MaxSharedMemoryPerBlock, sharedMemPerBlock),
    SIMT_ATTRIBUTE(TotalConstantMemory, totalConstMem),
    SIMT_ATTRIBUTE(WarpSize, warpSize),
    SIMT_ATTRIBUTE(MaxPitch, memPitch),
    SIMT_ATTRIBUTE(MaxRegistersPerBlock, regsPerBlock),
    SIMT_ATTRIBUTE(ClockRate, clockRate),
    SIMT_ATTRIBUTE(TextureAlignment, textureAlignment),
    SIMT_ATTRIBUTE(GpuOverlap, deviceOverlap),
    SIMT_ATTRIBUTE(MultiProcessorCount, multiProcessorCount),
    SIMT_ATTRIBUTE(KernelExecTimeout, kernelExecTimeoutEnabled),
    SIMT_ATTRIBUTE(Integrated, integrated),
    SIMT_ATTRIBUTE(CanMapHostMemory, canMapHostMemory),
    SIMT_ATTRIBUTE(ComputeMode, computeMode),
    SIMT_ATTRIBUTE(MaxTexture1DWidth, maxTexture1D),
    SIMT_ATTRIBUTE(MaxTexture2DWidth, maxTexture2D[0]),
    SIMT_ATTRIBUTE(MaxTexture2DHeight, maxTexture2D[1]),
    SIMT_ATTRIBUTE(MaxTexture3DWidth, maxTexture3D[0]),
    SIMT_ATTRIBUTE(MaxTexture3DHeight, maxTexture3D[1]),
    SIMT_ATTRIBUTE(MaxTexture3DDepth, maxTexture3D[2]),
    SIMT_ATTRIBUTE(MaxTexture2DLayeredWidth, maxTexture2DLayered[0]),
    SIMT_ATTRIBUTE(MaxTexture2DLayeredHeight, maxTexture2DLayered[1]),
    SIMT_ATTRIBUTE(MaxTexture2DLayeredLayers, maxTexture2DLayered[2]),
    SIMT_ATTRIBUTE(SurfaceAlignment, surfaceAlignment),
    SIMT_ATTRIBUTE(ConcurrentKernels, concurrentKernels),
    SIMT_ATTRIBUTE(EccEnabled, ECCEnabled),
    SIMT_ATTRIBUTE(PciBusId, pciBusID),
    SIMT_ATTRIBUTE(PciDeviceId, pciDeviceID),
    SIMT_ATTRIBUTE(TccDriver, tccDriver),
    SIMT_ATTRIBUTE(MemoryClockRate, memoryClockRate),
    SIMT_ATTRIBUTE(GlobalMemoryBusWidth, memoryBusWidth),
    SIMT_ATTRIBUTE(L2CacheSize, l2CacheSize),
    SIMT_ATTRIBUTE(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor),
    SIMT_ATTRIBUTE(AsyncEngineCount, asyncEngineCount),
    SIMT_ATTRIBUTE(UnifiedAddressing, unifiedAddressing),
    SIMT_ATTRIBUTE(MaxTexture1DLayeredWidth, maxTexture1DLayered[0]),
    SIMT_ATTRIBUTE(MaxTexture1DLayeredLayers, maxTexture1DLayered[1]),
    SIMT_ATTRIBUTE(MaxTexture2DGatherWidth, maxTexture2DGather[0]),
    SIMT_ATTRIBUTE(MaxTexture2DGatherHeight, maxTexture2DGather[1]),
    SIMT_ATTRIBUTE(MaxTexture3DWidthAlt, maxTexture3DAlt[0]),
    SIMT_ATTRIBUTE(MaxTexture3DHeightAlt, maxTexture3DAlt[1]),
    SIMT_ATTRIBUTE(MaxTexture3DDepthAlt, maxTexture3DAlt[2]),
    SIMT_ATTRIBUTE(PciDomainId, pciDomainID),
    SIMT_ATTRIBUTE(TexturePitchAlignment, texturePitchAlignment),
    SIMT_ATTRIBUTE(MaxTextureCubemapWidth, maxTextureCubemap),
    SIMT_ATTRIBUTE(MaxTextureCubemapLayeredWidth, maxTextureCubemapLayered[0]),
    SIMT_ATTRIBUTE(MaxTextureCubemapLayeredLayers, maxTextureCubemapLayered[1]),
    SIMT_ATTRIBUTE(MaxSurface1DWidth, maxSurface1D),
    SIMT_ATTRIBUTE(MaxSurface2DWidth, maxSurface2D[0]),
    SIMT_ATTRIBUTE(MaxSurface2DHeight, maxSurface2D[1]),
    SIMT_ATTRIBUTE(MaxSurface3DWidth, maxSurface3D[0]),
    SIMT_ATTRIBUTE(MaxSurface3DHeight, maxSurface3D[1]),
    SIMT_ATTRIBUTE(MaxSurface3DDepth, maxSurface3D[2]),
    SIMT_ATTRIBUTE(MaxSurface1DLayeredWidth, maxSurface1DLayered[0]),
    SIMT_ATTRIBUTE(MaxSurface1DLayeredLayers, maxSurface1DLayered[1]),
    SIMT_ATTRIBUTE(MaxSurface2DLayeredWidth, maxSurface2DLayered[0]),
    SIMT_ATTRIBUTE(MaxSurface2DLayeredHeight, maxSurface2DLayered[1]),
    SIMT_ATTRIBUTE(MaxSurface2DLayeredLayers, maxSurface2DLayered[2]),
    SIMT_ATTRIBUTE(MaxSurfaceCubemapWidth, maxSurfaceCubemap),
    SIMT_ATTRIBUTE(MaxSurfaceCubemapLayeredWidth, maxSurfaceCubemapLayered[0]),
    SIMT_ATTRIBUTE(MaxSurfaceCubemapLayeredLayers, maxSurfaceCubemapLayered[1]),
    SIMT_ATTRIBUTE(MaxTexture1DLinearWidth, maxTexture1DLinear),
    SIMT_ATTRIBUTE(MaxTexture2DLinearWidth, maxTexture2DLinear[0]),
    SIMT_ATTRIBUTE(MaxTexture2DLinearHeight, maxTexture2DLinear[1]),
    SIMT_ATTRIBUTE(MaxTexture2DLinearPitch, maxTexture2DLinear[2]),
    SIMT_ATTRIBUTE(MaxTexture2DMipmappedWidth, maxTexture2DMipmap[0]),
    SIMT_ATTRIBUTE(MaxTexture2DMipmappedHeight, maxTexture2DMipmap[1]),
    SIMT_ATTRIBUTE(ComputeCapabilityMajor, major),
    SIMT_ATTRIBUTE(ComputeCapabilityMinor, minor),
    SIMT_ATTRIBUTE(MaxTexture1DMipmappedWidth, maxTexture1DMipmap),
    SIMT_ATTRIBUTE(StreamPrioritiesSupported, streamPrioritiesSupported),
    SIMT_ATTRIBUTE(GlobalL1CacheSupported, globalL1CacheSupported),
    SIMT_ATTRIBUTE(LocalL1CacheSupported, localL1CacheSupported),
    SIMT_ATTRIBUTE(MaxSharedMemoryPerMultiprocessor, sharedMemPerMultiprocessor),
    SIMT_ATTRIBUTE(MaxRegistersPerMultiprocessor, regsPerMultiprocessor),
    SIMT_ATTRIBUTE(ManagedMemory, managedMemory),
    SIMT_ATTRIBUTE(IsMultiGpuBoard, isMultiGpuBoard),
    SIMT_ATTRIBUTE(MultiGpuBoardGroupID, multiGpuBoardGroupID),
    SIMT_ATTRIBUTE(HostNativeAtomicSupported, hostNativeAtomicSupported),
    SIMT_ATTRIBUTE(SingleToDoublePrecisionPerfRatio, singleToDoublePrecisionPerfRatio),
    SIMT_ATTRIBUTE(PageableMemoryAccess, pageableMemoryAccess),
    SIMT_ATTRIBUTE(ConcurrentManagedAccess, concurrentManagedAccess),
    SIMT_ATTRIBUTE(ComputePreemptionSupported, computePreemptionSupported),
    SIMT_ATTRIBUTE(CanUseHostPointerForRegisteredMem,
                   canUseHostPointerForRegisteredMem),
    SIMT_ATTRIBUTE(CooperativeLaunch, cooperativeLaunch),
    SIMT_ATTRIBUTE(CooperativeMultiDeviceLaunch, cooperativeMultiDeviceLaunch),
    SIMT_ATTRIBUTE(MaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin),
    SIMT_ATTRIBUTE(HostRegisterSupported, hostRegisterSupported),
    SIMT_ATTRIBUTE(PageableMemoryAccessUsesHostPageTables,
                   pageableMemoryAccessUsesHostPageTables),
    SIMT_ATTRIBUTE(DirectManagedMemAccessFromHost, directManagedMemAccessFromHost),
    SIMT_ATTRIBUTE(MaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor),
    SIMT_ATTRIBUTE(MaxPersistingL2CacheSize, persistingL2CacheMaxSize),
    SIMT_ATTRIBUTE(MaxAccessPolicyWindowSize, accessPolicyMaxWindowSize),
    SIMT_ATTRIBUTE(ReservedSharedMemoryPerBlock, reservedSharedMemPerBlock),
    SIMT_ATTRIBUTE(SparseCudaArraySupported, sparseCudaArraySupported),
    SIMT_ATTRIBUTE(HostRegisterReadOnlySupported, hostRegisterReadOnlySupported),
    SIMT_ATTRIBUTE(TimelineSemaphoreInteropSupported,
                   timelineSemaphoreInteropSupported),
    SIMT_ATTRIBUTE(MemoryPoolsSupported, memoryPoolsSupported),
    SIMT_ATTRIBUTE(GPUDirectRDMASupported, gpuDirectRDMASupported),
    SIMT_ATTRIBUTE(GPUDirectRDMAFlushWritesOptions, gpuDirectRDMAFlushWritesOptions),
    SIMT_ATTRIBUTE(GPUDirectRDMAWritesOrdering, gpuDirectRDMAWritesOrdering),
    SIMT_ATTRIBUTE(MemoryPoolSupportedHandleTypes, memoryPoolSupportedHandleTypes),
    SIMT_ATTRIBUTE(ClusterLaunch, clusterLaunch),
    SIMT_ATTRIBUTE(DeferredMappingCudaArraySupported,
                   deferredMappingCudaArraySupported),
    SIMT_ATTRIBUTE(IpcEventSupport, ipcEventSupported),
    SIMT_ATTRIBUTE(NumaConfig, deviceNumaConfig),
    SIMT_ATTRIBUTE(NumaId, deviceNumaId),
    SIMT_ATTRIBUTE(MpsEnabled, mpsEnabled),
    SIMT_ATTRIBUTE(HostNumaId, hostNumaId),
    SIMT_ATTRIBUTE(GpuPciDeviceId, gpuPciDeviceID),
    SIMT_ATTRIBUTE(GpuPciSubsystemId, gpuPciSubsystemID),
    SIMT_ATTRIBUTE(HostNumaMultinodeIpcSupported, hostNumaMultinodeIpcSupported),
};
#undef SIMT_ATTRIBUTE

// Abilities without a property; what is not listed anywhere is not there: 0.
constexpr cudaDeviceAttr kAbsent[] = {
    cudaDevAttrCanFlushRemoteWrites,
    cudaDevAttrD3D12CigSupported,
    cudaDevAttrVulkanCigSupported,
    cudaDevAttrHostNumaMemoryPoolsSupported,
    cudaDevAttrHostMemoryPoolsSupported,
    cudaDevAttrOnlyPartialHostNativeAtomicSupported,
};

std::optional<int> attribute_value(cudaDeviceAttr id, int device) {
    const cudaDeviceProp prop = device_properties(device);
    for (const Attribute& attribute : kAttributes)
        if (attribute.id == id) return attribute.value(prop);
    for (const cudaDeviceAttr absent : kAbsent)
        if (absent == id) return 0;
    if (id == cudaDevAttrMemSyncDomainCount) return 1;
    return std::nullopt;
}

}  // namespace
}  // namespace simt::detail

using namespace simt::detail;

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    return api_call([&] {
        if (!value) return cudaErrorInvalidValue;
        if (!is_device(device)) return cudaErrorInvalidDevice;
        const std::optional<int> found = attribute_value(attribute, device);
        if (!found) return cudaErrorInvalidValue;
        *value = *found;
        return cudaSuccess;
    });
}
