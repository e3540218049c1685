// Floating-point functions with one right answer: IEEE arithmetic in every rounding
// mode, conversions, rounding to integers.
#include "digest.h"

// Numbers near 1, and most of them too large for an integer.
#define DIGEST_TO_INTEGER(T, MODE)                                  \
    DIGEST(float2##T##MODE, float, __float2##T##MODE(a))            \
    DIGEST(double2##T##MODE, double, __double2##T##MODE(a))         \
    DIGEST(big_float2##T##MODE, float, __float2##T##MODE(a * 1e9f)) \
    DIGEST(big_double2##T##MODE, double, __double2##T##MODE(a * 1e16))
#define DIGEST_ROUNDED(MODE)                                          \
    DIGEST_TO_INTEGER(int, MODE)                                      \
    DIGEST_TO_INTEGER(uint, MODE)                                     \
    DIGEST_TO_INTEGER(ll, MODE)                                       \
    DIGEST_TO_INTEGER(ull, MODE)                                      \
    DIGEST(fadd##MODE, float, __fadd##MODE(a, b))                     \
    DIGEST(fsub##MODE, float, __fsub##MODE(a, b))                     \
    DIGEST(fmul##MODE, float, __fmul##MODE(a, b))                     \
    DIGEST(fdiv##MODE, float, __fdiv##MODE(a, b))                     \
    DIGEST(fmaf##MODE, float, __fmaf##MODE(a, b, c))                  \
    DIGEST(frcp##MODE, float, __frcp##MODE(a))                        \
    DIGEST(fsqrt##MODE, float, __fsqrt##MODE(a))                      \
    DIGEST(fma##MODE, double, __fma##MODE(a, b, c))                   \
    DIGEST(drcp##MODE, double, __drcp##MODE(a))                       \
    DIGEST(dsqrt##MODE, double, __dsqrt##MODE(a))                     \
    DIGEST(dadd##MODE, double, __dadd##MODE(a, b))                    \
    DIGEST(dsub##MODE, double, __dsub##MODE(a, b))                    \
    DIGEST(dmul##MODE, double, __dmul##MODE(a, b))                    \
    DIGEST(ddiv##MODE, double, __ddiv##MODE(a, b))                    \
    DIGEST(double2float##MODE, double, __double2float##MODE(a))       \
    DIGEST(int2float##MODE, unsigned int, __int2float##MODE(a))       \
    DIGEST(uint2float##MODE, unsigned int, __uint2float##MODE(a))     \
    DIGEST(ll2float##MODE, long long, __ll2float##MODE(a))            \
    DIGEST(ull2float##MODE, unsigned long long, __ull2float##MODE(a)) \
    DIGEST(ll2double##MODE, long long, __ll2double##MODE(a))          \
    DIGEST(ull2double##MODE, unsigned long long, __ull2double##MODE(a))

DIGEST_ROUNDED(_rn)
DIGEST_ROUNDED(_rz)
DIGEST_ROUNDED(_rd)
DIGEST_ROUNDED(_ru)
DIGEST(frsqrt_rn, float, __frsqrt_rn(a))
DIGEST(int2double_rn, unsigned int, __int2double_rn(a))
DIGEST(uint2double_rn, unsigned int, __uint2double_rn(a))
DIGEST(saturatef, float, __saturatef(a))
DIGEST(hiint, double, __double2hiint(a))
DIGEST(loint, double, __double2loint(a))
DIGEST(hiloint, int, __hiloint2double(a & 0x7fefffff, b))

// floorf for float, floor for double; and what has one name for both.
#define DIGEST_BOTH(NAME, ...)                        \
    DIGEST(NAME##_float, float, NAME##f(__VA_ARGS__)) \
    DIGEST(NAME##_double, double, NAME(__VA_ARGS__))
#define DIGEST_SAME(NAME, ...)               \
    DIGEST(NAME##_float, float, __VA_ARGS__) \
    DIGEST(NAME##_double, double, __VA_ARGS__)

DIGEST_BOTH(floor, a)
DIGEST_BOTH(ceil, a)
DIGEST_BOTH(trunc, a)
DIGEST_BOTH(rint, a)
DIGEST_BOTH(nearbyint, a)
DIGEST_BOTH(round, a)
DIGEST_BOTH(fabs, a)
DIGEST_BOTH(logb, a)
DIGEST_BOTH(fmin, a, b)
DIGEST_BOTH(fmax, a, b)
DIGEST_BOTH(fdim, a, b)
DIGEST_BOTH(fmod, a, b)
DIGEST_BOTH(remainder, a, b)
DIGEST_BOTH(copysign, a, b)
DIGEST_BOTH(nextafter, a, b)
DIGEST_SAME(min, min(a, b))
DIGEST_SAME(max, max(a, b))
DIGEST_BOTH(sqrt, a)
DIGEST_BOTH(ilogb, a)
DIGEST_BOTH(llrint, fmod(a, decltype(a)(1e9)))
DIGEST_BOTH(lround, fmod(a, decltype(a)(1e9)))
DIGEST_BOTH(ldexp, a, int(digest::result_bits(b) % 40))
DIGEST_SAME(divide, a / b)
DIGEST_SAME(isnan, bool(isnan(a)))
DIGEST_SAME(isinf, bool(isinf(a)))
DIGEST_SAME(isfinite, bool(isfinite(a)))
DIGEST_SAME(signbit, bool(signbit(a)))
