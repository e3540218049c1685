// Events: moments in streams, and the edges between captured streams.

#include <chrono>

#include "call.h"
#include "capture.h"
#include "core/devices.h"
#include "event_operations.h"
#include "handles.h"
#include "operation.h"
#include "stream.h"

namespace simt::detail {
namespace {

HandleTable<CUevent_st>& events() {
    static auto* const table = new HandleTable<CUevent_st>;
    return *table;
}

/// Queues the record. The event may be recorded again, or be gone, when its turn comes.
void record_later(CUevent_st* event, CUstream_st* stream) {
    event->last_record = defer(
        *stream,
        [event, number = ++event->records] {
            if (is_event(event) && event->records == number) stamp_event(event);
            return cudaSuccess;
        },
        Weight::nothing);
    event->recorded = true;
}

cudaError_t record(CUevent_st* event, CUstream_st* stream) {
    if (g_captures.load(std::memory_order_relaxed) != 0) {
        const std::lock_guard lock(capture_mutex());
        if (stream->capture) {
            event->captured = true;
            event->capture = stream->capture;
            event->tail = stream->tail;
            return cudaSuccess;
        }
    }
    event->captured = false;
    event->tail.clear();
    if (deferring()) {
        record_later(event, stream);
        return cudaSuccess;
    }
    stamp_event(event);
    return cudaSuccess;
}

/// Lets the stream's next queued work wait for the event as it is recorded now.
void wait_later(CUstream_st* stream, const CUevent_st* event) {
    if (!deferring() || is_done(event->last_record)) return;
    defer(*stream, [] { return cudaSuccess; }, Weight::nothing, {event->last_record});
}

// An edge from the event to the stream's next work. Outside captures, without a queue,
// everything that was recorded is already done.
cudaError_t wait(CUstream_st* stream, CUevent_st* event) {
    const std::lock_guard lock(capture_mutex());
    const std::shared_ptr<Capture> source =
        event->captured ? event->capture.lock() : nullptr;
    if (!source) {
        if (!stream->capture) {
            wait_later(stream, event);
            return cudaSuccess;
        }
        hint(
            "cudaStreamWaitEvent: the event was not recorded in the capture that the "
            "stream belongs to");
        return invalidate(*stream->capture, cudaErrorStreamCaptureIsolation);
    }
    if (stream->legacy) return invalidate(*source, cudaErrorStreamCaptureImplicit);
    if (!stream->capture) {
        join_capture(source, stream, event->tail);
        return cudaSuccess;
    }
    if (stream->capture != source) {
        invalidate(*source, cudaErrorStreamCaptureMerge);
        return invalidate(*stream->capture, cudaErrorStreamCaptureMerge);
    }
    merge_tail(stream->tail, event->tail);
    return cudaSuccess;
}

template <class Body>
cudaError_t with_event(cudaEvent_t event, Body body) {
    return api_call([&] {
        return is_event(event) ? body(*event) : cudaErrorInvalidResourceHandle;
    });
}

}  // namespace

bool is_event(cudaEvent_t event) {
    return events().contains(event);
}

void destroy_events() {
    events().clear();
}

void stamp_event(cudaEvent_t event) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    event->nanoseconds =
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    event->recorded = true;
}

}  // namespace simt::detail

using namespace simt::detail;

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
    constexpr unsigned kKnown =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    return api_call([&] {
        if (!event || (flags & ~kKnown)) return cudaErrorInvalidValue;
        // CUDA: an event shared between processes must not be timed.
        if ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming))
            return cudaErrorInvalidValue;
        auto created = std::make_unique<CUevent_st>();
        created->device = current_device();
        created->flags = flags;
        *event = events().insert(std::move(created));
        return cudaSuccess;
    });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return api_call([&] {
        return events().remove(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
    });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t handle,
                                     unsigned int flags) {
    return with_event(event, [&](CUevent_st&) {
        if (flags & ~cudaEventRecordExternal) return cudaErrorInvalidValue;
        if (const cudaError_t error = check_stream(handle)) return error;
        tell_issue(simt::Issue::event, handle);
        if (event->device != find_stream(handle)->device) {
            hint("cudaEventRecord: an event of device %d in a stream of device %d",
                 event->device, find_stream(handle)->device);
            return cudaErrorInvalidResourceHandle;
        }
        if (flags == cudaEventRecordExternal && capturing(handle)) {
            record_operation(handle, std::make_shared<EventRecordOperation>(event));
            return cudaSuccess;
        }
        return record(event, find_stream(handle));
    });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event,
                                unsigned int flags) {
    return with_event(event, [&](CUevent_st&) {
        CUstream_st* stream = find_stream(handle);
        if (!stream) return cudaErrorInvalidResourceHandle;
        if (flags & ~cudaEventWaitExternal) return cudaErrorInvalidValue;
        tell_issue(simt::Issue::event, handle);
        if (g_captures.load(std::memory_order_relaxed) == 0) {
            wait_later(stream, event);
            return cudaSuccess;
        }
        if (flags == cudaEventWaitExternal && capturing(handle)) {
            record_operation(handle, std::make_shared<EventWaitOperation>(event));
            return cudaSuccess;
        }
        return wait(stream, event);
    });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return with_event(event, [](const CUevent_st& e) {
        if (!e.captured) {
            tell_issue(simt::Issue::wait, nullptr);
            return finish(e.last_record);
        }
        const std::lock_guard lock(capture_mutex());
        if (const auto capture = e.capture.lock())
            invalidate(*capture, cudaErrorCapturedEvent);
        return cudaErrorCapturedEvent;
    });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    if (!is_event(event) || event->captured) return cudaEventSynchronize(event);
    if (!is_done(event->last_record)) let_one_run();
    if (const cudaError_t fault = sticky_error()) return set_error(fault);
    return is_done(event->last_record) ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start,
                                 cudaEvent_t end) {
    return api_call([&] {
        if (!milliseconds) return cudaErrorInvalidValue;
        if (!is_event(start) || !is_event(end)) return cudaErrorInvalidResourceHandle;
        if (start->captured || end->captured) return cudaErrorCapturedEvent;
        const bool timed = !((start->flags | end->flags) & cudaEventDisableTiming);
        if (!timed || !start->recorded || !end->recorded ||
            start->device != end->device)
            return cudaErrorInvalidResourceHandle;
        if (!is_done(start->last_record) || !is_done(end->last_record))
            return cudaErrorNotReady;
        *milliseconds =
            static_cast<float>(end->nanoseconds - start->nanoseconds) * 1e-6f;
        return cudaSuccess;
    });
}
