/// simt/atomics.h: CUDA's atomic functions. All are relaxed, as in CUDA; the `_block`
/// and `_system` variants do the same, because a CPU has one coherence domain. Only the
/// checker tells `_block` apart.
///
/// The functions take the value in the type of the memory (`T` deduces from the address
/// alone), so that atomicAdd(&ull, 1) works as it does with CUDA's overloads. A type
/// for which CUDA has no such function, as atomicMax(float*), does not match, so that a
/// program can define its own.
#pragma once

#include <type_traits>

#include "simt/checked.h"
#include "simt/sync.h"
#include "simt/vector_types.h"

namespace simt::detail {

/// What each atomic operation does first.
template <class T>
void begin_atomic(const T* address) {
    atomic_begins();
    simt_atomic_seen(address, sizeof(T));
}

template <class T>
using Bits = std::conditional_t<sizeof(T) == 8,
                                uint64_t,
                                std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;

template <class T>
inline constexpr bool is_int32 =
    std::is_same_v<T, int> || std::is_same_v<T, unsigned int>;
// `long` is 64 bits wide on Linux, where CUDA programs use it for (unsigned) long long.
template <class T>
inline constexpr bool is_int64 = std::is_integral_v<T> && sizeof(T) == 8;
template <class T>
inline constexpr bool is_int = is_int32<T> || is_int64<T>;
/// half, __nv_bfloat16 and their pairs, recognised by their size: the types themselves
/// are defined in another header.
template <class T>
inline constexpr bool is_half_like =
    std::is_class_v<T>&& std::is_trivially_copyable_v<T> &&
    (sizeof(T) == 2 || sizeof(T) == 4);
template <class T>
inline constexpr bool is_addable = is_int<T> || std::is_same_v<T, float> ||
                                   std::is_same_v<T, double> || is_half_like<T>;
template <class T>
inline constexpr bool is_float_vector =
    std::is_same_v<T, float2> || std::is_same_v<T, float4>;
template <class T>
inline constexpr bool is_exchangeable = is_int<T> || std::is_same_v<T, float>;
template <class T>
inline constexpr bool is_comparable = is_int<T> || std::is_same_v<T, unsigned short>;

/// Replaces *address by f(*address) in one step; returns the old value.
template <class T, class F>
T atomic_update(T* address, F f) {
    simt::detail::begin_atomic(address);
    auto* bits = reinterpret_cast<Bits<T>*>(address);
    Bits<T> seen = __atomic_load_n(bits, __ATOMIC_RELAXED);
    for (;;) {
        T old;
        __builtin_memcpy(&old, &seen, sizeof old);
        const T next = f(old);
        Bits<T> next_bits;
        __builtin_memcpy(&next_bits, &next, sizeof next);
        if (next_bits == seen) {
            spin_hint();  // nothing changes: this may be somebody polling
            return old;
        }
        if (__atomic_compare_exchange_n(
                bits, &seen, next_bits, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return old;
    }
}

/// The sum of two values; pairs of halves are added component by component.
template <class T>
T atomic_sum(T a, T b) {
    if constexpr (std::is_class_v<T> && sizeof(T) == 4) {
        T r = a;
        r.x = atomic_sum(a.x, b.x);
        r.y = atomic_sum(a.y, b.y);
        return r;
    } else {
        return static_cast<T>(a + b);
    }
}

}  // namespace simt::detail

/// Adds; returns the old value. int, unsigned, (unsigned) long long, float, double,
/// half, half2, __nv_bfloat16, __nv_bfloat162.
template <class T>
requires(simt::detail::is_addable<T>) T
    atomicAdd(T* address, std::type_identity_t<T> value) {
    using namespace simt::detail;
    if constexpr (std::is_integral_v<T>) {
        simt::detail::begin_atomic(address);
        if (value == 0) spin_hint();  // atomicAdd(p, 0) is how programs read in a loop
        return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
    } else {
        return atomic_update(address,
                             [value](T old) { return atomic_sum(old, value); });
    }
}

/// Adds member by member, each in one step; returns the old members. sm_90 and later.
template <class T>
requires(simt::detail::is_float_vector<T>) T
    atomicAdd(T* address, std::type_identity_t<T> value) {
    T old;
    old.x = atomicAdd(&address->x, value.x);
    old.y = atomicAdd(&address->y, value.y);
    if constexpr (std::is_same_v<T, float4>) {
        old.z = atomicAdd(&address->z, value.z);
        old.w = atomicAdd(&address->w, value.w);
    }
    return old;
}

/// Subtracts; returns the old value. int, unsigned.
template <class T>
requires(simt::detail::is_int32<T>) T
    atomicSub(T* address, std::type_identity_t<T> value) {
    simt::detail::begin_atomic(address);
    return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);
}

/// Stores; returns the old value. 4- and 8-byte arithmetic types.
template <class T>
requires(simt::detail::is_exchangeable<T>) T
    atomicExch(T* address, std::type_identity_t<T> value) {
    using namespace simt::detail;
    atomic_begins();
    simt_atomic_stored(address, sizeof(T));
    T old;
    __atomic_exchange(address, &value, &old, __ATOMIC_RELAXED);
    if (__builtin_memcmp(&old, &value, sizeof old) == 0) spin_hint();
    return old;
}

/// Stores `value` if memory holds `expected`; returns the old value. 2-, 4- and 8-byte
/// integers.
template <class T>
requires(simt::detail::is_comparable<T>) T atomicCAS(T* address,
                                                     std::type_identity_t<T> expected,
                                                     std::type_identity_t<T> value) {
    simt::detail::begin_atomic(address);
    T old = expected;
    const bool stored = __atomic_compare_exchange_n(
        address, &old, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    if (!stored || expected == value) simt::detail::spin_hint();
    return old;
}

/// Bitwise and; returns the old value. Integers.
template <class T>
requires(simt::detail::is_int<T>) T
    atomicAnd(T* address, std::type_identity_t<T> value) {
    simt::detail::begin_atomic(address);
    const T old = __atomic_fetch_and(address, value, __ATOMIC_RELAXED);
    if ((old & value) == old) simt::detail::spin_hint();
    return old;
}
/// Bitwise or; returns the old value. Integers.
template <class T>
requires(simt::detail::is_int<T>) T
    atomicOr(T* address, std::type_identity_t<T> value) {
    simt::detail::begin_atomic(address);
    const T old = __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
    if ((old | value) == old) simt::detail::spin_hint();
    return old;
}
/// Bitwise exclusive or; returns the old value. Integers.
template <class T>
requires(simt::detail::is_int<T>) T
    atomicXor(T* address, std::type_identity_t<T> value) {
    simt::detail::begin_atomic(address);
    if (value == 0) simt::detail::spin_hint();
    return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);
}
/// The smaller of both values; returns the old value. Integers.
template <class T>
requires(simt::detail::is_int<T>) T
    atomicMin(T* address, std::type_identity_t<T> value) {
    return simt::detail::atomic_update(
        address, [value](T old) { return value < old ? value : old; });
}
/// The larger of both values; returns the old value. Integers.
template <class T>
requires(simt::detail::is_int<T>) T
    atomicMax(T* address, std::type_identity_t<T> value) {
    return simt::detail::atomic_update(
        address, [value](T old) { return old < value ? value : old; });
}
/// old >= limit ? 0 : old + 1; returns the old value.
inline unsigned atomicInc(unsigned* address, unsigned limit) {
    return simt::detail::atomic_update(
        address, [limit](unsigned old) { return old >= limit ? 0u : old + 1u; });
}
/// old == 0 or old > limit ? limit : old - 1; returns the old value.
inline unsigned atomicDec(unsigned* address, unsigned limit) {
    return simt::detail::atomic_update(address, [limit](unsigned old) {
        return old == 0 || old > limit ? limit : old - 1u;
    });
}

#define SIMT_ATOMIC_SCOPES(NAME)                 \
    template <class T, class... V>               \
    T NAME##_block(T* address, V... values) {    \
        const simt::detail::AtomicScope<> scope; \
        return NAME(address, values...);         \
    }                                            \
    template <class T, class... V>               \
    T NAME##_system(T* address, V... values) {   \
        return NAME(address, values...);         \
    }
SIMT_ATOMIC_SCOPES(atomicAdd)
SIMT_ATOMIC_SCOPES(atomicSub)
SIMT_ATOMIC_SCOPES(atomicExch)
SIMT_ATOMIC_SCOPES(atomicCAS)
SIMT_ATOMIC_SCOPES(atomicAnd)
SIMT_ATOMIC_SCOPES(atomicOr)
SIMT_ATOMIC_SCOPES(atomicXor)
SIMT_ATOMIC_SCOPES(atomicMin)
SIMT_ATOMIC_SCOPES(atomicMax)
SIMT_ATOMIC_SCOPES(atomicInc)
SIMT_ATOMIC_SCOPES(atomicDec)
#undef SIMT_ATOMIC_SCOPES
