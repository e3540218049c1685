// The right multi_gpu that the .diff files edit.
#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/check_nccl.h>
#include <wb/launch.h>

#include <algorithm>
#include <vector>

#include "block_parts.h"
#include "flags.h"
#include "lanes.h"
#include "meet.h"
#include "multi_gpu.h"

__global__ void push(const Inboxes inboxes,
                     const float* x,
                     int64_t n,
                     int rank,
                     int ranks,
                     unsigned call) {
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
}

__global__ void add_up(
    const Inboxes inboxes, float* x, int64_t n, int rank, int ranks, unsigned call) {
    const int64_t first = int64_t{blockIdx.x} * kPiece;
    const int64_t end = first + kPiece < n ? first + kPiece : n;
    bool came = true;
    const int peer = static_cast<int>(threadIdx.x);
    if (peer < ranks && peer != rank) {
        unsigned* const flag = flag_of(inboxes, rank, peer, ranks, call, blockIdx.x);
        came = wait_for_flag(flag, call);
    }
    if (!came) *inboxes.lost = 1 + peer;
    const bool complete = __syncthreads_and(came);
    for (int64_t i = first + threadIdx.x; i < end; i += blockDim.x) {
        float sum = 0.0f;
        for (int from = 0; from < ranks; ++from)
            sum += from == rank ? x[i] : inbox(inboxes, rank, from, ranks, call)[i];
        x[i] = complete ? sum : NAN;
    }
}

void one_shot_all_reduce(const Rank& rank, float* x, int64_t n, cudaStream_t stream) {
    const wb::Arguments arguments("one_shot_all_reduce");
    const bool many = rank.ranks > 0 && rank.ranks <= kMaxRanks;
    const bool is_one = rank.rank >= 0 && rank.rank < rank.ranks;
    arguments.size("n", n)
        .require(many, "ranks", rank.ranks, "1 to kMaxRanks")
        .require(is_one, "rank", rank.rank, "one of the ranks");
    if (n == 0) return;
    arguments.device("x", x, n);
    if (rank.ranks == 1) return;
    arguments.require(rank.inboxes, "inboxes", 0, "there")
        .require(n <= rank.inboxes->capacity, "n", n, "at most the capacity");
    const unsigned blocks = wb::grid_size(n, kPiece);
    const unsigned call = ++rank.inboxes->calls;
    push<<<blocks, 256, 0, stream>>>(*rank.inboxes, x, n, rank.rank, rank.ranks, call);
    CUDA_CHECK_LAUNCH();
    meet(rank, stream);
    add_up<<<blocks, 256, 0, stream>>>(
        *rank.inboxes, x, n, rank.rank, rank.ranks, call);
    CUDA_CHECK_LAUNCH();
}

/// x[i] = sum over ranks of x[i], by NCCL.
void all_reduce(const Rank& rank, float* x, int64_t n, cudaStream_t stream) {
    if (rank.ranks == 1) return;
    const auto count = static_cast<size_t>(n);
    NCCL_CHECK(ncclAllReduce(x, x, count, ncclFloat, ncclSum, rank.comm, stream));
}

/// Refuses what the contract refuses. False if there is nothing to do.
bool accept(const BlockShape& shape, const Rank& rank, const float* x, float* y) {
    const wb::Arguments arguments("multi_gpu");
    const int ranks = rank.ranks;
    const bool is_one = rank.rank >= 0 && rank.rank < ranks;
    arguments.size("tokens", shape.tokens)
        .positive("heads", shape.heads)
        .positive("head_dim", shape.head_dim)
        .positive("hidden", shape.hidden)
        .require(shape.head_dim <= kMaxHeadDim, "head_dim", shape.head_dim, "less")
        .require(ranks > 0 && ranks <= kMaxRanks, "ranks", ranks, "1 to kMaxRanks")
        .require(is_one, "rank", rank.rank, "one of the ranks")
        .require(shape.heads % ranks == 0, "heads", shape.heads, "a multiple")
        .require(shape.hidden % ranks == 0, "hidden", shape.hidden, "a multiple")
        .require(ranks == 1 || rank.comm, "comm", 0, "there");
    if (shape.tokens == 0) return false;
    const int64_t W = shape.width();
    const int64_t n = shape.tokens * W;
    arguments.device("x", x, n)
        .device("y", y, n)
        .device("w_qkv", rank.w_qkv, W * 3 * W / ranks)
        .device("w_out", rank.w_out, W * W / ranks)
        .device("w_up", rank.w_up, W * shape.hidden / ranks)
        .device("w_down", rank.w_down, W * shape.hidden / ranks)
        .apart("y - x", x, n * 4, y, n * 4);
    return true;
}

void multi_gpu(const BlockShape& shape,
               const Rank& rank,
               const float* x,
               float* y,
               cudaStream_t stream) {
    if (!accept(shape, rank, x, y)) return;
    const int64_t N = shape.tokens;
    const int64_t W = shape.width();
    const Share share(shape, rank, stream);
    const bool adds = rank.rank == 0;
    share.attend(x, stream);
    if (rank.inboxes && N * W <= rank.inboxes->capacity) {
        share.project(0, N, adds ? x : nullptr, stream);
        one_shot_all_reduce(rank, share.h(), N * W, stream);
        share.feed_forward(0, N, adds ? share.h() : nullptr, y, stream);
        one_shot_all_reduce(rank, y, N * W, stream);
        return;
    }
    const int64_t chunk = wb::ceil_div(N, int64_t{3});
    const Lane lane;
    Event multiplied, done;
    std::vector<Event> summed(static_cast<size_t>(N));
    for (int64_t first = 0; first < N; first += chunk) {
        const int64_t count = std::min(chunk, N - first);
        share.project(first, count, adds ? x : nullptr, stream);
        multiplied.record(stream);
        multiplied.hold(lane);
        all_reduce(rank, share.h() + first * W, count * W, lane);
        summed[static_cast<size_t>(first)].record(lane);
    }
    for (int64_t first = 0; first < N; first += chunk) {
        const int64_t count = std::min(chunk, N - first);
        summed[static_cast<size_t>(first)].hold(stream);
        share.feed_forward(first, count, adds ? share.h() : nullptr, y, stream);
        multiplied.record(stream);
        multiplied.hold(lane);
        all_reduce(rank, y + first * W, count * W, lane);
    }
    done.record(lane);
    done.hold(stream);
}
