/// simt/checked.h: what the headers tell the checker, which the compiler does not.
#pragma once

#include <cstddef>

#ifdef SIMT_CHECK
extern "C" {
/// An atomic access.
void simt_atomic_seen(const void* address, size_t bytes);
/// The same for an operation whose result does not depend on what was there before.
void simt_atomic_stored(const void* address, size_t bytes);
/// A load through the read-only cache, beside the load itself.
void simt_read_only_seen(const void* address, size_t bytes);
/// From here on the running thread's atomic operations are such for its block alone,
/// or, without `of_block`, for all.
void simt_atomic_scope(bool of_block);
}
#else
inline void simt_atomic_seen(const void*, size_t) {}
inline void simt_atomic_stored(const void*, size_t) {}
inline void simt_read_only_seen(const void*, size_t) {}
inline void simt_atomic_scope(bool) {}
#endif

namespace simt::detail {

/// While it lives, the running thread's atomic operations have the scope of its block.
template <bool kOfBlock = true>
struct AtomicScope {
    AtomicScope() {
        if constexpr (kOfBlock) simt_atomic_scope(true);
    }
    ~AtomicScope() {
        if constexpr (kOfBlock) simt_atomic_scope(false);
    }
    AtomicScope(const AtomicScope&) = delete;
    AtomicScope& operator=(const AtomicScope&) = delete;
};

}  // namespace simt::detail
