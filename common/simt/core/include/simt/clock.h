/// simt/clock.h: the clock that kernels read.
#pragma once

#include <time.h>

/// A counter that grows with time, as the cycle counter of a multiprocessor does.
inline long long clock64() {
#if defined(__x86_64__)
    return static_cast<long long>(__builtin_ia32_rdtsc());
#elif defined(__aarch64__)
    long long ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
#endif
}
