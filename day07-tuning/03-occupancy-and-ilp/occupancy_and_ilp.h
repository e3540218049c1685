/// occupancy_and_ilp.h: the contract of this exercise. First say how much is under way
/// at once, then write two kernels that have as much of it as they are told.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "driver.h"
#include "multiprocessor.h"

/// What a kernel takes.
struct Needs {
    int threads;           ///< of a block, 1 to 1024
    int registers;         ///< of a thread, 1 to 255
    int64_t shared_bytes;  ///< of a block, static and dynamic, >= 0
};

/// How many blocks fit a multiprocessor if nothing but this one thing were scarce. What
/// is not scarce at all, shared memory for a block that gets none, limits as much as
/// `slots`.
struct Limits {
    int warps;
    int slots;  ///< the number of blocks itself
    int registers;
    int shared;
};

/// What is in range but does not fit gives 0.
///
/// Throws   wb::InvalidArgument, naming the member of `needs` that is out of range
Limits block_limits(const Multiprocessor& sm, const Needs& needs);

/// What keeps further blocks out.
enum class Limiter { warps, slots, registers, shared };

/// What a multiprocessor holds at once.
struct Occupancy {
    int blocks;
    int warps;
    Limiter limiter;  ///< the smallest limit; of equal ones the first in the list above
};

/// Throws   as block_limits
Occupancy occupancy(const Multiprocessor& sm, const Needs& needs);

/// What is left for each.
struct Budget {
    int registers;         ///< of a thread, a multiple of 8 or 255
    int64_t shared_bytes;  ///< of a block
};

/// The other way round: the most that a kernel may take so that `blocks` blocks of
/// `threads` threads still fit. A kernel that takes exactly these shared bytes fits
/// `blocks` times and not once more; and __launch_bounds__(threads, blocks) tells the
/// compiler to use no more than these registers.
///
/// Throws   wb::InvalidArgument unless blocks > 0 and that many fit `warps` and `slots`
Budget budget(const Multiprocessor& sm, int threads, int blocks);

/// Something that takes a while and of which many are under way: memory, or arithmetic.
struct Pipe {
    double peak;     ///< most that it delivers: bytes a second, operations a clock, …
    double latency;  ///< from asking to getting: seconds, clocks, …
};

/// Little's law. With `under_way` bytes (or operations) asked for at any time, so many
/// are delivered; never more than the peak.
double predicted_rate(const Pipe& pipe, double under_way);

/// How many independent operations each of `threads` threads must have under way for
/// the peak: at least 1. One brings `size` bytes (an FMA: 1 operation).
///
/// Throws   wb::InvalidArgument unless threads > 0 and size > 0
int independent_needed(const Pipe& pipe, int64_t threads, int size);

/// Threads in a block of the two kernels.
inline constexpr int kCopyThreads = 256;
inline constexpr int kIterateThreads = 128;

/// How one of the two kernels is to run.
struct Variant {
    int each;         ///< independent pieces of work a thread: 1, 2, 4 or 8
    int64_t ballast;  ///< bytes of dynamic shared memory a block, >= 0, which nobody
                      ///< uses: they keep other blocks out
};

/// y[i] = x[i], n floats. Each thread copies variant.each pieces of 16 bytes: thread t
/// of a block those with the numbers t, t + kCopyThreads, … of the block. It loads all
/// of them before it stores the first: within a block, y may begin kCopyThreads pieces
/// after x.
///
/// @param x, y  [n] device memory, 16-byte aligned
/// @param n     >= 0
///
/// Traffic  reads 4 n bytes, writes 4 n bytes
/// Error    exact
/// Throws   wb::InvalidArgument
void copy_floats(
    const float* x, float* y, int64_t n, Variant variant, cudaStream_t stream);

/// f(t) = a t + b, rounded once, applied `steps` times.
struct Map {
    float a;
    float b;
    int steps;  ///< >= 0
};

/// y[i] = f(f(… f(x[i]))). Each thread computes variant.each elements side by side:
/// thread t of a block those with the numbers t, t + kIterateThreads, … of the block.
/// It loads all of them before it stores the first.
///
/// @param x, y  [n] device memory; y may be x
/// @param n     >= 0
///
/// Error    <= gamma_steps * max(|x|, |b| / (1 - |a|)) for |a| < 1
/// Throws   wb::InvalidArgument
void iterate(const float* x,
             float* y,
             int64_t n,
             const Map& map,
             Variant variant,
             cudaStream_t stream);

/// What the driver says of the kernel that copy_floats launches for so many loads, in
/// blocks of `threads` threads. Throws wb::InvalidArgument.
Facts copy_floats_facts(int each, int threads, int64_t ballast);
