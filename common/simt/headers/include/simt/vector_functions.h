/// simt/vector_functions.h: the make_<type><n>(x, y, ...) functions of the built-in
/// vectors.
#pragma once
#include "simt/vector_types.h"

#define SIMT_MAKE_1_TO_3(NAME, T)                     \
    constexpr NAME##1 make_##NAME##1(T x) {           \
        return NAME##1 {x};                           \
    }                                                 \
    constexpr NAME##2 make_##NAME##2(T x, T y) {      \
        return NAME##2 {x, y};                        \
    }                                                 \
    constexpr NAME##3 make_##NAME##3(T x, T y, T z) { \
        return NAME##3 {x, y, z};                     \
    }
#define SIMT_MAKE_4(NAME, T)                         \
    constexpr NAME make_##NAME(T x, T y, T z, T w) { \
        return NAME{x, y, z, w};                     \
    }
#define SIMT_MAKE_SMALL(NAME, T) \
    SIMT_MAKE_1_TO_3(NAME, T)    \
    SIMT_MAKE_4(NAME##4, T)
#define SIMT_MAKE_LARGE(NAME, T) \
    SIMT_MAKE_1_TO_3(NAME, T)    \
    SIMT_MAKE_4(NAME##4, T)      \
    SIMT_MAKE_4(NAME##4_16a, T)  \
    SIMT_MAKE_4(NAME##4_32a, T)

SIMT_MAKE_SMALL(char, signed char)
SIMT_MAKE_SMALL(uchar, unsigned char)
SIMT_MAKE_SMALL(short, short)
SIMT_MAKE_SMALL(ushort, unsigned short)
SIMT_MAKE_SMALL(int, int)
SIMT_MAKE_SMALL(uint, unsigned int)
SIMT_MAKE_SMALL(float, float)
SIMT_MAKE_LARGE(long, long)
SIMT_MAKE_LARGE(ulong, unsigned long)
SIMT_MAKE_LARGE(longlong, long long)
SIMT_MAKE_LARGE(ulonglong, unsigned long long)
SIMT_MAKE_LARGE(double, double)

#undef SIMT_MAKE_LARGE
#undef SIMT_MAKE_SMALL
#undef SIMT_MAKE_4
#undef SIMT_MAKE_1_TO_3
