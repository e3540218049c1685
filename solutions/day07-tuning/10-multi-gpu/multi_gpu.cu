// multi_gpu.cu: one block of a transformer on several GPUs.
// #solution
//
// <Ladder of="multi_gpu" at="N = 16384, 2 GPUs">
//       TFLOP/s  idea                               what limits it
//   v1     13.7  blocking: one stream               the GPU waits for each all-reduce
//   v2     13.6  chunks, summed on a second stream  rank 0 alone adds the residual
//   v3     13.2  reduce-scatter, add, all-gather    latency, where there are few tokens
//   v4        -  one shot through peer memory       all sent to all: few tokens
// </Ladder> NVIDIA H200, CUDA 13.0, 2026-11-29
// #end
#include "multi_gpu.h"

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/check_nccl.h>
#include <wb/exercise.h>
// #solution
#include <wb/ladder.h>
// #end
#include <wb/launch.h>

#include <algorithm>
#include <vector>

#include "block_parts.h"
#include "flags.h"
#include "lanes.h"
#include "meet.h"
// #solution

/// x[i] = sum over ranks of x[i], by NCCL.
static void all_reduce(const Rank& rank, float* x, int64_t n, cudaStream_t stream) {
    if (rank.ranks == 1) return;
    const auto count = static_cast<size_t>(n);
    NCCL_CHECK(ncclAllReduce(x, x, count, ncclFloat, ncclSum, rank.comm, stream));
}

// #region v1
/// multi_gpu_v1: everything in one stream, so that the GPU waits for each all-reduce.
static void multi_gpu_v1(const BlockShape& shape,
                         const Rank& rank,
                         const float* x,
                         float* y,
                         cudaStream_t stream) {
    const int64_t N = shape.tokens;
    const int64_t W = shape.width();
    const Share share(shape, rank, stream);
    // The residual is a summand as well, of one rank alone.
    const bool adds = rank.rank == 0;
    share.attend(x, stream);
    share.project(0, N, adds ? x : nullptr, stream);
    all_reduce(rank, share.h(), N * W, stream);
    share.feed_forward(0, N, adds ? share.h() : nullptr, y, stream);
    all_reduce(rank, y, N * W, stream);
}
// #endregion v1
WB_RUNG(multi_gpu, multi_gpu_v1, "blocking: one stream");

// #region v2
/// multi_gpu_v2: the tokens go through the products in chunks. While a chunk is summed
/// over the ranks on a second stream, the next one is multiplied.
static void multi_gpu_v2(const BlockShape& shape,
                         const Rank& rank,
                         const float* x,
                         float* y,
                         cudaStream_t stream) {
    constexpr int64_t kChunks = 4;
    const int64_t N = shape.tokens;
    const int64_t W = shape.width();
    const int64_t chunk = wb::ceil_div(N, kChunks);
    const Share share(shape, rank, stream);
    const Lane lane;
    Event multiplied;
    std::vector<Event> summed(static_cast<size_t>(wb::ceil_div(N, chunk)));
    const bool adds = rank.rank == 0;
    share.attend(x, stream);
    for (int64_t first = 0; first < N; first += chunk) {
        const int64_t count = std::min(chunk, N - first);
        share.project(first, count, adds ? x : nullptr, stream);
        multiplied.record(stream);
        multiplied.hold(lane);
        all_reduce(rank, share.h() + first * W, count * W, lane);
        summed[static_cast<size_t>(first / chunk)].record(lane);
    }
    for (int64_t first = 0; first < N; first += chunk) {
        const int64_t count = std::min(chunk, N - first);
        summed[static_cast<size_t>(first / chunk)].hold(stream);
        share.feed_forward(first, count, adds ? share.h() : nullptr, y, stream);
        multiplied.record(stream);
        multiplied.hold(lane);
        all_reduce(rank, y + first * W, count * W, lane);
    }
    Event done;
    done.record(lane);
    done.hold(stream);
}
// #endregion v2
WB_RUNG(multi_gpu, multi_gpu_v2, "chunks, summed on a second stream");
// #end

// #region sum-and-add
/// sum[i] = residual[i] + sum over ranks of sum[i], for i < n. Each rank has the whole
/// sum of one part of n / ranks elements first, adds the residual there, and then all
/// have all parts.
///
/// @param sum       [n] device memory
/// @param residual  [n] the same on all ranks
/// @param n         a multiple of rank.ranks
[[maybe_unused]] static void sum_and_add(const Rank& rank,
                                         float* sum,
                                         const float* residual,
                                         int64_t n,
                                         cudaStream_t stream) {
    const int64_t part = n / rank.ranks;
    [[maybe_unused]] float* const own = sum + rank.rank * part;
    // TODO(learner): ncclReduceScatter, launch_add, ncclAllGather, in place: what is
    // the rank's own begins at `own`. Counts are of elements, for one rank's part. With
    // one rank, only the residual is added. (about 8 lines)
    // #solution
    const auto count = static_cast<size_t>(part);
    if (rank.ranks > 1)
        NCCL_CHECK(
            ncclReduceScatter(sum, own, count, ncclFloat, ncclSum, rank.comm, stream));
    launch_add(own, residual + rank.rank * part, part, stream);
    if (rank.ranks > 1)
        NCCL_CHECK(ncclAllGather(own, sum, count, ncclFloat, rank.comm, stream));
    // #end
}
// #endregion sum-and-add

// #region v3
/// The tokens go through the products in chunks: while one is summed over the ranks on
/// a second stream, the next one is multiplied.
static void multi_gpu_v3(const BlockShape& shape,
                         const Rank& rank,
                         const float* x,
                         float* y,
                         cudaStream_t stream) {
    constexpr int64_t kChunks = 4;
    const int64_t N = shape.tokens;
    [[maybe_unused]] const int64_t W = shape.width();
    const int64_t chunk = wb::ceil_div(N, kChunks);
    const Share share(shape, rank, stream);
    const Lane lane;
    Event multiplied;
    std::vector<Event> summed(static_cast<size_t>(wb::ceil_div(N, chunk)));
    share.attend(x, stream);
    for (int64_t first = 0; first < N; first += chunk) {
        const int64_t count = std::min(chunk, N - first);
        share.project(first, count, nullptr, stream);
        // TODO(learner): on `lane`, h of these tokens is summed, and x added, when the
        // product is done; summed[] says when that is done (about 4 lines)
        // #solution
        multiplied.record(stream);
        multiplied.hold(lane);
        sum_and_add(rank, share.h() + first * W, x + first * W, count * W, lane);
        summed[static_cast<size_t>(first / chunk)].record(lane);
        // #end
    }
    for (int64_t first = 0; first < N; first += chunk) {
        // TODO(learner): the MLP of these tokens, with nothing added, when their h is
        // complete; then y is summed on `lane`, and h added (about 6 lines)
        // #solution
        const int64_t count = std::min(chunk, N - first);
        summed[static_cast<size_t>(first / chunk)].hold(stream);
        share.feed_forward(first, count, nullptr, y, stream);
        multiplied.record(stream);
        multiplied.hold(lane);
        sum_and_add(rank, y + first * W, share.h() + first * W, count * W, lane);
        // #end
    }
    // TODO(learner): `stream` goes on when the lane is done (about 3 lines)
    // #solution
    Event done;
    done.record(lane);
    done.hold(stream);
    // #end
}
// #endregion v3
// #solution
WB_RUNG(multi_gpu, multi_gpu_v3, "reduce-scatter, add, all-gather");
// #end

// #region push
/// Each block sends one piece of x to all other ranks, and then says so.
///
/// Launch   grid ceil_div(n, kPiece), block 256
static __global__ void push_kernel(const Inboxes inboxes,
                                   const float* x,  // [n]
                                   int64_t n,
                                   int rank,
                                   int ranks,
                                   unsigned call) {
    // TODO(learner): the block's piece of x, at most kPiece elements, goes into the
    // inbox() of every other rank, at the same indices. When the whole block has
    // written, one thread for each peer sets flag_of(…, blockIdx.x) to `call` (about 12
    // lines)
    // #solution
    const int64_t first = int64_t{blockIdx.x} * kPiece;
    const int64_t end = first + kPiece < n ? first + kPiece : n;
    for (int peer = 0; peer < ranks; ++peer) {
        if (peer == rank) continue;
        float* const to = inbox(inboxes, peer, rank, ranks, call);
        for (int64_t i = first + threadIdx.x; i < end; i += blockDim.x)
            to[i] = x[i];
    }
    __syncthreads();
    const int peer = static_cast<int>(threadIdx.x);
    if (peer < ranks && peer != rank)
        set_flag(flag_of(inboxes, peer, rank, ranks, call, blockIdx.x), call);
    // #end
}
// #endregion push

// #region sum
/// Each block adds one piece of all ranks' x, in their order, when it has come.
///
/// Launch   grid ceil_div(n, kPiece), block 256
static __global__ void sum_kernel(const Inboxes inboxes,
                                  float* x,  // [n]
                                  int64_t n,
                                  int rank,
                                  int ranks,
                                  unsigned call) {
    const int64_t first = int64_t{blockIdx.x} * kPiece;
    const int64_t end = first + kPiece < n ? first + kPiece : n;
    bool came = true;
    // TODO(learner): one thread for each peer waits for the flag of this piece in the
    // rank's own inbox: `came` is false if it has not come (about 3 lines)
    // #solution
    const int peer = static_cast<int>(threadIdx.x);
    if (peer < ranks && peer != rank)
        came =
            wait_for_flag(flag_of(inboxes, rank, peer, ranks, call, blockIdx.x), call);
    // #end
    if (!came) *inboxes.lost = 1 + static_cast<int>(threadIdx.x);
    const bool complete = __syncthreads_and(came);
    for (int64_t i = first + threadIdx.x; i < end; i += blockDim.x) {
        if (!complete) {
            x[i] = NAN;
            continue;
        }
        float sum = 0.0f;
        // TODO(learner): add x[i] of all ranks, from 0 upwards (about 3 lines)
        // #solution
        for (int from = 0; from < ranks; ++from)
            sum += from == rank ? x[i] : inbox(inboxes, rank, from, ranks, call)[i];
        // #end
        x[i] = sum;
    }
}
// #endregion sum

// #region one-shot
void one_shot_all_reduce(const Rank& rank, float* x, int64_t n, cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    constexpr int kThreads = 256;
    const wb::Arguments arguments("one_shot_all_reduce");
    arguments.size("n", n)
        .require(rank.ranks > 0 && rank.ranks <= kMaxRanks,
                 "ranks",
                 rank.ranks,
                 "1 to kMaxRanks")
        .require(rank.rank >= 0 && rank.rank < rank.ranks,
                 "rank",
                 rank.rank,
                 "one of the ranks");
    if (n == 0) return;
    arguments.device("x", x, n);
    if (rank.ranks == 1) return;
    arguments
        .require(rank.inboxes != nullptr,
                 "inboxes",
                 0,
                 "memory that all ranks can access: there are several")
        .require(n <= rank.inboxes->capacity, "n", n, "at most inboxes->capacity");
    const unsigned blocks = wb::grid_size(n, kPiece);
    const unsigned call = ++rank.inboxes->calls;
    push_kernel<<<blocks, kThreads, 0, stream>>>(
        *rank.inboxes, x, n, rank.rank, rank.ranks, call);
    CUDA_CHECK_LAUNCH();
    meet(rank, stream);
    sum_kernel<<<blocks, kThreads, 0, stream>>>(
        *rank.inboxes, x, n, rank.rank, rank.ranks, call);
    CUDA_CHECK_LAUNCH();
}
// #endregion one-shot

// #region v4
/// What is taken where a sum does not fit into the inboxes.
static constexpr auto* many_tokens = multi_gpu_v3;

/// For the few tokens of a decoder's step: one stream, and sums through peer memory.
static void multi_gpu_v4(const BlockShape& shape,
                         const Rank& rank,
                         const float* x,
                         float* y,
                         cudaStream_t stream) {
    const int64_t n = shape.tokens * shape.width();
    if (!rank.inboxes || n > rank.inboxes->capacity)
        return many_tokens(shape, rank, x, y, stream);
    const Share share(shape, rank, stream);
    // TODO(learner): the whole block on `stream`, with one_shot_all_reduce(). The
    // residual is a summand as well: of how many ranks? (about 6 lines)
    // #solution
    const int64_t N = shape.tokens;
    const bool adds = rank.rank == 0;
    share.attend(x, stream);
    share.project(0, N, adds ? x : nullptr, stream);
    one_shot_all_reduce(rank, share.h(), n, stream);
    share.feed_forward(0, N, adds ? share.h() : nullptr, y, stream);
    one_shot_all_reduce(rank, y, n, stream);
    // #end
}
// #endregion v4
// #solution
WB_RUNG(multi_gpu, multi_gpu_v4, "one shot through peer memory");
// #end

// #region contract
void multi_gpu(const BlockShape& shape,
               const Rank& rank,
               const float* x,
               float* y,
               cudaStream_t stream) {
    // #starter WB_NOT_SOLVED();  // delete this line when the TODOs are written
    const wb::Arguments arguments("multi_gpu");
    arguments.size("tokens", shape.tokens)
        .positive("heads", shape.heads)
        .positive("head_dim", shape.head_dim)
        .positive("hidden", shape.hidden)
        .require(shape.head_dim <= kMaxHeadDim,
                 "head_dim",
                 shape.head_dim,
                 "at most kMaxHeadDim")
        .require(rank.ranks > 0 && rank.ranks <= kMaxRanks,
                 "ranks",
                 rank.ranks,
                 "1 to kMaxRanks")
        .require(rank.rank >= 0 && rank.rank < rank.ranks,
                 "rank",
                 rank.rank,
                 "one of the ranks")
        .require(shape.heads % rank.ranks == 0,
                 "heads",
                 shape.heads,
                 "a multiple of the number of ranks")
        .require(shape.hidden % rank.ranks == 0,
                 "hidden",
                 shape.hidden,
                 "a multiple of the number of ranks")
        .require(rank.ranks == 1 || rank.comm,
                 "comm",
                 0,
                 "a communicator: there are several ranks");
    if (shape.tokens == 0) return;
    const int64_t W = shape.width();
    const int64_t n = arguments.product("N * H * D", {shape.tokens, W});
    arguments.device("x", x, n)
        .device("y", y, n)
        .device("w_qkv", rank.w_qkv, W * 3 * (W / rank.ranks))
        .device("w_out", rank.w_out, W / rank.ranks * W)
        .device("w_up", rank.w_up, W * (shape.hidden / rank.ranks))
        .device("w_down", rank.w_down, shape.hidden / rank.ranks * W);
    const int64_t bytes = n * int64_t{sizeof(float)};
    arguments.apart("y - x", x, bytes, y, bytes);
    multi_gpu_v4(shape, rank, x, y, stream);
}
// #endregion contract
