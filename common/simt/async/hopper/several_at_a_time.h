/// async/hopper/several_at_a_time.h: loops over columns, compiled for processors with
/// AVX2, too, where the program finds them.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && defined(__ELF__)
#define SIMT_SEVERAL_AT_A_TIME __attribute__((target_clones("avx2", "default")))
#else
#define SIMT_SEVERAL_AT_A_TIME
#endif
