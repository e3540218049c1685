/// simt/math/minmax.h: CUDA's global min and max.
///
/// The overload set is CUDA's own: same-type pairs, and int mixed with unsigned of
/// equal size (the result is unsigned). Functions, not templates, so that they win over
/// std::min and std::max after `using namespace std`. The floating-point ones ignore a
/// NaN operand.
#pragma once

#define SIMT_MIN_MAX(R, A, B)                     \
    constexpr R min(const A a, const B b) {       \
        return (R)(a) < (R)(b) ? (R)(a) : (R)(b); \
    }                                             \
    constexpr R max(const A a, const B b) {       \
        return (R)(a) < (R)(b) ? (R)(b) : (R)(a); \
    }
#define SIMT_MIN_MAX_INTEGER(S)                      \
    SIMT_MIN_MAX(S, S, S)                            \
    SIMT_MIN_MAX(unsigned S, unsigned S, unsigned S) \
    SIMT_MIN_MAX(unsigned S, S, unsigned S)          \
    SIMT_MIN_MAX(unsigned S, unsigned S, S)
#define SIMT_MIN_MAX_FLOATING(R, A, B)            \
    constexpr R min(const A a, const B b) {       \
        return a < b || b != b ? (R)(a) : (R)(b); \
    }                                             \
    constexpr R max(const A a, const B b) {       \
        return a > b || b != b ? (R)(a) : (R)(b); \
    }

SIMT_MIN_MAX_INTEGER(int)
SIMT_MIN_MAX_INTEGER(long)
SIMT_MIN_MAX_INTEGER(long long)
SIMT_MIN_MAX_FLOATING(float, float, float)
SIMT_MIN_MAX_FLOATING(double, double, double)
SIMT_MIN_MAX_FLOATING(double, float, double)
SIMT_MIN_MAX_FLOATING(double, double, float)

#undef SIMT_MIN_MAX_FLOATING
#undef SIMT_MIN_MAX_INTEGER
#undef SIMT_MIN_MAX

#if defined(__x86_64__) && !defined(SIMT_CHECK)
// fmaxf and its like. The C library's are calls, at which the caller loses all its
// floating-point registers: half of the time of flash attention's tests. These give the
// same bits. The checker wants the blocks of the source and no others.
#define SIMT_FMIN_FMAX(T, NAME, BETTER)                                     \
    extern "C" {                                                            \
    extern inline __attribute__((gnu_inline, always_inline, const)) T NAME( \
        T a, T b) noexcept {                                                \
        const T chosen = a BETTER b ? a : b; /* b, if one of them is NaN */ \
        return b != b ? a : chosen;                                         \
    }                                                                       \
    }
SIMT_FMIN_FMAX(float, fmaxf, >)
SIMT_FMIN_FMAX(float, fminf, <)
SIMT_FMIN_FMAX(double, fmax, >)
SIMT_FMIN_FMAX(double, fmin, <)
#undef SIMT_FMIN_FMAX
#endif

constexpr unsigned int umin(unsigned int a, unsigned int b) {
    return min(a, b);
}
constexpr unsigned int umax(unsigned int a, unsigned int b) {
    return max(a, b);
}
constexpr long long llmin(long long a, long long b) {
    return min(a, b);
}
constexpr long long llmax(long long a, long long b) {
    return max(a, b);
}
constexpr unsigned long long ullmin(unsigned long long a, unsigned long long b) {
    return min(a, b);
}
constexpr unsigned long long ullmax(unsigned long long a, unsigned long long b) {
    return max(a, b);
}
