/// simt/whole_store.h: a vector is stored by one instruction.
///
/// nvcc stores `b[i] = make_float4(x, y, z, w)` with one instruction of 16 bytes. Other
/// compilers build the vector in place, with a store for each member, and the checker
/// would see four accesses. In programs for the checker an assignment from a temporary
/// therefore goes through one wide store. (They copy a float4 by wide accesses anyway.)
#pragma once

#ifdef SIMT_CHECK
#include <initializer_list>
#include <type_traits>

namespace simt::detail {

/// Stores with the widest instructions that the alignment allows, up to 16 bytes.
template <class T>
[[gnu::always_inline]] inline void store_whole(T& to, const T& from) {
    constexpr int kWidth = alignof(T) < 16 ? alignof(T) : 16;
    typedef unsigned char Wide
        __attribute__((vector_size(kWidth), aligned(kWidth), may_alias));
    for (unsigned i = 0; i < sizeof(T) / kWidth; ++i)
        reinterpret_cast<Wide*>(&to)[i] = reinterpret_cast<const Wide*>(&from)[i];
}

/// The vector that `= {x, y}` means.
template <class T, class E>
[[gnu::always_inline]] constexpr T vector_of(std::initializer_list<E> list) {
    using Member = decltype(T::x);
    const E* const e = list.begin();
    T vector{};
    if (list.size() > 0) vector.x = static_cast<Member>(e[0]);
    if (list.size() > 1) vector.y = static_cast<Member>(e[1]);
    if constexpr (requires { vector.w; }) {
        if (list.size() > 2) vector.z = static_cast<Member>(e[2]);
        if (list.size() > 3) vector.w = static_cast<Member>(e[3]);
    }
    return vector;
}

}  // namespace simt::detail

// A template is never a copy or move assignment operator: T stays trivially copyable,
// and an aggregate if it was one. The defaulted operator makes temporaries prefer the
// template, since there is no implicit move assignment beside it.
#define SIMT_WHOLE_STORE(T)                                          \
    T& operator=(const T&) = default;                                \
    template <class simt_T>                                          \
    requires std::is_same_v<simt_T, T>                               \
    [[gnu::always_inline]] constexpr T& operator=(simt_T&& simt_v) { \
        if (std::is_constant_evaluated())                            \
            *this = static_cast<const simt_T&>(simt_v);              \
        else                                                         \
            simt::detail::store_whole<simt_T>(*this, simt_v);        \
        return *this;                                                \
    }                                                                \
    template <class simt_E>                                          \
    [[gnu::always_inline]] constexpr T& operator=(                   \
        std::initializer_list<simt_E> simt_v) {                      \
        return *this = simt::detail::vector_of<T>(simt_v);           \
    }
#else
#define SIMT_WHOLE_STORE(T)
#endif
