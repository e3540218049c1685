/// streams_and_memory.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// How an array in host memory is taken through the GPU, chunk by chunk.
struct ChunkPlan {
    int64_t chunk = 1 << 20;  ///< elements of a chunk; the last one may have fewer
    int buffers = 3;          ///< chunks that may be on the GPU at the same time
    int rounds = 1;           ///< work on each element: rounds of relax.h
};

/// x[i] = relax(x[i], rounds) in device memory; the kernel is given (relax.h).
///
/// @param n  > 0
void launch_relax(float* x, int64_t n, int rounds, cudaStream_t stream);

/// out[i] = relax(in[i], plan.rounds) for every i in [0, n): copied to the GPU,
/// computed there, and copied back.
///
///     relax(x, r) = r times x := 1023/1024 x + 1/1024
///
/// @param in      [n] host memory, read only; pinned memory makes it fast
/// @param out     [n] host memory, written; may be `in` itself
/// @param n       >= 0; 0 is legal and launches nothing
/// @param plan    chunk > 0, buffers > 0, rounds >= 0. The GPU memory that is used is
///                buffers * chunk * 4 B, however large n is.
/// @param stream  the whole pass is as one operation of it: it begins when what the
///                stream was given before is done, and what the stream is given later
///                finds `out` complete
///
/// With pinned memory the function returns without waiting for the GPU: `in` must not
/// be changed, and `out` not be read, before the stream is done.
///
/// Traffic  4 n B to the GPU and 4 n B back
/// Error    a round is one fma: |error| <= rounds * 2^-24 * max(|in[i]|, 1)
/// Throws   wb::InvalidArgument for a size that is out of range or a null pointer
void process_chunks(
    const float* in, float* out, int64_t n, const ChunkPlan& plan, cudaStream_t stream);
