#pragma once
// A capture in progress: which streams take part and which graph grows.

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "graph.h"
#include "stream.h"

namespace simt::detail {

struct Capture {
    unsigned long long id = 0;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    std::thread::id owner;
    CUstream_st* origin = nullptr;
    std::unique_ptr<CUgraph_st> owned;  // null when the program gave the graph
    CUgraph_st* graph = nullptr;
    bool invalidated = false;
    std::vector<CUstream_st*> members;
};

/// Guards all captures and the capture state of streams and events.
std::recursive_mutex& capture_mutex();

/// Lets `stream` take part in `capture`, after the nodes of `tail`.
void join_capture(const std::shared_ptr<Capture>& capture, CUstream_st* stream,
                  const std::vector<cudaGraphNode_t>& tail);

/// Breaks a capture: the call `call` cannot be captured.
cudaError_t invalidate(Capture& capture, cudaError_t error);

/// A stream or event that is destroyed while it takes part leaves its capture.
void leave_capture(CUstream_st* stream);

/// Ends all captures; their graphs are lost (cudaDeviceReset).
void abandon_captures();

/// The refusal of calls that wait for the whole device.
cudaError_t refuse_device_wait();

/// Adds to `tail` the nodes that it lacks.
void merge_tail(std::vector<cudaGraphNode_t>& tail,
                const std::vector<cudaGraphNode_t>& more);

}  // namespace simt::detail
