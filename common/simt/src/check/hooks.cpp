// What the compiler calls in a program built with simt-c++ --check.
//
// The code is compiled with -fsanitize=thread, but linked with this file in place of
// ThreadSanitizer's runtime. Each load and store of the program arrives here, with the
// address that the call returns to, which is the instruction's.
//
// Source: the interface between compiler and runtime is described by LLVM's
// compiler-rt/lib/tsan/rtl/tsan_interface.h.

#include <cstddef>
#include <cstring>

#include "checker.h"

namespace {

using simt::check::access;

// Runs in the hook itself, so that frame 0 is the hook's and frame 1 the program's.
#define SIMT_ACCESS(P, N, WRITE, ATOMIC, STRUCTURE)                            \
    access(static_cast<char*>(const_cast<void*>(static_cast<const void*>(P))), \
           N,                                                                  \
           WRITE,                                                              \
           ATOMIC,                                                             \
           STRUCTURE,                                                          \
           reinterpret_cast<uintptr_t>(__builtin_return_address(0)),           \
           static_cast<void* const*>(__builtin_frame_address(0)))

}  // namespace

extern "C" {

#define SIMT_HOOKS(N)                           \
    void __tsan_read##N(void* p) {              \
        SIMT_ACCESS(p, N, false, false, false); \
    }                                           \
    void __tsan_write##N(void* p) {             \
        SIMT_ACCESS(p, N, true, false, false);  \
    }                                           \
    void __tsan_unaligned_read##N(void* p) {    \
        SIMT_ACCESS(p, N, false, false, false); \
    }                                           \
    void __tsan_unaligned_write##N(void* p) {   \
        SIMT_ACCESS(p, N, true, false, false);  \
    }                                           \
    void __tsan_volatile_read##N(void* p) {     \
        SIMT_ACCESS(p, N, false, false, false); \
    }                                           \
    void __tsan_volatile_write##N(void* p) {    \
        SIMT_ACCESS(p, N, true, false, false);  \
    }
SIMT_HOOKS(1)
SIMT_HOOKS(2)
SIMT_HOOKS(4)
SIMT_HOOKS(8)
SIMT_HOOKS(16)
#undef SIMT_HOOKS

void __tsan_read_range(void* p, size_t n) {
    SIMT_ACCESS(p, n, false, false, true);
}
void __tsan_write_range(void* p, size_t n) {
    SIMT_ACCESS(p, n, true, false, true);
}
void* __tsan_memcpy(void* to, const void* from, size_t n) {
    SIMT_ACCESS(from, n, false, false, true);
    SIMT_ACCESS(to, n, true, false, true);
    return std::memcpy(to, from, n);
}
void* __tsan_memmove(void* to, const void* from, size_t n) {
    SIMT_ACCESS(from, n, false, false, true);
    SIMT_ACCESS(to, n, true, false, true);
    return std::memmove(to, from, n);
}
void* __tsan_memset(void* to, int value, size_t n) {
    SIMT_ACCESS(to, n, true, false, true);
    return std::memset(to, value, n);
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

// CUDA's atomics announce themselves by simt_atomic_seen; these only do the operation.
#define SIMT_ATOMICS(BITS, T)                                           \
    T __tsan_atomic##BITS##_load(const volatile T* p, int) {            \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                    \
    }                                                                   \
    void __tsan_atomic##BITS##_store(volatile T* p, T v, int) {         \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                       \
    }                                                                   \
    T __tsan_atomic##BITS##_exchange(volatile T* p, T v, int) {         \
        return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);             \
    }                                                                   \
    T __tsan_atomic##BITS##_fetch_add(volatile T* p, T v, int) {        \
        return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);              \
    }                                                                   \
    T __tsan_atomic##BITS##_fetch_sub(volatile T* p, T v, int) {        \
        return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST);              \
    }                                                                   \
    T __tsan_atomic##BITS##_fetch_and(volatile T* p, T v, int) {        \
        return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST);              \
    }                                                                   \
    T __tsan_atomic##BITS##_fetch_or(volatile T* p, T v, int) {         \
        return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);               \
    }                                                                   \
    T __tsan_atomic##BITS##_fetch_xor(volatile T* p, T v, int) {        \
        return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST);              \
    }                                                                   \
    int __tsan_atomic##BITS##_compare_exchange_strong(                  \
        volatile T* p, T* expected, T v, int, int) {                    \
        return __atomic_compare_exchange_n(                             \
            p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    }                                                                   \
    int __tsan_atomic##BITS##_compare_exchange_weak(                    \
        volatile T* p, T* expected, T v, int, int) {                    \
        return __atomic_compare_exchange_n(                             \
            p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    }
SIMT_ATOMICS(8, uint8_t)
SIMT_ATOMICS(16, uint16_t)
SIMT_ATOMICS(32, uint32_t)
SIMT_ATOMICS(64, uint64_t)
#undef SIMT_ATOMICS
void __tsan_atomic_thread_fence(int) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {}

void simt_atomic_seen(const void* p, size_t bytes) {
    SIMT_ACCESS(p, bytes, true, true, false);
}

// -fsanitize-coverage=trace-pc: one call for each basic block (--check=count).
void __sanitizer_cov_trace_pc() {
    simt::check::enter_basic_block(
        reinterpret_cast<uintptr_t>(__builtin_return_address(0)),
        static_cast<void* const*>(__builtin_frame_address(0)));
}

}  // extern "C"
