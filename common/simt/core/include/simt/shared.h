/// simt/shared.h: shared memory.
///
/// `__shared__ T x[N];` is rewritten to
///     struct S { T x[N]; }; auto& x = simt::shared<S>("x").x;
/// `extern __shared__ T x[];` is rewritten to
///     T* x = simt::dynamic_shared<T>();
#pragma once

#include "core.h"

namespace simt {

namespace detail {

/// The block's instance of the shared variable that `key` stands for: made and filled
/// with 0xFF (NaN) by the first thread that comes here.
void* shared_slot(const void* key,
                  size_t size,
                  size_t align,
                  const char* name,
                  const char* file,
                  int line);

/// Start of the launch's dynamic shared memory; nullptr when the launch asked for none.
void* dynamic_smem();

/// True if the address lies in the calling block's shared memory.
bool is_shared(const void* address);

template <class S>
inline constexpr char shared_key = 0;

}  // namespace detail

/// The block's instance of shared variable S.
///
/// @tparam S    a type that belongs to this one declaration
/// @param name  the variable's name, for reports
template <class S>
S& shared(const char* name, SIMT_OWN_SITE) {
    return *static_cast<S*>(detail::shared_slot(
        &detail::shared_key<S>, sizeof(S), alignof(S), name, file, line));
}

/// The launch's dynamic shared memory, seen as an array of T.
template <class T>
T* dynamic_shared() {
    return static_cast<T*>(detail::dynamic_smem());
}

}  // namespace simt
