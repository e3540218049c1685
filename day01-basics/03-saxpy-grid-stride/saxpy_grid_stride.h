/// saxpy_grid_stride.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// y[i] = alpha * x[i] + y[i] for every i in [0, n), by a grid of the caller's size.
///
/// @param alpha       any float; no shortcut for 0: a NaN in x shows in y
/// @param x           [n] device memory, read only
/// @param y           [n] device memory, updated; may be x itself, but must not overlap
///                    it in any other way
/// @param n           >= 0; 0 is legal and launches nothing
/// @param num_blocks  >= 1, the number of blocks that the grid has, whatever n is; the
///                    result does not depend on it
/// @param stream      where the work is queued; the function returns without waiting
///
/// Traffic  reads 2 n * 4 B, writes n * 4 B
/// Error    one rounding if multiply and add are fused, two if they are not. Covers
///          both: 2^-24 (|alpha x[i]| + |alpha x[i] + y[i]|), to first order
/// Throws   wb::InvalidArgument for a negative n, num_blocks < 1, a null or a host
///          pointer
void saxpy_grid_stride(float alpha,
                       const float* x,
                       float* y,
                       int64_t n,
                       int num_blocks,
                       cudaStream_t stream);

/// The elements of one thread: first, first + stride, first + 2 * stride, ...
struct GridStride {
    int64_t first;   ///< the thread's number in the whole grid
    int64_t stride;  ///< how many threads the whole grid has
};

/// Where a thread of a one-dimensional grid begins and how far it steps, in 64 bits:
/// both values may be above 2^32 although every argument fits into 32.
///
/// @param block       blockIdx.x, in [0, num_blocks)
/// @param num_blocks  gridDim.x
/// @param thread      threadIdx.x, in [0, block_size)
/// @param block_size  blockDim.x
__host__ __device__ GridStride grid_stride(unsigned block,
                                           unsigned num_blocks,
                                           unsigned thread,
                                           unsigned block_size);
