/// fused_epilogue.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cstdint>

// Everywhere:
//
// Matrices are row-major, in device memory, aligned to their elements. A leading
// dimension says how many elements lie between the beginnings of two rows; what lies
// between two rows is neither used nor changed. Inputs are read only; an output shares
// no byte with another array, from the first to the last of their elements, but where
// it is said.
//
// stream   where the work is queued; the functions return without waiting
// Nothing  is launched if the output has no elements. Without inputs (K = 0, or N = 0
//          for linear_act_backward) all sums are 0, and the rest is done as ever
// Bits     two calls with the same arguments on the same GPU give the same ones
// Speed    full where all arrays and rows begin at multiples of 16 bytes
// Throws   wb::InvalidArgument for sizes that are negative or above 2^30, leading
//          dimensions that are too small, products of sizes past 2^63 - 1, a null, host
//          or misaligned pointer, arrays that overlap, and on a GPU before sm_80

// #region activation
/// What is done to a sum z before it is stored. With sigmoid(s) = 1 / (1 + exp(-s)):
///
///     none   act(z) = z
///     silu   act(z) = z sigmoid(z)
///     gelu   act(z) = z sigmoid(2 c (z + 0.044715 z^3)), c = sqrt(2 / pi): the form
///            with tanh, 0.5 z (1 + tanh(c (z + 0.044715 z^3))), for which sigmoid is
///            another way of writing
///
/// For z = infinity act(z) is infinity and act'(z) is 1; for -infinity silu and gelu
/// are 0, and so is act'(z).
///
/// Error    |act| is off by at most 2^-14 |act(z)| + 2^-50, act' by at most 2^-14 of
///          sigmoid(s) + |z s'(z)| sigmoid(s) (1 - sigmoid(s)), and 2^-50
enum class Activation { none, silu, gelu };
// #endregion activation

// #region linear
/// A layer: M rows of K inputs each become M rows of N outputs.
struct LinearShape {
    int64_t M;
    int64_t N;
    int64_t K;
    int64_t ldx;  ///< >= K, of x; of z and dz in the backward pass
    int64_t ldw;  ///< >= K, of w
    int64_t ldy;  ///< >= N, of y, of residual and of z; of dy in the backward pass
};

/// What goes into a layer.
struct LinearInput {
    LinearShape shape;
    Activation activation;
    const __nv_bfloat16* x;         ///< [M, K]
    const __nv_bfloat16* w;         ///< [N, K], as PyTorch's nn.Linear has it
    const __nv_bfloat16* bias;      ///< [N], or null: 0
    const __nv_bfloat16* residual;  ///< [M, N] with ldy, or null: 0
};

/// y = act(z) + residual with z = x w^T + bias:
///
///     z[m, n] = bias[n] + the sum over k of x[m, k] * w[n, k]
///     y[m, n] = act(z[m, n]) + residual[m, n]
///
/// all of it in float, and rounded once, to the nearest, where it is stored.
///
/// @param y  [M, N] with ldy. May be residual itself, the same pointer
/// @param z  [M, N] with ldy, or null: z before the activation, for the backward pass
///
/// Work     2 M N K FLOP
/// Traffic  reads (M K + N K + N) * 2 B and writes M N * 2 B at least; residual and z
///          are M N * 2 B each
/// Error    of z: gamma(2 K + 4) of 2^-23, times |bias[n]| + the sum of |x[m, k]
///          w[n, k]|. Of y: 1.13 times that (no slope is larger), the error of act and
///          of a sum, and half a unit in the last place of a bf16
/// NaN      and infinities in z or in the residual go to that element as in any sum
void linear_act(const LinearInput& in,
                __nv_bfloat16* y,
                __nv_bfloat16* z,
                cudaStream_t stream);

/// The same for an output of 8 bits. With v = act(z) + residual:
///
///     y[m, n] = e4m3(v[m, n] * *scale), at most 448 and at least -448
///     *amax   = the largest |v[m, n]|
///
/// A NaN stays NaN in y, and makes *amax NaN. Infinity becomes 448.
///
/// @param scale  [1] device memory: infinite, NaN and 0 are as good as any other
/// @param y      [M, N] with ldy
/// @param amax   [1] overwritten; not written if y has no elements. The next scale is
///               made of it, 448 / amax for example
///
/// Error    of y: that of v times |*scale|, 2^-23 of it, and half a unit in the last
///          place of e4m3; of *amax: the largest error of v
void linear_act_fp8(const LinearInput& in,
                    const float* scale,
                    __nv_fp8_e4m3* y,
                    float* amax,
                    cudaStream_t stream);
// #endregion linear

// #region backward
/// Two layers in a row: h = act(z), y = h w^T. dy is the gradient by y.
struct LinearGradient {
    LinearShape shape;  ///< of the layer behind: h is [M, K], y is [M, N]
    Activation activation;
    const __nv_bfloat16* dy;  ///< [M, N] with ldy
    const __nv_bfloat16* w;   ///< [N, K] with ldw
    const __nv_bfloat16* z;   ///< [M, K] with ldx: what linear_act() stored
};

/// The gradient by z, and by the bias that is in it:
///
///     dz[m, k]  = act'(z[m, k]) * the sum over n of dy[m, n] * w[n, k]
///     dbias[k]  = the sum over m of dz[m, k], as it was before it was rounded
///
/// @param dz     [M, K] with ldx
/// @param dbias  [K], or null; not written if dz has no elements
///
/// Work     2 M N K FLOP
/// Traffic  reads (M N + N K + M K) * 2 B and writes M K * 2 B at least
/// Error    of the sum over n: gamma(2 N + 2) of 2^-23, times the sum of |dy w|; times
///          |act'|, and the error of act' times |the sum|; half a unit in the last
///          place of a bf16. Of dbias: the sum of the errors before rounding, and
///          gamma(M) of 2^-24 times the sum of |dz|
void linear_act_backward(const LinearGradient& in,
                         __nv_bfloat16* dz,
                         float* dbias,
                         cudaStream_t stream);
// #endregion backward

// #region mlp
/// Two layers, all matrices without gaps between rows.
struct MlpInput {
    int64_t M;
    int64_t K;  ///< inputs
    int64_t H;  ///< hidden numbers of a row
    int64_t N;  ///< outputs
    Activation activation;
    const __nv_bfloat16* x;         ///< [M, K]
    const __nv_bfloat16* w1;        ///< [H, K]
    const __nv_bfloat16* bias1;     ///< [H], or null
    const __nv_bfloat16* w2;        ///< [N, H]
    const __nv_bfloat16* bias2;     ///< [N], or null
    const __nv_bfloat16* residual;  ///< [M, N], or null
};

/// y = act(x w1^T + bias1) w2^T + bias2 + residual. The hidden rows are rounded to
/// bf16, as linear_act() stores them; they need wb::Scratch.
///
/// @param y  [M, N]. May be residual itself
///
/// Work     2 M H (K + N) FLOP
/// Error    as of linear_act() twice: each hidden number is off by its own error, which
///          |w2| carries into the sums
void mlp(const MlpInput& in, __nv_bfloat16* y, cudaStream_t stream);
// #endregion mlp
