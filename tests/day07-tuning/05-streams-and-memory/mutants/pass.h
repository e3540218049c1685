/// pass.h: a right process_chunks() around a loop over the chunks, which each mutant
/// writes, and gets something wrong in.
#pragma once

#include <wb/arguments.h>
#include <wb/check.h>

#include <vector>

#include "lanes.h"
#include "relax.h"
#include "streams_and_memory.h"

/// The events of the ring, one for each buffer.
struct RingEvents {
    explicit RingEvents(int buffers)
        : copied(static_cast<size_t>(buffers)),
          computed(static_cast<size_t>(buffers)),
          drained(static_cast<size_t>(buffers)) {}
    std::vector<Event> copied, computed, drained;
};

/// Refuses what the contract refuses. False if there is nothing to do.
inline bool accept(const float* in, float* out, int64_t n, const ChunkPlan& plan) {
    wb::Arguments("process_chunks")
        .size("n", n)
        .positive("plan.chunk", plan.chunk)
        .positive("plan.buffers", plan.buffers)
        .size("plan.rounds", plan.rounds)
        .require(n == 0 || in != nullptr, "in", 0, "must not be null")
        .require(n == 0 || out != nullptr, "out", 0, "must not be null");
    return n > 0;
}

/// The ring's memory, on the stream. Freed by cudaFreeAsync().
inline float* allocate_ring(const ChunkPlan& plan, cudaStream_t stream) {
    float* ring = nullptr;
    const auto floats = static_cast<size_t>(plan.buffers * plan.chunk);
    CUDA_CHECK(cudaMallocAsync(&ring, floats * sizeof(float), stream));
    return ring;
}
