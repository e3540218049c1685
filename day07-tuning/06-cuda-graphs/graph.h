/// graph.h: owners of what CUDA's graph functions give, so that the exercise is not
/// about clearing up.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>

/// A stream that does not wait for the default stream.
class Lane {
 public:
    Lane() { CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    ~Lane() { (void)cudaStreamDestroy(stream_); }
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;
    operator cudaStream_t() const { return stream_; }

 private:
    cudaStream_t stream_ = nullptr;
};

/// A moment in a stream; between captured streams, an edge of the graph.
class Event {
 public:
    Event() { CUDA_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
    ~Event() { (void)cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    /// From now on the event stands for all that `stream` has been given so far.
    void record(cudaStream_t stream) { CUDA_CHECK(cudaEventRecord(event_, stream)); }

    /// What `stream` is given from now on waits for the moment that was recorded last.
    void hold(cudaStream_t stream) const {
        CUDA_CHECK(cudaStreamWaitEvent(stream, event_));
    }

 private:
    cudaEvent_t event_ = nullptr;
};

/// A graph: what is to be done, and in which order. Null until `put()` is given to
/// cudaStreamEndCapture().
class Graph {
 public:
    Graph() = default;
    ~Graph() {
        if (graph_ != nullptr) (void)cudaGraphDestroy(graph_);
    }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    Graph(Graph&& other) noexcept : graph_(other.graph_) { other.graph_ = nullptr; }
    cudaGraph_t* put() { return &graph_; }
    cudaGraph_t get() const { return graph_; }

 private:
    cudaGraph_t graph_ = nullptr;
};

/// A graph that is ready to launch: cudaGraphInstantiate(executable.put(), graph, 0).
class Executable {
 public:
    Executable() = default;
    ~Executable() {
        if (executable_ != nullptr) (void)cudaGraphExecDestroy(executable_);
    }
    Executable(const Executable&) = delete;
    Executable& operator=(const Executable&) = delete;
    cudaGraphExec_t* put() { return &executable_; }
    cudaGraphExec_t get() const { return executable_; }

 private:
    cudaGraphExec_t executable_ = nullptr;
};

/// The node that the stream's capture has recorded last.
inline cudaGraphNode_t last_node(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t* nodes = nullptr;
    size_t count = 0;
#if CUDART_VERSION >= 13000
    CUDA_CHECK(cudaStreamGetCaptureInfo(
        stream, &status, nullptr, nullptr, &nodes, nullptr, &count));
#else
    CUDA_CHECK(
        cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, nullptr, &nodes, &count));
#endif
    return count > 0 ? nodes[0] : nullptr;
}

/// Updates the arguments of the executable's copy of an old graph from a new one of the
/// same shape; throws if the shape differs.
inline void update(const Executable& executable, const Graph& graph) {
#if CUDART_VERSION >= 12000
    cudaGraphExecUpdateResultInfo info{};
    CUDA_CHECK(cudaGraphExecUpdate(executable.get(), graph.get(), &info));
#else
    cudaGraphNode_t node = nullptr;
    cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
    CUDA_CHECK(cudaGraphExecUpdate(executable.get(), graph.get(), &node, &result));
#endif
}
