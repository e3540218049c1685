#pragma once
// Streams. All work of a program goes through submit(), which runs it, queues it
// (schedule.h) or, while the stream is being captured, records it.

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "operation.h"
#include "schedule.h"
#include "simt/api/stream.h"

namespace simt::detail {

struct Capture;

/// Number of captures in progress in the process: 0 makes every check below cheap.
extern std::atomic<int> g_captures;

/// True while `stream` is being captured. Called by every launch.
bool capturing_slow(cudaStream_t stream);
inline bool capturing(cudaStream_t stream) {
    return g_captures.load(std::memory_order_relaxed) != 0 && !running_task() &&
           capturing_slow(stream);
}

/// A kernel launch for a graph.
struct KernelRecord {
    cudaStream_t stream;
    const char* name;
    const void* function;  // null if unknown
    dim3 grid;
    dim3 block;
    size_t shared_bytes;
    std::function<void(cudaStream_t)> work;  // repeats the launch in another stream
};

/// Adds a launch to the graph that its stream is being captured into.
void record_kernel(KernelRecord kernel);
/// Adds other work.
void record_operation(cudaStream_t stream, OperationPtr operation);

/// Whether work may be issued to `stream` now: the handle is valid, its capture is not
/// broken, and it does not make a capture depend on the default stream.
cudaError_t check_stream(cudaStream_t stream);

/// The refusal of calls on a stream under capture (synchronize, query, graph launch),
/// which break the capture.
cudaError_t refuse_if_capturing(cudaStream_t stream);

/// The refusal of calls that cannot be captured while a capture is going on
/// (allocation, synchronous copies, waiting for the device): breaks the captures that
/// CUDA would break.
cudaError_t refuse_during_capture();

/// The stream behind a handle, the default streams included; null if there is none.
CUstream_st* find_stream(cudaStream_t stream);

/// Runs `operation` as the next work of `stream`, queues it, or records a copy of it.
template <class Op>
cudaError_t submit(cudaStream_t stream, const Op& operation) {
    if (const cudaError_t error = check_stream(stream)) return error;
    if (const cudaError_t error = operation.check()) return error;
    tell_issue(Issue::operation, stream);
    if (operation.host_waits()) tell_issue(Issue::wait, stream);
    if (capturing(stream)) {
        record_operation(stream, std::make_shared<Op>(operation));
        return cudaSuccess;
    }
    if (deferring())
        return defer_operation(*find_stream(stream), std::make_shared<Op>(operation));
    return operation.run(stream);
}

}  // namespace simt::detail

/// A stream: its properties and, during a capture, where the capture stands.
struct CUstream_st {
    unsigned long long id = 0;
    int device = 0;
    bool legacy = false;  // the default stream of its device
    unsigned int flags = cudaStreamDefault;
    int priority = 0;
    cudaAccessPolicyWindow window = {};
    cudaSynchronizationPolicy policy = cudaSyncPolicyAuto;

    simt::detail::TaskPtr last;  // queued work; null if there has been none

    std::shared_ptr<simt::detail::Capture> capture;
    std::vector<cudaGraphNode_t> tail;  // nodes that the next one depends on
};

/// An event: a moment in a stream.
struct CUevent_st {
    int device = 0;
    unsigned int flags = cudaEventDefault;
    bool recorded = false;
    long long nanoseconds = 0;
    simt::detail::TaskPtr last_record;  // in a stream whose work is queued
    unsigned long records = 0;          // how many of those there have been

    // Recorded in a stream under capture: the nodes it stands for.
    bool captured = false;
    std::weak_ptr<simt::detail::Capture> capture;
    std::vector<cudaGraphNode_t> tail;
};

namespace simt::detail {

/// Destroys all streams and events (cudaDeviceReset), or the streams of one device.
void destroy_streams();
void destroy_streams(int device);
void destroy_events();

/// True for an event that was created and not destroyed.
bool is_event(cudaEvent_t event);

/// Notes the time in the event.
void stamp_event(cudaEvent_t event);

}  // namespace simt::detail
