// The right process_chunks that the .diff files edit.
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

void process_chunks(const float* in,
                    float* out,
                    int64_t n,
                    const ChunkPlan& plan,
                    cudaStream_t stream) {
    if (!accept(in, out, n, plan)) return;
    const Lane in_lane, compute_lane, out_lane;
    Event before, done;
    float* ring = allocate_ring(plan, stream);
    before.record(stream);
    before.hold(in_lane);
    RingEvents events(plan.buffers);
    for (int64_t c = 0; c < num_chunks(n, plan); ++c) {
        const auto [first, count, slot] = chunk_at(c, n, plan);
        float* buffer = ring + slot * plan.chunk;
        events.drained[slot].hold(in_lane);
        copy_in(buffer, in + first, count, in_lane);
        events.copied[slot].record(in_lane);
        events.copied[slot].hold(compute_lane);
        launch_relax(buffer, count, plan.rounds, compute_lane);
        events.computed[slot].record(compute_lane);
        events.computed[slot].hold(out_lane);
        copy_out(out + first, buffer, count, out_lane);
        events.drained[slot].record(out_lane);
    }
    done.record(out_lane);
    done.hold(stream);
    CUDA_CHECK(cudaFreeAsync(ring, stream));
}
