/// lanes.h: streams, events and chunks, so that the exercise is not about clearing up.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/launch.h>

#include <algorithm>
#include <cstdint>

#include "streams_and_memory.h"

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

    /// What `stream` is given from now on waits for the moment that was recorded last;
    /// for nothing if there was none. The host does not wait.
    void hold(cudaStream_t stream) const {
        CUDA_CHECK(cudaStreamWaitEvent(stream, event_));
    }

 private:
    cudaEvent_t event_ = nullptr;
};

/// Part of the array.
struct Chunk {
    int64_t first;  ///< its first element
    int64_t count;  ///< > 0
    int slot;       ///< which buffer it goes through
};

/// How many chunks n elements are.
inline int64_t num_chunks(int64_t n, const ChunkPlan& plan) {
    return wb::ceil_div(n, plan.chunk);
}

/// Chunk number c.
inline Chunk chunk_at(int64_t c, int64_t n, const ChunkPlan& plan) {
    const int64_t first = c * plan.chunk;
    return {first,
            std::min(plan.chunk, n - first),
            static_cast<int>(c % int64_t{plan.buffers})};
}

/// Queues the copy of some floats of the host to the GPU.
inline void copy_in(float* device, const float* host, int64_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemcpyAsync(device,
                               host,
                               static_cast<size_t>(n) * sizeof(float),
                               cudaMemcpyHostToDevice,
                               stream));
}

/// Queues the copy of some floats of the GPU to the host.
inline void copy_out(float* host, const float* device, int64_t n, cudaStream_t stream) {
    CUDA_CHECK(cudaMemcpyAsync(host,
                               device,
                               static_cast<size_t>(n) * sizeof(float),
                               cudaMemcpyDeviceToHost,
                               stream));
}
