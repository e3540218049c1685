// The device: choosing, waiting, resetting, limits.

#include "simt/api/device.h"

#include <cstdio>
#include <string>

#include "array.h"
#include "call.h"
#include "capture.h"
#include "core/devices.h"
#include "core/fault.h"
#include "core/memory.h"
#include "memory_pool.h"
#include "stream.h"

using namespace simt::detail;

namespace {

constexpr int kCudaVersion = 13000;

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
    return is_device(device) ? cudaSuccess : cudaErrorInvalidDevice;
}

std::string pci_bus_id_of(int device) {
    return format("0000:%02x:00.0", static_cast<unsigned>(device));
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
    return api_call([&] {
        if (!count) return cudaErrorInvalidValue;
        *count = device_count();
        return cudaSuccess;
    });
}

cudaError_t cudaGetDevice(int* device) {
    return api_call([&] {
        if (!device) return cudaErrorInvalidValue;
        *device = current_device();
        return cudaSuccess;
    });
}

cudaError_t cudaSetDevice(int device) {
    return api_call([&] {
        if (const cudaError_t error = check_device(device)) return error;
        set_current_device(device);
        return cudaSuccess;
    });
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
        return error == cudaSuccess ? finish_device(current_device()) : error;
    });
}

cudaError_t cudaDeviceReset() {
    const cudaError_t fault = sticky_error();
    if (device_count() > 1) {
        // The others keep what they have; its peer access and its streams go.
        finish_all();
        forget_peer_access(current_device());
        destroy_streams(current_device());
        release_device(current_device());
        clear_sticky_error();
        return fault;
    }
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
        const std::string id = pci_bus_id_of(device);
        if (!pci_bus_id || length <= static_cast<int>(id.size()))
            return cudaErrorInvalidValue;
        if (const cudaError_t error = check_device(device)) return error;
        std::snprintf(pci_bus_id, static_cast<size_t>(length), "%s", id.c_str());
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* pci_bus_id) {
    return api_call([&] {
        if (!device || !pci_bus_id) return cudaErrorInvalidValue;
        for (int i = 0; i < device_count(); ++i) {
            if (pci_bus_id_of(i) != pci_bus_id) continue;
            *device = i;
            return cudaSuccess;
        }
        return cudaErrorInvalidDevice;
    });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
    return api_call([] { return cudaSuccess; });
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
    return api_call([&] {
        if (!can_access) return cudaErrorInvalidValue;
        if (check_device(device) || check_device(peer)) return cudaErrorInvalidDevice;
        *can_access = device != peer;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
    return api_call([&] {
        if (flags != 0) return cudaErrorInvalidValue;
        if (const cudaError_t error = check_device(peer)) return error;
        const int device = current_device();
        if (peer == device) return cudaErrorPeerAccessUnsupported;  // its own peer
        if (has_peer_access(device, peer)) return cudaErrorPeerAccessAlreadyEnabled;
        set_peer_access(device, peer, true);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    return api_call([&] {
        if (const cudaError_t error = check_device(peer)) return error;
        const int device = current_device();
        if (peer == device || !has_peer_access(device, peer))
            return cudaErrorPeerAccessNotEnabled;
        set_peer_access(device, peer, false);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute,
                                      int source, int destination) {
    return api_call([&] {
        if (!value) return cudaErrorInvalidValue;
        // Both devices have to exist and differ.
        if (check_device(source) || check_device(destination) || source == destination)
            return cudaErrorInvalidDevice;
        switch (attribute) {
            case cudaDevP2PAttrPerformanceRank:
                *value = 0;
                return cudaSuccess;
            case cudaDevP2PAttrAccessSupported:
            case cudaDevP2PAttrNativeAtomicSupported:
            case cudaDevP2PAttrCudaArrayAccessSupported:
                *value = 1;
                return cudaSuccess;
            default:
                *value = 0;
                return cudaErrorInvalidValue;
        }
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
