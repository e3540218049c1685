// Mutant: every chunk is written to the beginning of the result
// Rejected by: many chunks, the last of which need not be full
#include "pass.h"

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
    for (int64_t c = 0; c * plan.chunk < n; ++c) {
        const auto [first, count, slot] = chunk_at(c, n, plan);
        float* buffer = ring + slot * plan.chunk;
        events.drained[slot].hold(in_lane);
        copy_in(buffer, in + first, count, in_lane);
        events.copied[slot].record(in_lane);
        events.copied[slot].hold(compute_lane);
        launch_relax(buffer, count, plan.rounds, compute_lane);
        events.computed[slot].record(compute_lane);
        events.computed[slot].hold(out_lane);
        copy_out(out, buffer, count, out_lane);
        events.drained[slot].record(out_lane);
    }
    done.record(out_lane);
    done.hold(stream);
    CUDA_CHECK(cudaFreeAsync(ring, stream));
}
