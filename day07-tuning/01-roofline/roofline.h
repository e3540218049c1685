/// roofline.h: the contract of this exercise. There is no kernel to write: five are
/// given (given_kernels.h), and you say beforehand what each costs and how long it
/// takes.
#pragma once

#include <cstdint>

/// What one launch asks of the machine.
struct Cost {
    /// Floating-point operations; a fused multiply-add counts as two.
    double flop;
    /// What the GPU's memory must move at least: whole sectors of 32 bytes, each sector
    /// that is read once and each that is written once, whoever asks for it how often.
    double dram_bytes;
    /// Loads and stores that warps execute, of global and of shared memory: one for a
    /// whole warp, if at least one of its lanes takes part.
    double requests;
};

/// What the machine can do at most: its roofs. Measured, not read off a data sheet.
struct Roofs {
    double flop_per_s;
    double bytes_per_s;
    double requests_per_s;
    double launch_s;  ///< how long a kernel takes that does nothing
};

/// What keeps a launch from being faster.
enum class Limit { memory, arithmetic, load_store, launch };

/// How long a launch takes if nothing but its limit holds it up.
struct Prediction {
    Limit limit;
    double seconds;
};

/// The costs of the five kernels, for arrays that begin at a multiple of 32 bytes, as
/// cudaMalloc's do. Tests allow 1 % of each number; nothing to do costs nothing.
///
/// @param n       elements of the result, or rows and columns of square matrices; >= 0,
///                and a multiple of 32 for matrices
/// @param stride  > 0: floats between two elements that are read
/// @param degree  >= 0: steps of Horner's rule
///
/// Throws   wb::InvalidArgument for other sizes
Cost saxpy_cost(int64_t n);
Cost strided_scale_cost(int64_t n, int64_t stride);
Cost polynomial_cost(int64_t n, int64_t degree);
Cost matmul_naive_cost(int64_t n);
Cost matmul_tiled_cost(int64_t n);

/// The roofline model. Memory, arithmetic and load/store units work side by side, so
/// that a kernel is busy as long as the slowest of the three; that is its limit, unless
/// the launch alone takes longer. The launch is paid in any case:
///
///     busy    = max(dram_bytes / bytes_per_s, flop / flop_per_s,
///                   requests / requests_per_s)
///     seconds = launch_s + busy
///
/// Throws   wb::InvalidArgument unless all roofs are finite and > 0
Prediction predict(const Cost& cost, const Roofs& roofs);
