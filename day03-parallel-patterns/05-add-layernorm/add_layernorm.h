/// add_layernorm.h: the contract of this exercise.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

using Half = __half;
using Bf16 = __nv_bfloat16;

// #region fusion
/// What an operation in a block of a model does.
enum class Op { input, norm, add, other };

/// One operation of a block. They stand in the order in which they are computed.
struct Node {
    Op op;
    int a;           ///< the operation whose result it takes; -1: none
    int b;           ///< the same, of what takes two; -1: none
    bool is_wanted;  ///< its result is read outside of the block, too
};

/// What one launch can compute of a block.
enum class Fusion { none, norm_then_add, add_then_norm };

/// Says which function below computes both nodes[first] and nodes[second], given what
/// other operations need of them:
///
///     norm_then_add   by layernorm_add(): first is a norm, second an add of its
///     result.
///                     The result of the norm is not stored: nothing else may read it,
///                     and the other summand must not need it
///     add_then_norm   by add_layernorm(): first is an add, second a norm of its
///     result.
///                     Both are stored
///     none            neither is possible
///
/// @param nodes  [count] host memory; each takes only results of those before it
/// Throws        wb::InvalidArgument if first or second is not in [0, count), or if
///               nodes is null
Fusion fusion_of(const Node* nodes, int count, int first, int second);
// #endregion fusion

// #region rows
/// Rows of a matrix in device memory: element (r, c) is data[r * row_stride + c *
/// column_stride]. They begin at any element. A slice of the columns of a larger matrix
/// has row_stride > columns. Refused are: columns that are not neighbours
/// (column_stride != 1: a permuted matrix), and rows that share elements (row_stride <
/// columns: what a framework makes of one row that is repeated).
template <class T>
struct Rows {
    T* data;
    int64_t row_stride;
    int64_t column_stride = 1;
};

/// Which elements are dropped: those of which a random word is small. With
///
///     w = philox({c / 4, r, offset, offset >> 32}, seed)       (wb/philox.h)
///
/// element (r, c) is dropped if w[c % 4] < p * 2^32. The others are multiplied by the
/// float 1 / (1 - p). So the mask depends on the place alone: not on the type, the
/// strides, the grid or the GPU, and need not be stored.
struct Dropout {
    float p;  ///< in [0, 1)
    uint64_t seed;
    uint64_t offset;  ///< another one for each call that is to have another mask
};

/// A LayerNorm and what is computed with it. What is written shares no byte, from its
/// first element to its last, with any other array; but h may be x or other, and y of
/// layernorm_add() may be x or other: the same data and the same stride.
template <class T>
struct FusedNorm {
    Rows<const T> x;      ///< [rows, columns]
    Rows<const T> other;  ///< [rows, columns] the residual; or the factor, mul
    const T* gamma;       ///< [columns]
    const T* beta;        ///< [columns]
    Rows<T> h;        ///< [rows, columns] written by add_layernorm(); else data is null
    Rows<T> y;        ///< [rows, columns] written
    float* mean;      ///< [rows] written, or null: not wanted
    float* rstd;      ///< [rows] written, or null: not wanted
    int64_t rows;     ///< 0 to 2^31 - 1
    int64_t columns;  ///< 0 to 2^31 - 1. If either is 0, nothing is launched
    float eps;        ///< >= 0, finite
    Dropout dropout = {};  ///< of norm_mul_dropout() alone
};

/// What the gradients of norm_mul_dropout() are made of. What is written shares no byte
/// with any other array.
template <class T>
struct FusedNormGradient {
    Rows<const T> dy;   ///< [rows, columns] the gradient of y
    Rows<const T> x;    ///< [rows, columns]
    Rows<const T> mul;  ///< [rows, columns]
    const T* gamma;     ///< [columns]
    const T* beta;      ///< [columns]
    const float* mean;  ///< [rows] as the forward pass has written it
    const float* rstd;  ///< [rows] the same
    Rows<T> dx;         ///< [rows, columns] written
    Rows<T> dmul;       ///< [rows, columns] written
    T* dgamma;          ///< [columns] written, or null: not wanted
    T* dbeta;           ///< [columns] written, or null: not wanted
    int64_t rows;       ///< 0 to 2^31 - 1. Without rows dgamma and dbeta are 0
    int64_t columns;    ///< 0 to 2^31 - 1. If it is 0, nothing is launched
    Dropout dropout;    ///< that of the forward pass
};
// #endregion rows

// Everywhere:
//
// Numbers    sums, mean and rstd are floats, whatever T is; what has the type T is
//            rounded once. In the bounds u = 2^-24, gamma(k) = k u / (1 - k u), and
//            k = 64 + columns / 32: the most additions that one element passes
// NaN        in a row, or an infinity, makes its mean or rstd NaN and its y, but not
//            what is dropped. No other row changes
// Range      nothing is promised of a row whose sum of magnitudes, or of squared
//            distances from the mean, is 2^127 or more
// Same bits  results have the same bits each time, on GPUs of the same kind
// stream     where the work is queued; the functions return without waiting
// Throws     wb::InvalidArgument for sizes and strides that are negative or too large,
//            strides as above, products past 2^63 - 1, an eps that is negative or not
//            finite, a p that is not in [0, 1), a null, host or misaligned pointer, and
//            for arrays that overlap

/// y = LayerNorm(x) + residual: what follows a sub-layer in some models.
///
///     mean_r  = sum of x[r, c] / columns
///     rstd_r  = 1 / sqrt(sum of (x[r, c] - mean_r)^2 / columns + eps)
///     y[r, c] = (x[r, c] - mean_r) * rstd_r * gamma[c] + beta[c] + other[r, c]
///
/// Traffic  reads 2 * rows * columns elements, writes rows * columns
/// Error    as if the mean was off by e = gamma(k + 3) * the mean of |x|, and the
///          variance v by gamma(k + 6) * (v + e^2) + e^2 + 2 e sqrt(v); then a few
///          roundings
void layernorm_add(const FusedNorm<float>& norm, cudaStream_t stream);
void layernorm_add_fp16(const FusedNorm<Half>& norm, cudaStream_t stream);
void layernorm_add_bf16(const FusedNorm<Bf16>& norm, cudaStream_t stream);

/// h = x + residual, y = LayerNorm(h): the end of one sub-layer, the begin of the next.
///
///     h[r, c] = x[r, c] + other[r, c]    as floats, then rounded to T
///
/// and y, mean and rstd as above, of h as it is stored: a later layer that reads h sees
/// the same numbers.
///
/// Traffic  reads 2 * rows * columns elements, writes as many
/// Error    none of h; of y, mean and rstd as above
void add_layernorm(const FusedNorm<float>& norm, cudaStream_t stream);
void add_layernorm_fp16(const FusedNorm<Half>& norm, cudaStream_t stream);
void add_layernorm_bf16(const FusedNorm<Bf16>& norm, cudaStream_t stream);

/// y = dropout(LayerNorm(x) * mul). What is dropped is 0, whatever was there.
///
/// Traffic  reads 2 * rows * columns elements, writes rows * columns
void norm_mul_dropout(const FusedNorm<float>& norm, cudaStream_t stream);
void norm_mul_dropout_bf16(const FusedNorm<Bf16>& norm, cudaStream_t stream);

/// The gradients of norm_mul_dropout(). Where (r, c) was dropped, dmul is 0 and so is n
/// below; else, with h = (x - mean_r) * rstd_r, e = dy / (1 - p) and g = n * gamma[c],
///
///     dmul[r, c] = e * (h * gamma[c] + beta[c])
///     n[r, c]    = e * mul[r, c]
///     dgamma[c]  = sum over r of n * h          dbeta[c] = sum over r of n
///     dx[r, c]   = rstd_r * (g - mean of g - h * mean of g h)
///
/// with means over the columns of row r.
///
/// Traffic  reads 3 * rows * columns elements, writes 2 * rows * columns
/// Error    of dx: gamma(k + 16) * rstd * (|g| + mean of |g| + |h| * mean of |g h|). Of
///          dgamma: gamma(64 + rows / 32 + 7) * sum of |n h|; of dbeta: the same of
///          |n|. Of dmul: gamma(12) * |e| * (|h gamma| + |beta|)
void norm_mul_dropout_backward(const FusedNormGradient<float>& norm,
                               cudaStream_t stream);
void norm_mul_dropout_backward_bf16(const FusedNormGradient<Bf16>& norm,
                                    cudaStream_t stream);
