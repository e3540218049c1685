/// given.h: what the tests, the benchmark and your file share: names of functions, the
/// form of a worst error, and launchers of kernels that are given.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// A function as kernels call it; functions.h has each beside the exact one.
enum class Function {
    accurate_exp,         ///< expf
    fast_exp,             ///< __expf
    own_exp,              ///< quick_exp
    accurate_exp2,        ///< exp2f
    fast_exp2,            ///< ex2.approx.ftz
    accurate_log,         ///< logf
    fast_log,             ///< __logf
    accurate_sin,         ///< sinf
    fast_sin,             ///< __sinf
    accurate_reciprocal,  ///< 1 / x
    fast_reciprocal,      ///< __fdividef(1, x)
    accurate_rsqrt,       ///< 1 / sqrtf(x)
    fast_rsqrt,           ///< rsqrtf
    coarse                ///< a bad one whose error is known
};

/// A distance in ULP and the argument it was found at, as one number: the larger
/// distance is the larger number and, if they are equal, the smaller bits.
__host__ __device__ inline unsigned long long packed(uint32_t ulp, uint32_t bits) {
    return static_cast<unsigned long long>(ulp) << 32 | (0xFFFFFFFFu - bits);
}

/// compress_outliers() where each thread does what its element needs: right, and slow.
void launch_divergent(const float* x, float* y, int64_t n, cudaStream_t stream);

/// How many of the numbers first, ..., first + count - 1 your divide() divides wrongly.
///
/// @param wrong  [1] device memory, overwritten
void wrong_quotients(uint32_t divisor,
                     uint32_t first,
                     uint64_t count,
                     unsigned long long* wrong,
                     cudaStream_t stream);

/// What a ruler does again and again.
enum class Division {
    by_variable,  ///< n / d, a d that may be another one each time
    by_same,      ///< n / d, a d that is the same each time, but known to nobody
    by_seven,     ///< n / 7
    by_divider,   ///< divide(n, make_divider(d)), yours
    by_eight,     ///< n / 8
    in_64_bits    ///< n / d, both of 64 bits
};

/// Rulers: kRulerBlocks blocks of kRulerThreads threads. Each thread has kRulerChains
/// numbers, and applies its operation to each kRulerSteps times:
///
///     division   x = x / d * 747796405 + j                 (j-th chain, 32 bits)
///     function   x = f(x) * 2^-10 + c
///
/// and begins with its index in the grid, or with c. Then y[thread] is the sum of its
/// numbers. y has kRulerBlocks * kRulerThreads elements.
#ifdef SIMT_CPU
inline constexpr int kRulerBlocks = 2;  // are enough to see whether they are right
#else
inline constexpr int kRulerBlocks = 2048;
#endif
inline constexpr int kRulerThreads = 256;
inline constexpr int kRulerChains = 4;
inline constexpr int kRulerSteps = 256;
void launch_division_ruler(Division division,
                           uint32_t divisor,
                           uint32_t* y,
                           cudaStream_t stream);
void launch_function_ruler(Function function, float c, float* y, cudaStream_t stream);

/// y[row][i] = scale[row] * x[row][i], kScaledRows rows of n floats, by kernels that
/// differ in nothing but the __restrict__ of their pointers.
inline constexpr int kScaledRows = 8;
void launch_scale_rows(bool is_restricted,
                       const float* x,
                       const float* scale,
                       float* y,
                       int64_t n,
                       cudaStream_t stream);
