#pragma once
// Device management. There is one device, number 0, or as many as SIMT_DEVICES says:
// all alike, each with memory and streams of its own.

#include "device_types.h"
#include "types.h"

/// Number of devices.
cudaError_t cudaGetDeviceCount(int* count);
/// Device of the calling host thread: 0, until it chooses another.
cudaError_t cudaGetDevice(int* device);
/// @returns cudaErrorInvalidDevice if there is no such device.
cudaError_t cudaSetDevice(int device);
cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags);
cudaError_t cudaSetValidDevices(int* devices, int count);
cudaError_t cudaSetDeviceFlags(unsigned int flags);
cudaError_t cudaGetDeviceFlags(unsigned int* flags);
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted);

/// Frees all device memory, streams and events, and forgets a kernel's fault.
cudaError_t cudaDeviceReset();
/// Waits for all work; reports the fault of a kernel.
cudaError_t cudaDeviceSynchronize();

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaDeviceGetPCIBusId(char* pci_bus_id, int length, int device);
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* pci_bus_id);
cudaError_t cudaCtxResetPersistingL2Cache();

// Each device can reach each other one, once that is enabled.
cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute,
                                      int source, int destination);

/// 13000, as CUDA 13.0.
cudaError_t cudaDriverGetVersion(int* version);
/// 13000, as CUDA 13.0.
cudaError_t cudaRuntimeGetVersion(int* version);

// Names from before CUDA 4, which very old programs still use.
inline cudaError_t cudaThreadSynchronize() {
    return cudaDeviceSynchronize();
}
inline cudaError_t cudaThreadExit() {
    return cudaDeviceReset();
}

cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();

namespace simt::detail {
/// Selects the device model; see core/device_model.h.
bool set_device_arch(int cuda_arch);
#ifdef __CUDA_ARCH_LIST__
/// Runs before main for every file that simt-c++ compiles: what -arch asked for. Not
/// inline, because files may be compiled for different architectures.
[[maybe_unused]] static const bool kDeviceArchSelected =
    set_device_arch(__CUDA_ARCH_LIST__);
#endif
}  // namespace simt::detail
