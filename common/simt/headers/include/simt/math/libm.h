/// simt/math/libm.h: the C and C++ standard math functions, unqualified as in CUDA.
///
/// <math.h> brings std's float and double overloads into the global namespace; being
/// the same entities, they stay unambiguous after `using namespace std`.
///
/// CUDA programs like to define their own global `lerp`. C++20's std::lerp would
/// collide with it, so it is renamed while the header is read, and offered again as a
/// template inside std, where any `lerp` of the program is the better match.
///
/// The special functions of C++17 take a fifth of a small file's time: a program that
/// includes <cmath> gets them by the file of that name beside cuda_runtime.h.
#pragma once

#include <cstddef>

#if !defined(_GLIBCXX_CMATH) && !defined(_GLIBCXX_MATH_H)
#define SIMT_READS_CMATH
#define lerp simt_std_lerp
#pragma push_macro("_GLIBCXX_USE_STD_SPEC_FUNCS")
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#endif
#include <math.h>
#ifdef SIMT_READS_CMATH
#undef lerp
#undef SIMT_READS_CMATH
#pragma pop_macro("_GLIBCXX_USE_STD_SPEC_FUNCS")
#if __cplusplus > 201703L
namespace std {
/// std::lerp of C++20 under its own name.
template <class A, class B, class T>
constexpr auto lerp(A a, B b, T t) noexcept {
    return ::simt_std_lerp(a, b, t);
}
}  // namespace std
#endif
#endif
