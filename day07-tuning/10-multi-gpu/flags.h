/// flags.h: what kernels on several GPUs say to each other through the inboxes. Given.
#pragma once

#include <cuda/atomic>

#include "multi_gpu.h"

// #region flags
/// Tells another GPU that what this thread's block has written before the last barrier
/// is there. Nobody sees the flag earlier than the data: release, for all the system.
[[maybe_unused]] static __device__ void set_flag(unsigned* flag, unsigned value) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_system>(*flag).store(
        value, cuda::memory_order_release);
}

/// Waits until the flag has the value; what was written before it can then be read:
/// acquire. Gives up after about five seconds: the other GPU may be dead.
///
/// @returns true if the flag has come
[[maybe_unused]] static __device__ bool wait_for_flag(unsigned* flag, unsigned value) {
#ifdef SIMT_CPU
    constexpr long long kClocks = 2'000'000'000;
#else
    constexpr long long kClocks = 10'000'000'000;
#endif
    const cuda::atomic_ref<unsigned, cuda::thread_scope_system> seen(*flag);
    const long long begin = clock64();
    while (seen.load(cuda::memory_order_acquire) != value)
        if (clock64() - begin > kClocks) return false;
    return true;
}
// #endregion flags

// #region places
/// Where a rank's message to another one lies, in the other one's memory.
[[maybe_unused]] static __device__ float* inbox(
    const Inboxes& inboxes, int of, int sender, int ranks, unsigned call) {
    return inboxes.data[of] + (int64_t{call % 2} * ranks + sender) * inboxes.capacity;
}

/// The flag of one piece of it.
[[maybe_unused]] static __device__ unsigned* flag_of(const Inboxes& inboxes,
                                                     int of,
                                                     int sender,
                                                     int ranks,
                                                     unsigned call,
                                                     unsigned piece) {
    const int64_t pieces = inboxes.capacity / kPiece;
    return inboxes.flags[of] + (int64_t{call % 2} * ranks + sender) * pieces + piece;
}
// #endregion places
