/// layernorm.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

using Half = __half;
using Bf16 = __nv_bfloat16;

/// A normalisation of each row of a matrix. All arrays are in device memory and begin
/// at any element. Those that are written share no element with another one, but y may
/// be x.
template <class T>
struct Norm {
    const T* x;       ///< [rows, columns] row-major, read only unless y is x
    const T* gamma;   ///< [columns] factors, or null: all are 1
    const T* beta;    ///< [columns] what is added, or null: nothing
    T* y;             ///< [rows, columns] written
    float* mean;      ///< [rows] written, or null: not wanted
    float* rstd;      ///< [rows] written, or null: not wanted
    int64_t rows;     ///< 0 to 2^31 - 1
    int64_t columns;  ///< 0 to 2^31 - 1. If either is 0, nothing is launched
    float eps;        ///< >= 0, finite
};

/// The gradients of such a normalisation. Arrays as above, but dx is neither dy nor x.
template <class T>
struct NormGradient {
    const T* dy;        ///< [rows, columns] the gradient of y
    const T* x;         ///< [rows, columns]
    const T* gamma;     ///< [columns], or null: all are 1
    const float* mean;  ///< [rows] as the forward pass has written it
    const float* rstd;  ///< [rows] the same
    T* dx;              ///< [rows, columns] written, or null: not wanted
    T* dgamma;          ///< [columns] written, or null: not wanted
    T* dbeta;           ///< [columns] written, or null: not wanted
    int64_t rows;       ///< 0 to 2^31 - 1. Without rows dgamma and dbeta are 0
    int64_t columns;    ///< 0 to 2^31 - 1. If it is 0, nothing is launched
};

// Everywhere:
//
// Numbers    sums, mean and rstd are floats, whatever T is; what has the type T is
//            rounded once. In the bounds u = 2^-24, gamma(k) = k u / (1 - k u), and
//            k = 64 + columns / 32: the most additions that one element passes
// NaN        in a row makes all of its y and its rstd NaN; so does an infinity in a
//            LayerNorm. In an RMSNorm an infinity makes rstd 0. No other row changes
// Range      nothing is promised of a row of which one of these sums is 2^127 or more:
//            of an RMSNorm that of the squares; of a LayerNorm that of the magnitudes,
//            and that of the squared distances from the mean
// Same bits  results have the same bits each time, on GPUs of the same kind
// stream     where the work is queued; the functions return without waiting
// Throws     wb::InvalidArgument for sizes that are negative or too large, products
//            past 2^63 - 1, an eps that is negative or not finite, a null, host or
//            misaligned pointer, and for arrays that overlap

/// LayerNorm: over the columns of row r,
///
///     mean_r  = sum of x[r, c] / columns
///     rstd_r  = 1 / sqrt(sum of (x[r, c] - mean_r)^2 / columns + eps)
///     y[r, c] = (x[r, c] - mean_r) * rstd_r * gamma[c] + beta[c]
///
/// Traffic  reads rows * columns elements, writes as many
/// Error    as if the mean was off by e = gamma(k + 3) * the mean of |x|, and the
///          variance v by gamma(k + 6) * (v + e^2) + e^2 + 2 e sqrt(v); then a few
///          roundings. So a large mean costs its share of the digits once, not twice
void layer_norm(const Norm<float>& norm, cudaStream_t stream);
void layer_norm_fp16(const Norm<Half>& norm, cudaStream_t stream);
void layer_norm_bf16(const Norm<Bf16>& norm, cudaStream_t stream);

/// RMSNorm: the same with a mean of 0, so that rstd_r is 1 / sqrt(sum of x^2 / columns
/// + eps). norm.mean must be null.
///
/// Error  of the mean of squares: gamma(k + 6) of it
void rms_norm(const Norm<float>& norm, cudaStream_t stream);
void rms_norm_fp16(const Norm<Half>& norm, cudaStream_t stream);
void rms_norm_bf16(const Norm<Bf16>& norm, cudaStream_t stream);

/// The gradients of layer_norm(). With h[r, c] = (x[r, c] - mean_r) * rstd_r and
/// g[r, c] = dy[r, c] * gamma[c], and means over the columns of row r,
///
///     dx[r, c]  = rstd_r * (g[r, c] - mean of g - h[r, c] * mean of g h)
///     dgamma[c] = sum over r of dy[r, c] * h[r, c]
///     dbeta[c]  = sum over r of dy[r, c]
///
/// Traffic  reads 2 * rows * columns elements, writes rows * columns
/// Error    of dx: gamma(k + 12) * rstd * (|g| + mean of |g| + |h| * mean of |g h|). Of
///          dgamma: gamma(64 + rows / 32 + 3) * sum of |dy h|; of dbeta: the same of
///          |dy|
void layer_norm_backward(const NormGradient<float>& norm, cudaStream_t stream);
void layer_norm_backward_fp16(const NormGradient<Half>& norm, cudaStream_t stream);
void layer_norm_backward_bf16(const NormGradient<Bf16>& norm, cudaStream_t stream);

/// The gradients of rms_norm(): the same with a mean of 0, and without the mean of g.
/// norm.mean must be null.
void rms_norm_backward(const NormGradient<float>& norm, cudaStream_t stream);
void rms_norm_backward_fp16(const NormGradient<Half>& norm, cudaStream_t stream);
void rms_norm_backward_bf16(const NormGradient<Bf16>& norm, cudaStream_t stream);
