/// fp4_linear.h: the contract of this exercise.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

/// Which weights share a scale, and how it is stored.
enum class Fp4Scales {
    channel,  ///< a row of W: one float
    mx,       ///< 32 weights of a row: a power of two, a byte of E8M0 (OCP MX)
    nvfp4,    ///< 16 weights of a row: a byte of E4M3, times one float for all of W
};

/// What is done with a sum before it is stored.
///
///     none   act(z) = z
///     silu   act(z) = z sigmoid(z)
///     gelu   act(z) = z sigmoid(2 c (z + 0.044715 z^3)), c = sqrt(2 / pi): the form
///            with tanh
///
/// silu and gelu of -infinity are 0.
enum class Fp4Activation { none, silu, gelu };

/// Sizes of y = act(x W^T + b), with W [N, K] in 4 bits.
struct Fp4Shape {
    int64_t M;  ///< rows of x and of y
    int64_t N;  ///< rows of W, columns of y, a multiple of 8
    int64_t K;  ///< columns of W and of x, a multiple of 32
    Fp4Scales scales = Fp4Scales::nvfp4;

    /// Weights that share a scale.
    int64_t group() const {
        if (scales == Fp4Scales::channel) return K;
        return scales == Fp4Scales::mx ? 32 : 16;
    }
    int64_t num_scales() const { return K == 0 ? 0 : N * (K / group()); }
    int64_t bytes_of_scale() const { return scales == Fp4Scales::channel ? 4 : 1; }

    /// All that W takes, scales included.
    int64_t weight_bytes() const {
        return N * (K / 2) + num_scales() * bytes_of_scale() +
               (scales == Fp4Scales::nvfp4 ? 4 : 0);
    }
};

/// W in device memory: fp4_quantize() writes values and scales, fp4_linear() reads
/// them.
///
/// A weight is e2m1(q) * scale, and for nvfp4 e2m1(q) * scale * global_scale, with q
/// its four bits: a sign, two of exponent, one of mantissa. e2m1(0) to e2m1(7) are 0,
/// 0.5, 1, 1.5, 2, 3, 4, 6; 8 to 15 are the same with a minus.
struct Fp4Weights {
    uint8_t* values;  ///< [N, K / 2]: byte j of a row has weight 2 j in its low bits,
                      ///< weight 2 j + 1 in its high ones
    void* scales;     ///< [N, K / group]: float, or a byte
    const float* global_scale;  ///< [1] for nvfp4, and null for the others
    int64_t value_bytes;        ///< N K / 2
    int64_t num_scales;         ///< N K / group
};

/// W in 4 bits:
///
///     a        the largest magnitude of a group
///     channel  scale = a / 6
///     mx       scale = 2^(floor(log2 a) - 2), at least 2^-127
///     nvfp4    scale = a / 6 / global_scale, rounded to E4M3: to the nearest, to even
///              in the middle, at most 448
///     q        w / scale (nvfp4: w / (scale * global_scale)) rounded to E2M1: to the
///              nearest, to even in the middle, at most 6
///
/// Each quotient and product is rounded to float first. Where the scale is 0, q is 0. A
/// group with a NaN or an infinity has a scale of NaN (a float; 0xFF; 0x7F), and q is
/// 0. Else q has the sign of w, even where w is rounded to 0, or is -0: q = 8.
///
/// @param shape    M is not used
/// @param weights  [N, K] device memory, read only, a multiple of 16 bytes
/// @param w        values and scales are overwritten
/// @param stream   where the work is queued; the function returns without waiting
///
/// If K or N is 0 there is nothing to do, and nothing is launched.
///
/// Traffic  reads N K * 4 B, for channel twice; writes N K / 2 B and the scales
/// Error    none: each bit is what the rules above give
/// Throws   wb::InvalidArgument for sizes that are negative or above 2^30 (K: 2^25), an
///          N or K that is no multiple of 8 and of 32, scales or an activation that do
///          not exist, a tensor whose length is not what the shape asks for, a null,
///          host or misaligned pointer (weights, values, x and y: multiples of 16
///          bytes), and for an output that shares memory with anything else. The values
///          of scales are in the GPU's memory, where a launcher cannot see them:
///          fp4_check_weights() of check_weights.h does, once
void fp4_quantize(const Fp4Shape& shape,
                  const float* weights,
                  const Fp4Weights& w,
                  cudaStream_t stream);

/// y = act(x W^T + b):
///
///     y[m, n] = act(b[n] + the sum over k of x[m, k] * w[n, k])
///
/// @param w     as fp4_quantize() leaves them, or from a file; read only
/// @param x     [M, K] device memory, read only
/// @param bias  [N] device memory, read only, or null: no bias
/// @param y     [M, N] device memory, overwritten; shares no memory with the others
///
/// If M or N is 0 there is nothing to do, and nothing is launched; with K = 0 the sums
/// are b.
///
/// Traffic  reads K N / 2 B, scales, bias and M K * 2 B; writes M N * 2 B, at least
/// Error    of a sum at most gamma(2 K + 16) of 2^-23, times |b[n]| + the sum of
///          |x[m, k]| |w[n, k]|; then that of act, and the rounding to half. Weights
///          are not rounded to anything: a scale is multiplied in float. Two calls with
///          the same arguments on the same GPU give the same bits
/// NaN      and infinities of row m of x go to row m of y, as in any sum, and to no
///          other row. A scale that is NaN or infinite makes its column of y NaN or
///          infinite, and no other column; a global scale all of them
/// Throws   as fp4_quantize(), and on a GPU before sm_80
void fp4_linear(const Fp4Shape& shape,
                Fp4Activation activation,
                const Fp4Weights& w,
                const __half* x,
                const float* bias,
                __half* y,
                cudaStream_t stream);
