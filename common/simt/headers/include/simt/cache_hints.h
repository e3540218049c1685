/// simt/cache_hints.h: loads and stores with cache hints (__ldg, __stcs, ...). There is
/// no cache to hint at here: they are plain loads and stores of scalars and vectors.
#pragma once
#include <type_traits>

#include "simt/checked.h"

/// Loads what nobody writes while the kernel runs: the checker holds the program to it.
template <class T>
inline T __ldg(const T* address) {
    static_assert(std::is_trivially_copyable_v<T>,
                  "__ldg loads scalars and built-in vectors");
    simt_read_only_seen(address, sizeof(T));
    return *address;
}

#define SIMT_CACHED_LOAD(NAME)                                      \
    template <class T>                                              \
    inline T NAME(const T* address) {                               \
        static_assert(std::is_trivially_copyable_v<T>,              \
                      #NAME " loads scalars and built-in vectors"); \
        return *address;                                            \
    }
#define SIMT_CACHED_STORE(NAME)                                      \
    template <class T>                                               \
    inline void NAME(T* address, std::type_identity_t<T> value) {    \
        static_assert(std::is_trivially_copyable_v<T>,               \
                      #NAME " stores scalars and built-in vectors"); \
        *address = value;                                            \
    }
SIMT_CACHED_LOAD(__ldcg)
SIMT_CACHED_LOAD(__ldca)
SIMT_CACHED_LOAD(__ldcs)
SIMT_CACHED_LOAD(__ldlu)
SIMT_CACHED_LOAD(__ldcv)
SIMT_CACHED_STORE(__stwb)
SIMT_CACHED_STORE(__stcg)
SIMT_CACHED_STORE(__stcs)
SIMT_CACHED_STORE(__stwt)
#undef SIMT_CACHED_STORE
#undef SIMT_CACHED_LOAD
