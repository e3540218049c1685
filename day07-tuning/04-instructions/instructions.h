/// instructions.h: the contract of this exercise: five small pieces, each about what
/// the compiler makes of a line of code.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

enum class Function;  // given.h

/// What ulp_distance() says of NaN and a number: they are no number of steps apart.
inline constexpr uint32_t kNeverThere = 0xFFFFFFFFu;

/// distance[i] = steps from one float to the next that lead from a[i] to b[i].
///
/// The floats stand in a row: -infinity, the finite ones, infinity. 0 and -0 are one
/// place, subnormal numbers are places like any other. Between two NaNs, whatever
/// their bits, the distance is 0; between NaN and a number it is kNeverThere.
///
/// @param a, b      [n] device memory, read only
/// @param distance  [n] device memory, overwritten
/// @param n         >= 0
/// Throws   wb::InvalidArgument, as all below, for a negative n, a null or a host
///          pointer
void ulp_distances(
    const float* a, const float* b, uint32_t* distance, int64_t n, cudaStream_t stream);

/// Where a function is farthest from the correctly rounded one, over all floats whose
/// bits are first, first + 1, ..., first + count - 1.
///
/// @param worst  [1] device memory, overwritten with a single number: its upper half
///               is the distance in ULP, its lower half 0xFFFFFFFF minus the bits of
///               the argument, so that of equally bad ones the smallest bits win
///               (packed(), given.h); 0 if count is 0
/// @param first + count  at most 2^32
void worst_error(Function function,
                 uint32_t first,
                 uint64_t count,
                 unsigned long long* worst,
                 cudaStream_t stream);

/// y[i] = e^x[i], by ex2.approx and what it takes to make it accurate.
///
/// Error    at most 4 ULP for -87 <= x <= 88. NaN gives NaN, x >= 89 infinity,
///          x <= -104 gives 0, minus infinity included
/// @param x  [n] device memory, read only
/// @param y  [n] device memory, overwritten
void exponentials(const float* x, float* y, int64_t n, cudaStream_t stream);

/// y[i] = x[i], but outliers are compressed: y[i] = compressed(x[i]) if
/// is_outlier(x[i]) (outliers.h). Few are outliers, and compressing takes long.
///
/// Goal     in the simulator: at least 24 lanes are busy on average; on a GPU: at most
///          0.8 of the time of launch_divergent(), where each thread does its own
/// @param x  [n] device memory, read only, |x| <= 2^20; may be y
/// @param y  [n] device memory, overwritten
void compress_outliers(const float* x, float* y, int64_t n, cudaStream_t stream);

/// out[i] = in[i]. Both may begin at any float; where they begin equally far behind a
/// multiple of 16 bytes, they are copied four floats at a time.
///
/// Goal     a quarter of the requests of a copy of single floats
/// @param in   [n] device memory, read only
/// @param out  [n] device memory, overwritten, not part of in
void copy_floats(const float* in, float* out, int64_t n, cudaStream_t stream);

/// What takes the place of a divisor.
struct Divider {
    uint32_t magic;
    uint32_t first_shift;   ///< 0 for a divisor of 1, else 1
    uint32_t second_shift;  ///< 0 to 31
};

/// The divider of a divisor. Throws wb::InvalidArgument for 0.
Divider make_divider(uint32_t divisor);

/// quotient[i] = n[i] / divisor, rounded down, exact for each n and divisor, but
/// without a division on the GPU.
///
/// @param n         [count] device memory, read only
/// @param quotient  [count] device memory, overwritten
/// @param divisor   > 0
void quotients(const uint32_t* n,
               uint32_t* quotient,
               int64_t count,
               uint32_t divisor,
               cudaStream_t stream);
