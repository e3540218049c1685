/// simt/vector_types.h: CUDA's built-in vector types, with CUDA's names, member order,
/// sizes and alignments.
///
/// They are plain aggregates without operators: a CUDA program that wants `a + b` for
/// float3 defines it, and its definition must not meet another one here.
///
/// Source: CUDA C++ Programming Guide, "Built-in Vector Types", table of alignments.
#pragma once
#include "simt/core.h"  // uint3, dim3
#include "simt/whole_store.h"

#define SIMT_VECTORS_1_TO_3(NAME, T)        \
    struct NAME##1 {                        \
        T x;                                \
    };                                      \
    struct alignas(2 * sizeof(T)) NAME##2 { \
        T x, y;                             \
        SIMT_WHOLE_STORE(NAME##2)           \
    };                                      \
    struct NAME##3 {                        \
        T x, y, z;                          \
    };
#define SIMT_VECTOR_4(NAME, T, ALIGNMENT) \
    struct alignas(ALIGNMENT) NAME {      \
        T x, y, z, w;                     \
        SIMT_WHOLE_STORE(NAME)            \
    };

/// Four components up to 4 bytes each: aligned to the whole vector.
#define SIMT_SMALL_VECTORS(NAME, T) \
    SIMT_VECTORS_1_TO_3(NAME, T)    \
    SIMT_VECTOR_4(NAME##4, T, 4 * sizeof(T))

/// Four components of 8 bytes: 16-byte aligned by the old name and by `_16a`, 32-byte
/// aligned by `_32a` (the last two since CUDA 13).
#define SIMT_LARGE_VECTORS(NAME, T)   \
    SIMT_VECTORS_1_TO_3(NAME, T)      \
    SIMT_VECTOR_4(NAME##4, T, 16)     \
    SIMT_VECTOR_4(NAME##4_16a, T, 16) \
    SIMT_VECTOR_4(NAME##4_32a, T, 32)

SIMT_SMALL_VECTORS(char, signed char)
SIMT_SMALL_VECTORS(uchar, unsigned char)
SIMT_SMALL_VECTORS(short, short)
SIMT_SMALL_VECTORS(ushort, unsigned short)
SIMT_SMALL_VECTORS(int, int)
SIMT_SMALL_VECTORS(float, float)
struct uint1 {
    unsigned int x;
};
struct alignas(8) uint2 {
    unsigned int x, y;
    SIMT_WHOLE_STORE(uint2)
};
SIMT_VECTOR_4(uint4, unsigned int, 16)
SIMT_LARGE_VECTORS(long, long)
SIMT_LARGE_VECTORS(ulong, unsigned long)
SIMT_LARGE_VECTORS(longlong, long long)
SIMT_LARGE_VECTORS(ulonglong, unsigned long long)
SIMT_LARGE_VECTORS(double, double)

#undef SIMT_LARGE_VECTORS
#undef SIMT_SMALL_VECTORS
#undef SIMT_VECTOR_4
#undef SIMT_VECTORS_1_TO_3
