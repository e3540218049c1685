/// multi_gpu.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdint>

constexpr int kMaxRanks = 8;      ///< of one process
constexpr int kMaxHeadDim = 128;  ///< that the given attention has room for
constexpr int kPiece = 1024;      ///< floats that one block sends, under one flag

/// Sizes of one block of a transformer, all of it, not a rank's share.
struct BlockShape {
    int64_t tokens = 1;    ///< N, positions of one sequence; each sees those before it
    int64_t heads = 1;     ///< H; a multiple of the number of ranks
    int64_t head_dim = 1;  ///< D, <= kMaxHeadDim
    int64_t hidden = 1;    ///< F, of the MLP; a multiple of the number of ranks

    /// Elements of one token: H * D.
    int64_t width() const { return heads * head_dim; }
};

/// Memory on each GPU in which the others leave what they have to say. Each rank has a
/// copy of this; peers.h makes them.
struct Inboxes {
    float* data[kMaxRanks] = {};      ///< of rank r, there: [2, ranks, capacity]
    unsigned* flags[kMaxRanks] = {};  ///< of rank r, there: [2, ranks, pieces]
    int64_t capacity = 0;             ///< floats of one message; a multiple of kPiece
    int* lost = nullptr;              ///< of the host: 1 + a rank that has not answered
    unsigned calls = 0;               ///< of one_shot_all_reduce() by this rank so far
};

/// One of the `ranks` GPUs, and its share of the weights, in its own memory, row-major.
/// Rank r has the heads r * H / ranks and following, and as much of the MLP.
struct Rank {
    int rank = 0;
    int ranks = 1;
    ncclComm_t comm = nullptr;      ///< of all ranks; may be null if there is one
    Inboxes* inboxes = nullptr;     ///< null: no GPU sees another's memory
    const float* w_qkv = nullptr;   ///< [H D, 3, H / ranks, D] columns of its heads
    const float* w_out = nullptr;   ///< [H / ranks * D, H D] rows of its heads
    const float* w_up = nullptr;    ///< [H D, F / ranks] columns
    const float* w_down = nullptr;  ///< [F / ranks, H D] rows
};

/// One block of a transformer, attention and MLP with a residual each, computed by all
/// ranks together: each calls it with the same `x`, and has the same `y` in the end,
/// bit for bit.
///
///     q, k, v = x w_qkv                          a head has D columns of each
///     o_i     = sum over j <= i of softmax_j(q_i . k_j / sqrt(D)) v_j
///     h       = x + o w_out                      rows of w_out: summed over ranks
///     y       = h + gelu(h w_up) w_down          again
///     gelu(u) = u / 2 (1 + erf(u / sqrt(2)))
///
/// A rank's heads need no other rank's. What it makes of them with its rows of w_out is
/// one of `ranks` summands of the whole product.
///
/// @param shape   all sizes > 0, but tokens >= 0; 0 is legal and does nothing
/// @param rank    rank.ranks divides H and F. Where N H D floats fit into the inboxes,
///                they are summed through these, without NCCL.
/// @param x       [N, H D] device memory of the rank, the same on all ranks
/// @param y       [N, H D] written; not `x`
/// @param stream  of the rank's device, which is current; the call queues its work
///                there and does not wait
///
/// A host thread drives one rank. Between ncclGroupStart and ncclGroupEnd it cannot be
/// called: the kernels behind an all-reduce would be queued before it.
///
/// Traffic  between GPUs: two sums of N H D floats; with NCCL each moves
///          2 (ranks - 1) / ranks times its size in and out of each GPU, through
///          inboxes ranks - 1 times
/// Error    sums of n products in float: |error| <= (n + 2) 2^-24 * sum of |a b|, taken
///          through all steps (tests/day07-tuning/10-multi-gpu/block_reference.h)
/// Throws   wb::InvalidArgument for sizes that are out of range or do not divide, null
///          pointers, a missing communicator; wb::NcclError
/// Source   Shoeybi et al. 2019, "Megatron-LM", arXiv:1909.08053
void multi_gpu(const BlockShape& shape,
               const Rank& rank,
               const float* x,
               float* y,
               cudaStream_t stream);

/// x[i] = sum over ranks of x[i], in float and in the order of the ranks, so that all
/// have the same bits. Every rank calls it, as often as the others and with the same n.
///
///     push   x goes into the inbox of every other rank, then a flag that says so
///     sum    when the flags of all ranks are there, their x are added
///
/// A second call may come when a peer has not read what the first one brought. So there
/// are two inboxes for each sender, used in turn.
///
/// @param rank    rank, ranks and inboxes; comm only for meet()
/// @param x       [n] device memory of the rank
/// @param n       >= 0, <= inboxes->capacity; the same on all ranks; 0 does nothing
/// @param stream  of the rank's device, which is current
///
/// A peer that does not come is given up after some seconds: x is NaN then, and
/// finish() of peers.h throws.
///
/// Traffic  4 n B to each other rank; reads 4 n ranks B of its own memory, writes 4 n B
/// Error    |error| <= (ranks - 1) 2^-24 * sum of |x[i]|
/// Throws   wb::InvalidArgument for n that is out of range, a null pointer, no inboxes
/// Source   NVIDIA TensorRT-LLM, customAllReduceKernels.cu ("one shot"); the memory
///          model of the PTX ISA, "release and acquire patterns"
void one_shot_all_reduce(const Rank& rank, float* x, int64_t n, cudaStream_t stream);
