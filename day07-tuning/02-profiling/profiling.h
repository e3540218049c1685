/// profiling.h: the contract of this exercise. Six kernels are given, mystery_a to
/// mystery_f (mystery_kernels.h). Each is right, and slow for a reason of its own. You
/// name the reason, and write a launcher that computes the same without it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// What can be wrong with a kernel, or with how it is launched. Each of the six has
/// exactly one of these, and no two have the same.
enum class Disease {
    unknown,         ///< not examined yet
    uncoalesced,     ///< lanes of a warp want sectors that lie far apart
    bank_conflicts,  ///< lanes of a warp want words of the same bank of shared memory
    registers,       ///< too few warps at a time: each needs too many registers
    shared_memory,   ///< too few warps at a time: each block takes too much of it
    launches,        ///< many kernels, of which each has next to nothing to do
    divergence,      ///< lanes of a warp go different ways, one after the other
};

/// A diagnosis for each of the six.
struct Diagnoses {
    Disease mystery_a = Disease::unknown;
    Disease mystery_b = Disease::unknown;
    Disease mystery_c = Disease::unknown;
    Disease mystery_d = Disease::unknown;
    Disease mystery_e = Disease::unknown;
    Disease mystery_f = Disease::unknown;
};

/// What is wrong with the six.
Diagnoses diagnose();

// All functions below work on device memory and do not wait. Arrays are row-major, no
// output overlaps an input, sizes may be 0. They throw wb::InvalidArgument for sizes
// that are not as stated. mended_x computes what mystery_x does; sums may be rounded
// in another order.

/// Four leaky integrators, each fed with x[i] `steps` times; v begins at 0:
///
///     y[0, i]: v = v / 2 + x[i]             y[1, i]: v = -v / 2 + x[i]
///     y[2, i]: v = max(v / 2 + x[i], 0)     y[3, i]: v = |v / 2 - x[i]|
///
/// @param steps  >= 0
/// @param x      [n]
/// @param y      [4, n]
void mystery_a(int64_t n, int steps, const float* x, float* y, cudaStream_t stream);
void mended_a(int64_t n, int steps, const float* x, float* y, cudaStream_t stream);

/// The mean of the 2 radius + 1 neighbours; outside of x there are zeros:
///
///     y[i] = sum(x[i + d], -radius <= d <= radius) / (2 radius + 1)
///
/// @param radius  0 <= radius <= kMaxRadius
/// @param x, y    [n]
inline constexpr int64_t kMaxRadius = 6000;
void mystery_b(
    int64_t n, int64_t radius, const float* x, float* y, cudaStream_t stream);
void mended_b(int64_t n, int64_t radius, const float* x, float* y, cudaStream_t stream);

/// Each column of a matrix times a number: y[r, c] = scale[c] x[r, c].
///
/// @param scale  [cols]
/// @param x, y   [rows, cols]
void mystery_c(int64_t rows,
               int64_t cols,
               const float* scale,
               const float* x,
               float* y,
               cudaStream_t stream);
void mended_c(int64_t rows,
              int64_t cols,
              const float* scale,
              const float* x,
              float* y,
              cudaStream_t stream);

/// Each of many vectors without its mean: y[b, i] = x[b, i] - mean(x[b, :]).
///
/// @param batch   < 2^31
/// @param x, y    [batch, length]
void mystery_d(
    int64_t batch, int64_t length, const float* x, float* y, cudaStream_t stream);
void mended_d(
    int64_t batch, int64_t length, const float* x, float* y, cudaStream_t stream);

/// What happens in a window of kWindow samples that slides over x:
///
///     variance = false: y[i] = x[i + kWindow - 1] - x[i], how much it has changed
///     variance = true:  y[i] = variance of x[i ... i + kWindow - 1], computed in two
///                       passes: the mean first, then the mean of (x - mean)^2
///
/// The first is wanted all day long, the second once a week.
///
/// @param x  [n + kWindow - 1]
/// @param y  [n]
inline constexpr int kWindow = 161;
void mystery_e(int64_t n, bool variance, const float* x, float* y, cudaStream_t stream);
void mended_e(int64_t n, bool variance, const float* x, float* y, cudaStream_t stream);

/// Smooths each row, from left to right and then back:
///
///     v[0] = x[0],          v[c] = keep v[c - 1] + (1 - keep) x[c]
///     y[cols - 1] = v[cols - 1],  y[c] = keep y[c + 1] + (1 - keep) v[c]
///
/// @param cols  0 <= cols <= kMaxColumns
/// @param keep  0 <= keep < 1
/// @param x, y  [rows, cols]
inline constexpr int64_t kMaxColumns = 64;
void mystery_f(int64_t rows,
               int64_t cols,
               float keep,
               const float* x,
               float* y,
               cudaStream_t stream);
void mended_f(int64_t rows,
              int64_t cols,
              float keep,
              const float* x,
              float* y,
              cudaStream_t stream);
