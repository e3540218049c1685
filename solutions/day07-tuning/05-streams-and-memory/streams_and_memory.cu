// streams_and_memory.cu: an array larger than the GPU, taken through it in chunks.
// #solution
//
// <Ladder of="process_chunks" at="n = 64 Mi, 2000 rounds">
//       GB/s  idea                             what limits it
//   v1  34.4  copied in, computed, copied out  one engine works at a time
//   v2  82.3  chunks on several streams        a stream's chunks wait for each other
//   v3  85.8  a ring of buffers, events        cudaFree waits for the whole GPU
//   v4  82.5  memory from a pool               the slower of the two copies
// </Ladder> NVIDIA H100 80GB HBM3, CUDA 13.0, 2026-11-21
// #end
#include "streams_and_memory.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/scratch.h>

#include <vector>

#include "lanes.h"
#include "relax.h"
// #solution

/// Device memory that is freed, after everything on the GPU is done, with its owner.
class DeviceMemory {
 public:
    explicit DeviceMemory(int64_t floats) {
        CUDA_CHECK(cudaMalloc(&data_, static_cast<size_t>(floats) * sizeof(float)));
    }
    ~DeviceMemory() { (void)cudaFree(data_); }
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;
    float* data() const { return data_; }

 private:
    float* data_ = nullptr;
};

// #region v1
/// process_chunks_v1: one copy in, one kernel, one copy out.
static void process_chunks_v1(const float* in,
                              float* out,
                              int64_t n,
                              const ChunkPlan& plan,
                              cudaStream_t stream) {
    const DeviceMemory x(n);  // all of it: the array must fit into the GPU
    copy_in(x.data(), in, n, stream);
    launch_relax(x.data(), n, plan.rounds, stream);
    copy_out(out, x.data(), n, stream);
}
// #endregion v1
WB_RUNG(process_chunks, process_chunks_v1, "one after the other");

// #region v2
/// process_chunks_v2: a stream for each buffer. A stream keeps its own order, so that
/// no event is needed between copy and kernel, nor before a buffer is used again.
static void process_chunks_v2(const float* in,
                              float* out,
                              int64_t n,
                              const ChunkPlan& plan,
                              cudaStream_t stream) {
    const DeviceMemory buffers(plan.buffers * plan.chunk);
    const std::vector<Lane> lanes(static_cast<size_t>(plan.buffers));
    Event before;
    before.record(stream);
    for (const Lane& lane : lanes)
        before.hold(lane);
    for (int64_t c = 0; c < num_chunks(n, plan); ++c) {
        const auto [first, count, slot] = chunk_at(c, n, plan);
        const Lane& lane = lanes[static_cast<size_t>(slot)];
        float* buffer = buffers.data() + slot * plan.chunk;
        copy_in(buffer, in + first, count, lane);
        launch_relax(buffer, count, plan.rounds, lane);
        copy_out(out + first, buffer, count, lane);
    }
    for (const Lane& lane : lanes) {
        Event done;
        done.record(lane);
        done.hold(stream);
    }
}
// #endregion v2
WB_RUNG(process_chunks, process_chunks_v2, "chunks on streams");
// #end

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
        // #solution
        const auto [first, count, slot] = chunk_at(c, n, plan);
        float* buffer = ring + slot * plan.chunk;
        drained[slot].hold(in_lane);  // of no effect for the first chunks
        copy_in(buffer, in + first, count, in_lane);
        copied[slot].record(in_lane);

        copied[slot].hold(compute_lane);
        launch_relax(buffer, count, plan.rounds, compute_lane);
        computed[slot].record(compute_lane);

        computed[slot].hold(out_lane);
        copy_out(out + first, buffer, count, out_lane);
        drained[slot].record(out_lane);
        // #end
    }
}
// #endregion ring

// #solution
// #region v3
/// process_chunks_v3: the ring in memory of its own.
static void process_chunks_v3(const float* in,
                              float* out,
                              int64_t n,
                              const ChunkPlan& plan,
                              cudaStream_t stream) {
    const DeviceMemory ring(plan.buffers * plan.chunk);
    const Lane in_lane, compute_lane, out_lane;
    Event before, done;
    before.record(stream);
    before.hold(in_lane);  // the others wait for it anyway
    issue_chunks(in, out, n, plan, ring.data(), in_lane, compute_lane, out_lane);
    done.record(out_lane);  // the last copy out comes after everything
    done.hold(stream);
}
// #endregion v3
WB_RUNG(process_chunks, process_chunks_v3, "a ring of buffers, events");
// #end

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
    // #solution
    before.record(stream);  // after the allocation, which the lanes must not overtake
    before.hold(in_lane);   // the others wait for this one
    // #end
    issue_chunks(in, out, n, plan, ring.data(), in_lane, compute_lane, out_lane);
    // TODO(learner): let `stream` go on when the lanes are done (about 2 lines)
    // #solution
    done.record(out_lane);
    done.hold(stream);  // before the ring is freed
    // #end
}
// #endregion v4
// #solution
WB_RUNG(process_chunks, process_chunks_v4, "memory from a pool");
// #end

// #region contract
void process_chunks(const float* in,
                    float* out,
                    int64_t n,
                    const ChunkPlan& plan,
                    cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
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
