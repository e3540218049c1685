// Mutant: right, but all of it in one stream
// Rejected by: copies and kernels overlap
#include "../pass.h"

void process_chunks(const float* in,
                    float* out,
                    int64_t n,
                    const ChunkPlan& plan,
                    cudaStream_t stream) {
    if (!accept(in, out, n, plan)) return;
    float* ring = allocate_ring(plan, stream);
    for (int64_t c = 0; c < num_chunks(n, plan); ++c) {
        const auto [first, count, slot] = chunk_at(c, n, plan);
        float* buffer = ring + slot * plan.chunk;
        copy_in(buffer, in + first, count, stream);
        launch_relax(buffer, count, plan.rounds, stream);
        copy_out(out + first, buffer, count, stream);
    }
    CUDA_CHECK(cudaFreeAsync(ring, stream));
}
