// Streams: creation, properties, waiting, host functions.

#include "stream.h"

#include <algorithm>

#include "call.h"
#include "capture.h"
#include "core/devices.h"
#include "handles.h"

namespace simt::detail {
namespace {

HandleTable<CUstream_st>& streams() {
    static auto* const table = new HandleTable<CUstream_st>;
    return *table;
}

std::atomic<unsigned long long> g_next_stream_id = 3;  // after the two default ones

// CUDA's numbers: a lower number is a higher priority.
constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

/// The default streams of all devices.
struct LegacyStreams {
    CUstream_st of[kMostDevices];
    LegacyStreams() {
        for (int device = 0; device < kMostDevices; ++device) {
            of[device].id = 1;
            of[device].device = device;
            of[device].legacy = true;
        }
    }
};

CUstream_st* legacy_stream() {
    static LegacyStreams streams;
    return &streams.of[current_device()];
}

/// The default streams of a host thread, which leave their captures when it ends.
struct PerThreadStreams {
    CUstream_st of[kMostDevices];
    PerThreadStreams() {
        for (int device = 0; device < kMostDevices; ++device) {
            of[device].id = 2;
            of[device].device = device;
        }
    }
    ~PerThreadStreams() {
        for (CUstream_st& stream : of)
            leave_capture(&stream);
    }
};

CUstream_st* per_thread_stream() {
    thread_local PerThreadStreams holder;
    return &holder.of[current_device()];
}

/// What cudaStreamAddCallback runs.
class CallbackOperation : public Operation {
 public:
    CallbackOperation(cudaStreamCallback_t callback, cudaStream_t stream, void* data)
        : callback_(callback), stream_(stream), data_(data) {}
    cudaGraphNodeType type() const override { return cudaGraphNodeTypeHost; }
    cudaError_t run(cudaStream_t) const override {
        callback_(stream_, cudaSuccess, data_);
        return cudaSuccess;
    }

 private:
    cudaStreamCallback_t callback_;
    cudaStream_t stream_;
    void* data_;
};

}  // namespace

CUstream_st* find_stream(cudaStream_t stream) {
    if (stream == nullptr || stream == cudaStreamLegacy) return legacy_stream();
    if (stream == cudaStreamPerThread) return per_thread_stream();
    return streams().contains(stream) ? stream : nullptr;
}

void destroy_streams() {
    streams().clear();
}

void destroy_streams(int device) {
    streams().remove_if([=](const CUstream_st& s) { return s.device == device; });
}

}  // namespace simt::detail

using namespace simt::detail;

namespace {

/// Runs `body` with the stream behind the handle.
template <class Body>
cudaError_t with_stream(cudaStream_t handle, Body body) {
    return api_call([&] {
        CUstream_st* stream = find_stream(handle);
        return stream ? body(*stream) : cudaErrorInvalidResourceHandle;
    });
}

}  // namespace

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return api_call([&] {
        if (least) *least = kLeastPriority;
        if (greatest) *greatest = kGreatestPriority;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags,
                                         int priority) {
    return api_call([&] {
        if (!stream || (flags & ~cudaStreamNonBlocking)) return cudaErrorInvalidValue;
        auto created = std::make_unique<CUstream_st>();
        created->id = g_next_stream_id++;
        created->device = current_device();
        created->flags = flags;
        created->priority =
            std::min(kLeastPriority, std::max(kGreatestPriority, priority));
        *stream = streams().insert(std::move(created));
        return cudaSuccess;
    });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
    return cudaStreamCreateWithPriority(stream, flags, kLeastPriority);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
    return api_call([&] {
        std::unique_ptr<CUstream_st> stream = streams().remove(handle);
        if (!stream) return cudaErrorInvalidResourceHandle;
        leave_capture(stream.get());
        return cudaSuccess;
    });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
    return with_stream(handle, [=](const CUstream_st& stream) {
        if (const cudaError_t error = refuse_if_capturing(handle)) return error;
        tell_issue(simt::Issue::wait, handle);
        return finish_stream(stream);
    });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
    const cudaError_t error = with_stream(
        handle, [=](const CUstream_st&) { return refuse_if_capturing(handle); });
    if (error != cudaSuccess || !deferring()) return error;
    let_one_run();
    if (const cudaError_t fault = sticky_error()) return set_error(fault);
    const std::vector<TaskPtr> before = tasks_before(*find_stream(handle));
    const bool done = std::all_of(before.begin(), before.end(), is_done);
    return done ? cudaSuccess : cudaErrorNotReady;  // which is no failure
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
    return with_stream(handle, [&](const CUstream_st& stream) {
        if (!priority) return cudaErrorInvalidValue;
        *priority = stream.priority;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned int* flags) {
    return with_stream(handle, [&](const CUstream_st& stream) {
        if (!flags) return cudaErrorInvalidValue;
        *flags = stream.flags;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
    return with_stream(handle, [&](const CUstream_st& stream) {
        if (!id) return cudaErrorInvalidValue;
        *id = stream.id;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
    return with_stream(handle, [&](const CUstream_st& stream) {
        if (!device) return cudaErrorInvalidValue;
        *device = stream.device;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue* value) {
    return with_stream(handle, [&](CUstream_st& stream) {
        if (!value) return cudaErrorInvalidValue;
        switch (attribute) {
            case cudaLaunchAttributeAccessPolicyWindow:
                stream.window = value->accessPolicyWindow;
                return cudaSuccess;
            case cudaLaunchAttributeSynchronizationPolicy:
                stream.policy = value->syncPolicy;
                return cudaSuccess;
            case cudaLaunchAttributePriority:
                stream.priority = value->priority;
                return cudaSuccess;
            case cudaLaunchAttributeMemSyncDomain:
            case cudaLaunchAttributeMemSyncDomainMap:
                return cudaSuccess;
            default:
                return cudaErrorInvalidValue;
        }
    });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t handle, cudaLaunchAttributeID attribute,
                                   cudaLaunchAttributeValue* value) {
    return with_stream(handle, [&](const CUstream_st& stream) {
        if (!value) return cudaErrorInvalidValue;
        switch (attribute) {
            case cudaLaunchAttributeAccessPolicyWindow:
                value->accessPolicyWindow = stream.window;
                return cudaSuccess;
            case cudaLaunchAttributeSynchronizationPolicy:
                value->syncPolicy = stream.policy;
                return cudaSuccess;
            case cudaLaunchAttributePriority:
                value->priority = stream.priority;
                return cudaSuccess;
            default:
                return cudaErrorInvalidValue;
        }
    });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src) {
    return api_call([&] {
        CUstream_st* to = find_stream(dst);
        const CUstream_st* from = find_stream(src);
        if (!to || !from) return cudaErrorInvalidResourceHandle;
        to->window = from->window;
        to->policy = from->policy;
        return cudaSuccess;
    });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
    return api_call([&] {
        tell_issue(simt::Issue::host, stream);
        return submit(stream, HostOperation({function, data}));
    });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* data, unsigned int flags) {
    return api_call([&] {
        if (!callback || flags != 0) return cudaErrorInvalidValue;
        if (capturing(stream)) return refuse_if_capturing(stream);
        tell_issue(simt::Issue::host, stream);
        return submit(stream, CallbackOperation(callback, stream, data));
    });
}
