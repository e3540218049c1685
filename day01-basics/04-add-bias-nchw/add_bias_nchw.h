/// add_bias_nchw.h: the contract of this exercise.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// y[n, c, h, w] = x[n, c, h, w] + bias[c] for N images of C channels of H rows and W
/// columns, row-major: w runs fastest, n slowest.
///
/// @param x           [N, C, H, W] device memory, read only
/// @param bias        [C] device memory, read only
/// @param y           [N, C, H, W] device memory, written; may be x itself
/// @param N, C, H, W  >= 0; if one of them is 0 there is nothing to do, and nothing is
///                    launched
/// @param stream      where the work is queued; the function returns without waiting
///
/// Traffic  reads N C H W * 4 B (and bias, C * 4 B), writes N C H W * 4 B
/// Error    one rounding: 2^-24 |x + bias|
/// Throws   wb::InvalidArgument for a negative size, a product N C H W past 2^63 - 1, a
///          null or a host pointer
void add_bias_nchw(const float* x,
                   const float* bias,
                   float* y,
                   int64_t N,
                   int64_t C,
                   int64_t H,
                   int64_t W,
                   cudaStream_t stream);
