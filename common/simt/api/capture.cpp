// Stream capture: the work of a stream, and of those that join it through events,
// becomes a graph instead of running.

#include "capture.h"

#include <algorithm>
#include <unordered_set>

#include "call.h"
#include "kernel_operation.h"

namespace simt::detail {

std::atomic<int> g_captures = 0;

namespace {

std::atomic<unsigned long long> g_next_capture_id = 1;
thread_local cudaStreamCaptureMode t_mode = cudaStreamCaptureModeGlobal;

std::vector<std::shared_ptr<Capture>>& captures() {
    static auto* const list = new std::vector<std::shared_ptr<Capture>>;
    return *list;
}

bool is_legacy(const CUstream_st* stream) {
    return stream->legacy;
}

/// The nodes of `tail` and everything that they depend on.
std::unordered_set<const CUgraphNode_st*> ancestors(
    const std::vector<cudaGraphNode_t>& tail) {
    std::unordered_set<const CUgraphNode_st*> found;
    std::vector<cudaGraphNode_t> todo = tail;
    while (!todo.empty()) {
        const cudaGraphNode_t node = todo.back();
        todo.pop_back();
        if (!found.insert(node).second) continue;
        for (const cudaGraphNode_t dependency : node->dependencies)
            todo.push_back(dependency);
    }
    return found;
}

/// True if the last work of each of these streams comes before the origin's last work.
bool are_joined(const Capture& capture, const std::vector<CUstream_st*>& streams) {
    const auto joined = ancestors(capture.origin->tail);
    for (const CUstream_st* stream : streams)
        for (const CUgraphNode_st* node : stream->tail)
            if (!joined.contains(node)) return false;
    return true;
}

void finish(const std::shared_ptr<Capture>& capture) {
    for (CUstream_st* member : capture->members) {
        member->capture.reset();
        member->tail.clear();
    }
    std::erase(captures(), capture);
    --g_captures;
}

cudaError_t begin(CUstream_st* stream, cudaStreamCaptureMode mode, CUgraph_st* graph,
                  std::vector<cudaGraphNode_t> tail) {
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed)
        return cudaErrorInvalidValue;
    if (is_legacy(stream)) {
        hint(
            "cudaStreamBeginCapture: the default stream cannot be captured: create "
            "one");
        return cudaErrorStreamCaptureUnsupported;
    }
    if (stream->capture) return cudaErrorIllegalState;
    auto capture = std::make_shared<Capture>();
    capture->id = g_next_capture_id++;
    capture->mode = mode;
    capture->owner = std::this_thread::get_id();
    capture->origin = stream;
    if (!graph) capture->owned = std::make_unique<CUgraph_st>();
    capture->graph = graph ? graph : capture->owned.get();
    captures().push_back(capture);
    ++g_captures;
    join_capture(capture, stream, tail);
    return cudaSuccess;
}

cudaError_t end(CUstream_st* stream, cudaGraph_t* graph) {
    const std::shared_ptr<Capture> capture = stream->capture;
    if (!capture) return cudaErrorIllegalState;
    if (capture->origin != stream) {
        invalidate(*capture, cudaErrorStreamCaptureUnmatched);
        return cudaErrorStreamCaptureUnmatched;
    }
    if (capture->mode != cudaStreamCaptureModeRelaxed &&
        capture->owner != std::this_thread::get_id()) {
        finish(capture);
        return cudaErrorStreamCaptureWrongThread;
    }
    const bool joined = are_joined(*capture, capture->members);
    finish(capture);
    if (graph) *graph = nullptr;
    if (capture->invalidated) return cudaErrorStreamCaptureInvalidated;
    if (!joined) {
        hint(
            "cudaStreamEndCapture: a stream that took part has not been joined: record "
            "an event in it and let the first stream wait for that event");
        return cudaErrorStreamCaptureUnjoined;
    }
    ++g_issued.captures;
    cudaGraph_t const made =
        capture->owned ? publish_graph(std::move(capture->owned)) : capture->graph;
    if (graph) *graph = made;
    return cudaSuccess;
}

}  // namespace

std::recursive_mutex& capture_mutex() {
    static auto* const mutex = new std::recursive_mutex;
    return *mutex;
}

bool is_growing_graph(cudaGraph_t graph) {
    if (is_graph(graph)) return true;
    const std::lock_guard lock(capture_mutex());
    for (const auto& capture : captures())
        if (capture->graph == graph) return true;
    return false;
}

void join_capture(const std::shared_ptr<Capture>& capture, CUstream_st* stream,
                  const std::vector<cudaGraphNode_t>& tail) {
    stream->capture = capture;
    stream->tail = tail;
    capture->members.push_back(stream);
}

cudaError_t invalidate(Capture& capture, cudaError_t error) {
    capture.invalidated = true;
    return error;
}

void leave_capture(CUstream_st* stream) {
    const std::lock_guard lock(capture_mutex());
    const std::shared_ptr<Capture> capture = stream->capture;
    if (!capture) return;
    if (capture->origin == stream) {
        finish(capture);
    } else {
        if (!are_joined(*capture, {stream})) capture->invalidated = true;
        std::erase(capture->members, stream);
    }
}

void abandon_captures() {
    const std::lock_guard lock(capture_mutex());
    while (!captures().empty()) {
        const std::shared_ptr<Capture> last = captures().back();
        finish(last);
    }
}

void merge_tail(std::vector<cudaGraphNode_t>& tail,
                const std::vector<cudaGraphNode_t>& more) {
    for (const cudaGraphNode_t node : more)
        if (std::find(tail.begin(), tail.end(), node) == tail.end())
            tail.push_back(node);
}

cudaError_t refuse_if_capturing(cudaStream_t handle) {
    if (g_captures.load(std::memory_order_relaxed) == 0) return cudaSuccess;
    const std::lock_guard lock(capture_mutex());
    const CUstream_st* stream = find_stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (stream->capture)
        return invalidate(*stream->capture, cudaErrorStreamCaptureUnsupported);
    if (!is_legacy(stream)) return cudaSuccess;
    // Waiting for the default stream means waiting for all blocking streams.
    cudaError_t error = cudaSuccess;
    for (const auto& capture : captures())
        if (!(capture->origin->flags & cudaStreamNonBlocking))
            error = invalidate(*capture, cudaErrorStreamCaptureImplicit);
    return error;
}

cudaError_t refuse_device_wait() {
    if (g_captures.load(std::memory_order_relaxed) == 0) return cudaSuccess;
    const std::lock_guard lock(capture_mutex());
    for (const auto& capture : captures())
        invalidate(*capture, cudaErrorStreamCaptureUnsupported);
    return captures().empty() ? cudaSuccess : cudaErrorStreamCaptureUnsupported;
}

cudaError_t refuse_during_capture() {
    if (g_captures.load(std::memory_order_relaxed) == 0) return cudaSuccess;
    const std::lock_guard lock(capture_mutex());
    if (t_mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
    cudaError_t error = cudaSuccess;
    for (const auto& capture : captures()) {
        const bool mine = capture->owner == std::this_thread::get_id();
        const bool forbids = mine ? capture->mode != cudaStreamCaptureModeRelaxed
                                  : capture->mode == cudaStreamCaptureModeGlobal &&
                                        t_mode == cudaStreamCaptureModeGlobal;
        if (forbids) error = invalidate(*capture, cudaErrorStreamCaptureUnsupported);
    }
    if (error)
        hint(
            "a stream is being captured: this call (allocation, synchronous copy, "
            "wait) "
            "cannot be captured and breaks the capture");
    return error;
}

bool capturing_slow(cudaStream_t stream) {
    const std::lock_guard lock(capture_mutex());
    const CUstream_st* found = find_stream(stream);
    return found && found->capture;
}

cudaError_t check_stream(cudaStream_t handle) {
    if (running_task()) return cudaSuccess;  // it was checked when it was issued
    const CUstream_st* stream = find_stream(handle);
    if (!stream) {
        hint("stream %p does not exist: was it destroyed, or never created?",
             static_cast<void*>(handle));
        return cudaErrorInvalidResourceHandle;
    }
    if (g_captures.load(std::memory_order_relaxed) == 0) return cudaSuccess;
    const std::lock_guard lock(capture_mutex());
    if (stream->capture)
        return stream->capture->invalidated ? cudaErrorStreamCaptureInvalidated
                                            : cudaSuccess;
    if (!is_legacy(stream)) return cudaSuccess;
    cudaError_t error = cudaSuccess;
    for (const auto& capture : captures())
        if (!(capture->origin->flags & cudaStreamNonBlocking))
            error = invalidate(*capture, cudaErrorStreamCaptureImplicit);
    if (error)
        hint(
            "work for the default stream while a stream is being captured: launch it "
            "into the captured stream (or capture a non-blocking one)");
    return error;
}

void record_operation(cudaStream_t handle, OperationPtr operation) {
    const std::lock_guard lock(capture_mutex());
    CUstream_st* stream = find_stream(handle);
    if (!stream || !stream->capture || stream->capture->invalidated) return;
    CUgraph_st* graph = stream->capture->graph;
    stream->tail = {graph->add(std::move(operation), stream->tail)};
}

void record_kernel(KernelRecord kernel) {
    note_captured_kernel(kernel.function);
    const cudaKernelNodeParams params = {
        const_cast<void*>(kernel.function),         kernel.grid, kernel.block,
        static_cast<unsigned>(kernel.shared_bytes), nullptr,     nullptr};
    record_operation(kernel.stream, std::make_shared<CapturedKernelOperation>(
                                        params, std::move(kernel.work)));
}

}  // namespace simt::detail

using namespace simt::detail;

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
    return api_call([&] {
        const std::lock_guard lock(capture_mutex());
        CUstream_st* stream = find_stream(handle);
        if (!stream) return cudaErrorInvalidResourceHandle;
        return begin(stream, mode, nullptr, {});
    });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t handle, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData*, size_t count,
                                          cudaStreamCaptureMode mode) {
    return api_call([&] {
        const std::lock_guard lock(capture_mutex());
        CUstream_st* stream = find_stream(handle);
        if (!stream) return cudaErrorInvalidResourceHandle;
        if (!is_graph(graph) || (count > 0 && !dependencies))
            return cudaErrorInvalidValue;
        return begin(stream, mode, graph, {dependencies, dependencies + count});
    });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
    return api_call([&] {
        const std::lock_guard lock(capture_mutex());
        CUstream_st* stream = find_stream(handle);
        if (!stream) return cudaErrorInvalidResourceHandle;
        // A capture into a graph that the program has needs no place for it.
        const bool own = !stream->capture || stream->capture->owned;
        if (!graph && own) return cudaErrorInvalidValue;
        return end(stream, graph);
    });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle,
                                     cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, size_t* count) {
    return api_call([&] {
        const std::lock_guard lock(capture_mutex());
        const CUstream_st* stream = find_stream(handle);
        if (!stream) return cudaErrorInvalidResourceHandle;
        if (!status) return cudaErrorInvalidValue;
        const Capture* capture = stream->capture.get();
        *status = !capture               ? cudaStreamCaptureStatusNone
                  : capture->invalidated ? cudaStreamCaptureStatusInvalidated
                                         : cudaStreamCaptureStatusActive;
        if (!capture && is_legacy(stream))
            for (const auto& other : captures())
                if (!(other->origin->flags & cudaStreamNonBlocking))
                    return cudaErrorStreamCaptureImplicit;
        if (*status != cudaStreamCaptureStatusActive) return cudaSuccess;
        if (id) *id = capture->id;
        if (graph) *graph = capture->graph;
        if (dependencies) *dependencies = stream->tail.data();
        if (edges) *edges = nullptr;  // every edge is an ordinary one
        if (count) *count = stream->tail.size();
        return cudaSuccess;
    });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                  cudaStreamCaptureStatus* status) {
    return cudaStreamGetCaptureInfo(stream, status);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle,
                                                cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData*, size_t count,
                                                unsigned int flags) {
    return api_call([&] {
        const std::lock_guard lock(capture_mutex());
        CUstream_st* stream = find_stream(handle);
        if (!stream) return cudaErrorInvalidResourceHandle;
        if (!stream->capture || stream->capture->invalidated)
            return cudaErrorIllegalState;
        if (count > 0 && !dependencies) return cudaErrorInvalidValue;
        if (flags == cudaStreamSetCaptureDependencies) stream->tail.clear();
        merge_tail(stream->tail, {dependencies, dependencies + count});
        return cudaSuccess;
    });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    return api_call([&] {
        if (!mode || *mode < cudaStreamCaptureModeGlobal ||
            *mode > cudaStreamCaptureModeRelaxed)
            return cudaErrorInvalidValue;
        std::swap(*mode, t_mode);
        return cudaSuccess;
    });
}
