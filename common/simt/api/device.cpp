// The device: choosing, waiting, resetting, limits.

#include "simt/api/device.h"

#include <cstdio>
#include <cstring>

#include "array.h"
#include "call.h"
#include "capture.h"
#include "core/memory.h"
#include "memory_pool.h"
#include "stream.h"

using namespace simt::detail;

namespace {

constexpr int kCudaVersion = 13000;
constexpr const char* kPciBusId = "0000:00:00.0";

unsigned int g_device_flags = cudaDeviceScheduleAuto;
cudaFuncCache g_cache_config = cudaFuncCachePreferNone;
cudaSharedMemConfig g_bank_size = cudaSharedMemBankSizeFourByte;

// Defaults of a real device. They are remembered; the simulator's own limits (stacks,
// the heap of kernels) do not depend on them.
size_t g_limits[] = {1024, 7340032, 8388608, 2, 2048, 64, 0};
constexpr int kNumLimits = sizeof g_limits / sizeof g_limits[0];

bool is_limit(cudaLimit limit) {
    return limit >= 0 && limit < kNumLimits;
}

cudaError_t check_device(int device) {
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
    return api_call([&] {
        if (!count) return cudaErrorInvalidValue;
        *count = 1;
        return cudaSuccess;
    });
}

cudaError_t cudaGetDevice(int* device) {
    return api_call([&] {
        if (!device) return cudaErrorInvalidValue;
        *device = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaSetDevice(int device) {
    return api_call([&] { return check_device(device); });
}

cudaError_t cudaInitDevice(int device, unsigned int, unsigned int flags) {
    return api_call([&] {
        if (flags & ~cudaInitDeviceFlagsAreValid) return cudaErrorInvalidValue;
        return check_device(device);
    });
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
    return api_call([&] {
        if (count < 0 || (count > 0 && !devices)) return cudaErrorInvalidValue;
        for (int i = 0; i < count; ++i)
            if (const cudaError_t error = check_device(devices[i])) return error;
        return cudaSuccess;
    });
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
    return api_call([&] {
        if (flags & ~cudaDeviceMask) return cudaErrorInvalidValue;
        g_device_flags = flags;
        return cudaSuccess;
    });
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
    return api_call([&] {
        if (!flags) return cudaErrorInvalidValue;
        *flags = g_device_flags | cudaDeviceMapHost;
        return cudaSuccess;
    });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
    return api_call([&] {
        if (!device || !wanted) return cudaErrorInvalidValue;
        *device = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSynchronize() {
    return api_call([] {
        const cudaError_t error = refuse_device_wait();
        tell_issue(simt::Issue::wait, nullptr);
        return error == cudaSuccess ? finish_all() : error;
    });
}

cudaError_t cudaDeviceReset() {
    const cudaError_t fault = sticky_error();
    abandon_captures();
    discard_tasks();
    destroy_events();
    destroy_streams();
    destroy_pools();
    destroy_arrays();
    release_all();
    clear_sticky_error();
    // CUDA tells of the fault one last time.
    return fault;
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
    return api_call([&] {
        if (!value || !is_limit(limit)) return cudaErrorInvalidValue;
        *value = g_limits[limit];
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    return api_call([&] {
        if (!is_limit(limit)) return cudaErrorInvalidValue;
        g_limits[limit] = value;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
    return api_call([&] {
        if (!config) return cudaErrorInvalidValue;
        *config = g_cache_config;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
    return api_call([&] {
        if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual)
            return cudaErrorInvalidValue;
        g_cache_config = config;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
    return api_call([&] {
        if (!config) return cudaErrorInvalidValue;
        *config = g_bank_size;
        return cudaSuccess;
    });
}

// Accepted without effect, as on every device since compute capability 5.0.
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
    return api_call([&] {
        return config >= cudaSharedMemBankSizeDefault &&
                       config <= cudaSharedMemBankSizeEightByte
                   ? cudaSuccess
                   : cudaErrorInvalidValue;
    });
}

cudaError_t cudaDeviceGetPCIBusId(char* pci_bus_id, int length, int device) {
    return api_call([&] {
        if (!pci_bus_id || length <= static_cast<int>(std::strlen(kPciBusId)))
            return cudaErrorInvalidValue;
        if (const cudaError_t error = check_device(device)) return error;
        std::snprintf(pci_bus_id, static_cast<size_t>(length), "%s", kPciBusId);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* pci_bus_id) {
    return api_call([&] {
        if (!device || !pci_bus_id) return cudaErrorInvalidValue;
        if (std::strcmp(pci_bus_id, kPciBusId) != 0) return cudaErrorInvalidDevice;
        *device = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
    return api_call([] { return cudaSuccess; });
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
    return api_call([&] {
        if (!can_access) return cudaErrorInvalidValue;
        if (check_device(device) || check_device(peer)) return cudaErrorInvalidDevice;
        *can_access = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
    return api_call([&] {
        if (flags != 0) return cudaErrorInvalidValue;
        // A device cannot be its own peer, and there is no other.
        return check_device(peer) ? cudaErrorInvalidDevice
                                  : cudaErrorPeerAccessUnsupported;
    });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    return api_call([&] {
        return check_device(peer) ? cudaErrorInvalidDevice
                                  : cudaErrorPeerAccessNotEnabled;
    });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int source,
                                      int destination) {
    return api_call([&] {
        if (!value) return cudaErrorInvalidValue;
        // Both devices would have to exist and differ.
        (void)source;
        (void)destination;
        return cudaErrorInvalidDevice;
    });
}

cudaError_t cudaDriverGetVersion(int* version) {
    if (!version) return api_call([] { return cudaErrorInvalidValue; });
    *version = kCudaVersion;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
    return cudaDriverGetVersion(version);
}

cudaError_t cudaProfilerStart() {
    return api_call([] { return cudaSuccess; });
}

cudaError_t cudaProfilerStop() {
    return api_call([] { return cudaSuccess; });
}
