/// lanes.h: streams and events that clear up after themselves (chapter 5). Given.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>

/// A stream that does not wait for the default stream. It may be destroyed while it has
/// work: CUDA finishes that work first, and nobody waits.
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

/// A moment in a stream. It may be destroyed while streams still wait for it.
class Event {
 public:
    Event() { CUDA_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
    ~Event() { (void)cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    /// From now on the event stands for all that `stream` has been given so far.
    void record(cudaStream_t stream) { CUDA_CHECK(cudaEventRecord(event_, stream)); }

    /// What `stream` is given from now on waits for the moment that was recorded last.
    /// The host does not wait.
    void hold(cudaStream_t stream) const {
        CUDA_CHECK(cudaStreamWaitEvent(stream, event_));
    }

 private:
    cudaEvent_t event_ = nullptr;
};
