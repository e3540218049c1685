// Device, pinned and managed memory.

#include "core/memory.h"
#include "core/devices.h"

#include <algorithm>
#include <cstdint>

#include "call.h"
#include "graph_memory.h"
#include "memory_pool.h"
#include "pointers.h"
#include "simt/api/memory.h"
#include "stream.h"

namespace simt::detail {
namespace {

// Rows of cudaMallocPitch start at multiples of this on real devices.
constexpr size_t kPitchAlignment = 512;

cudaError_t allocate_for(void** pointer, size_t bytes, MemoryKind kind) {
    return api_call([&] {
        if (!pointer) return cudaErrorInvalidValue;
        if (const cudaError_t error = refuse_during_capture()) return error;
        *pointer = nullptr;
        if (bytes == 0) return cudaSuccess;
        void* memory = allocate(bytes, kind);
        if (!memory) {
            hint("%zu bytes could not be allocated: %zu of at most %zu are in use",
                 bytes, memory_used(current_device()), memory_limit_of_device());
            return cudaErrorMemoryAllocation;
        }
        *pointer = memory;
        return cudaSuccess;
    });
}

bool round_up(size_t value, size_t multiple, size_t* rounded) {
    if (__builtin_add_overflow(value, multiple - 1, rounded)) return false;
    *rounded -= *rounded % multiple;
    return true;
}

cudaError_t not_simulated(const char* what) {
    return api_call([&] {
        hint("%s are not simulated", what);
        return cudaErrorNotSupported;
    });
}

// What cudaFree says of a pointer that it cannot free.
void explain_free(const char* call, const void* pointer) {
    Allocation allocation;
    if (!find_allocation(pointer, &allocation)) {
        hint("%s: %p is no live allocation%s", call, pointer,
             !in_device_range(pointer) ? " (a host pointer?)"
                                       : ": was it freed before?");
    } else if (allocation.begin != pointer) {
        hint("%s: %p points into an allocation, not to its start", call, pointer);
    } else {
        hint("%s: %p was not allocated by the function that belongs to this one", call,
             pointer);
    }
}

/// Waits for the device that has the memory; work of others may wait for this thread.
cudaError_t finish_owner(const void* pointer) {
    Allocation allocation;
    const bool has_owner =
        find_allocation(pointer, &allocation) && allocation.kind == MemoryKind::device;
    return has_owner ? finish_device(allocation.device) : finish_all();
}

}  // namespace
}  // namespace simt::detail

using namespace simt::detail;

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
    return allocate_for(pointer, bytes, MemoryKind::device);
}

cudaError_t cudaFree(void* pointer) {
    return api_call([&] {
        if (!pointer) return cudaSuccess;
        if (const cudaError_t error = refuse_during_capture()) return error;
        tell_issue(simt::Issue::wait, nullptr);
        if (const cudaError_t error = finish_owner(pointer)) return error;
        forget_pool_allocation(pointer);
        if (free_device_memory(pointer) || release(pointer, MemoryKind::managed))
            return cudaSuccess;
        explain_free("cudaFree", pointer);
        return cudaErrorInvalidValue;
    });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width,
                            size_t height) {
    size_t bytes = 0;
    size_t row = 0;
    if (!pitch) return api_call([] { return cudaErrorInvalidValue; });
    if (!round_up(width, kPitchAlignment, &row) ||
        __builtin_mul_overflow(row, height, &bytes))
        return api_call([] { return cudaErrorMemoryAllocation; });
    const cudaError_t error = cudaMalloc(pointer, bytes);
    if (error == cudaSuccess) *pitch = row;
    return error;
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
    size_t rows = 0;
    if (!pitched) return api_call([] { return cudaErrorInvalidValue; });
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
        return api_call([] { return cudaErrorMemoryAllocation; });
    void* memory = nullptr;
    size_t pitch = 0;
    const cudaError_t error = cudaMallocPitch(&memory, &pitch, extent.width, rows);
    if (error == cudaSuccess) *pitched = {memory, pitch, extent.width, extent.height};
    return error;
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
    return api_call([&] {
        if (!free_bytes || !total_bytes) return cudaErrorInvalidValue;
        *total_bytes = memory_limit_of_device();
        *free_bytes =
            *total_bytes - std::min(*total_bytes, memory_used(current_device()));
        return cudaSuccess;
    });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                     const void* pointer) {
    return api_call([&] {
        if (!attributes) return cudaErrorInvalidValue;
        void* same = const_cast<void*>(pointer);
        *attributes = {};
        attributes->device = cudaInvalidDeviceId;
        // As a GPU says while a stream is captured, of what was allocated on it.
        const bool promised = is_promised(pointer);
        switch (promised ? Space::freed : look_up(pointer).space) {
            case Space::host:
            case Space::freed:
                attributes->type = cudaMemoryTypeUnregistered;
                attributes->hostPointer = same;
                return cudaSuccess;
            case Space::device:
                attributes->type = cudaMemoryTypeDevice;
                attributes->devicePointer = same;
                break;
            case Space::pinned:
                attributes->type = cudaMemoryTypeHost;
                attributes->devicePointer = attributes->hostPointer = same;
                break;
            case Space::managed:
                attributes->type = cudaMemoryTypeManaged;
                attributes->devicePointer = attributes->hostPointer = same;
                break;
        }
        Allocation allocation;
        const bool found = find_allocation(pointer, &allocation);
        attributes->device = found ? allocation.device : current_device();
        return cudaSuccess;
    });
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) {
    return not_simulated("memory handles of other processes");
}

cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned int) {
    return not_simulated("memory handles of other processes");
}

cudaError_t cudaIpcCloseMemHandle(void*) {
    return not_simulated("memory handles of other processes");
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) {
    return not_simulated("event handles of other processes");
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) {
    return not_simulated("event handles of other processes");
}

// ---- Pinned host memory -----------------------------------------------------------

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned int flags) {
    constexpr unsigned kKnown =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (flags & ~kKnown) return api_call([] { return cudaErrorInvalidValue; });
    return allocate_for(pointer, bytes, MemoryKind::pinned);
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned int flags) {
    return cudaHostAlloc(pointer, bytes, flags);
}

cudaError_t cudaFreeHost(void* pointer) {
    return api_call([&] {
        if (!pointer) return cudaSuccess;
        if (const cudaError_t error = refuse_during_capture()) return error;
        if (const cudaError_t error = finish_all()) return error;  // as CUDA does
        if (release(pointer, MemoryKind::pinned)) return cudaSuccess;
        explain_free("cudaFreeHost", pointer);
        return cudaErrorInvalidValue;
    });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned int flags) {
    constexpr unsigned kKnown = cudaHostRegisterPortable | cudaHostRegisterMapped |
                                cudaHostRegisterReadOnly | cudaHostRegisterIoMemory;
    return api_call([&] {
        if (!pointer || bytes == 0 || (flags & ~kKnown)) return cudaErrorInvalidValue;
        if (flags & cudaHostRegisterIoMemory) return cudaErrorNotSupported;
        if (const cudaError_t error = refuse_during_capture()) return error;
        const Space space = look_up(pointer).space;
        if (space == Space::device || space == Space::managed)
            return cudaErrorInvalidValue;
        return register_host(pointer, bytes) ? cudaSuccess
                                             : cudaErrorHostMemoryAlreadyRegistered;
    });
}

cudaError_t cudaHostUnregister(void* pointer) {
    return api_call([&] {
        if (!pointer) return cudaErrorInvalidValue;
        if (const cudaError_t error = finish_all()) return error;
        return unregister_host(pointer) ? cudaSuccess
                                        : cudaErrorHostMemoryNotRegistered;
    });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags) {
    return api_call([&] {
        if (!device || flags != 0) return cudaErrorInvalidValue;
        if (look_up(host).space != Space::pinned) {
            hint(
                "cudaHostGetDevicePointer: %p was neither allocated by cudaHostAlloc "
                "or "
                "cudaMallocHost nor registered",
                host);
            return cudaErrorInvalidValue;
        }
        *device = host;
        return cudaSuccess;
    });
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* host) {
    return api_call([&] {
        if (!flags || look_up(host).space != Space::pinned)
            return cudaErrorInvalidValue;
        *flags = cudaHostAllocMapped;  // with unified addresses, all of it is
        return cudaSuccess;
    });
}

// ---- Managed memory ---------------------------------------------------------------

cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned int flags) {
    return api_call([&] {
        const bool known = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost;
        if (!pointer || !known) return cudaErrorInvalidValue;
        return allocate_for(pointer, bytes, MemoryKind::managed);
    });
}

namespace {

// The location as CUDA checks it: the device, or some kind of host.
bool is_location(const cudaMemLocation& location) {
    switch (location.type) {
        case cudaMemLocationTypeDevice:
            return is_device(location.id);
        case cudaMemLocationTypeHost:
        case cudaMemLocationTypeHostNuma:
        case cudaMemLocationTypeHostNumaCurrent:
            return true;
        default:
            return false;
    }
}

bool is_managed_range(const void* pointer, size_t bytes, const char* call) {
    const Pointee pointee = look_up(pointer);
    if (pointee.space == Space::managed && bytes <= pointee.bytes_left) return true;
    hint("%s: %p and the next %zu bytes are not managed memory", call, pointer, bytes);
    return false;
}

cudaMemLocation location_of(int device) {
    if (device == cudaCpuDeviceId) return {cudaMemLocationTypeHost, 0};
    return {cudaMemLocationTypeDevice, device};
}

}  // namespace

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes,
                                 cudaMemLocation location, unsigned int flags,
                                 cudaStream_t stream) {
    return api_call([&] {
        if (!pointer || bytes == 0 || flags != 0) return cudaErrorInvalidValue;
        if (!is_location(location)) return cudaErrorInvalidDevice;
        if (const cudaError_t error = check_stream(stream)) return error;
        if (capturing(stream)) return cudaErrorStreamCaptureUnsupported;
        return is_managed_range(pointer, bytes, "cudaMemPrefetchAsync")
                   ? cudaSuccess
                   : cudaErrorInvalidValue;
    });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device,
                                 cudaStream_t stream) {
    return cudaMemPrefetchAsync(pointer, bytes, location_of(device), 0, stream);
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
    return api_call([&] {
        const bool known = advice >= cudaMemAdviseSetReadMostly &&
                           advice <= cudaMemAdviseUnsetAccessedBy;
        // CUDA ignores the location of the advice that needs none.
        const bool needs_location = advice == cudaMemAdviseSetPreferredLocation ||
                                    advice == cudaMemAdviseSetAccessedBy ||
                                    advice == cudaMemAdviseUnsetAccessedBy;
        if (!known || bytes == 0) return cudaErrorInvalidValue;
        if (needs_location && !is_location(location)) return cudaErrorInvalidDevice;
        return is_managed_range(pointer, bytes, "cudaMemAdvise")
                   ? cudaSuccess
                   : cudaErrorInvalidValue;
    });
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                          int device) {
    return cudaMemAdvise(pointer, bytes, advice, location_of(device));
}

cudaError_t cudaMemRangeGetAttribute(void* data, size_t data_size,
                                     cudaMemRangeAttribute attribute,
                                     const void* pointer, size_t bytes) {
    return api_call([&] {
        if (!data || data_size < sizeof(int)) return cudaErrorInvalidValue;
        if (!is_managed_range(pointer, bytes, "cudaMemRangeGetAttribute"))
            return cudaErrorInvalidValue;
        // Advice and prefetches leave no trace: there is one memory.
        const bool flag = attribute == cudaMemRangeAttributeReadMostly;
        *static_cast<int*>(data) = flag ? 0 : cudaInvalidDeviceId;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t,
                                     unsigned int) {
    return api_call([&] {
        if (const cudaError_t error = check_stream(stream)) return error;
        const Space space = look_up(pointer).space;
        return space == Space::managed || space == Space::host ? cudaSuccess
                                                               : cudaErrorInvalidValue;
    });
}
