// streams_and_memory.cu: an array larger than the GPU, taken through it in chunks.
#include "streams_and_memory.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
#include <wb/scratch.h>

#include <vector>

#include "lanes.h"
#include "relax.h"

// #region ring
/// Queues all chunks. Each goes through one of plan.buffers buffers: `in_lane` copies
/// it there, `compute_lane` works on it, `out_lane` copies it back. An event for each
/// buffer and each of the three tells the next one, and in the end the first, that the
/// buffer is theirs.
static void issue_chunks(const float* in,
                         float* out,
                         int64_t n,
                         const ChunkPlan& plan,
                         float* ring,  // [buffers, chunk] device memory
                         cudaStream_t in_lane,
                         cudaStream_t compute_lane,
                         cudaStream_t out_lane) {
    const auto buffers = static_cast<size_t>(plan.buffers);
    std::vector<Event> copied(buffers);    // in: the kernel may read it
    std::vector<Event> computed(buffers);  // the copy out may read it
    std::vector<Event> drained(buffers);   // out: the buffer may be filled again
    for (int64_t c = 0; c < num_chunks(n, plan); ++c) {
        // TODO(learner): chunk_at() says where the chunk lies and which slot of the
        // ring it goes through. copy_in() on in_lane, launch_relax() on compute_lane,
        // copy_out() on out_lane, and what must be recorded and held between them. Who
        // used this slot plan.buffers chunks ago, and is he done? (about 11 lines)
    }
}
// #endregion ring

// #region v4
/// The ring between what `stream` has to do before and what it has to do afterwards,
/// in memory that the stream takes and gives back in its order.
static void process_chunks_v4(const float* in,
                              float* out,
                              int64_t n,
                              const ChunkPlan& plan,
                              cudaStream_t stream) {
    const Lane in_lane, compute_lane, out_lane;
    Event before, done;
    // wb::Scratch is cudaMallocFromPoolAsync here and cudaFreeAsync at the closing
    // brace, both on `stream`.
    const wb::Scratch<float> ring(plan.buffers * plan.chunk, stream);
    // TODO(learner): let the lanes begin when `stream` has come here (about 2 lines)
    issue_chunks(in, out, n, plan, ring.data(), in_lane, compute_lane, out_lane);
    // TODO(learner): let `stream` go on when the lanes are done (about 2 lines)
}
// #endregion v4

// #region contract
void process_chunks(const float* in,
                    float* out,
                    int64_t n,
                    const ChunkPlan& plan,
                    cudaStream_t stream) {
    WB_NOT_SOLVED();  // delete this line when the TODOs are written
    wb::Arguments("process_chunks")
        .size("n", n)
        .positive("plan.chunk", plan.chunk)
        .positive("plan.buffers", plan.buffers)
        .size("plan.rounds", plan.rounds)
        .require(n == 0 || in != nullptr, "in", 0, "must not be null")
        .require(n == 0 || out != nullptr, "out", 0, "must not be null");
    if (n == 0) return;
    process_chunks_v4(in, out, n, plan, stream);
}
// #endregion contract
