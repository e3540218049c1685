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

#include "access.h"
#include "checker.h"
#include "quick.h"

namespace {

using namespace simt::check;

// In the hook itself: where the program goes on, and the frame of its function.
#define SIMT_PC reinterpret_cast<uintptr_t>(__builtin_return_address(0))
#define SIMT_FRAME (*static_cast<void* const* const*>(__builtin_frame_address(0)))
#define SIMT_ACCESS(P, N, FLAGS)                                             \
    any_access(const_cast<char*>(reinterpret_cast<const volatile char*>(P)), \
               N,                                                            \
               FLAGS,                                                        \
               SIMT_PC,                                                      \
               SIMT_FRAME)

/// The object of CUDA's last atomic function, which has been announced: the compiler's
/// own announcements of how it is done are left out. That is one operation, or one load
/// and then comparisons until one succeeds.
struct Announced {
    const volatile void* object = nullptr;
    bool loaded = false;
};
thread_local Announced announced;

/// True if the operation is part of the function that has been announced: those are
/// relaxed.
/// @param flags  of its memory order
bool is_announced(const volatile void* p, unsigned flags) {
    return p == announced.object && flags == 0;
}
bool is_announced_load(const volatile void* p, unsigned flags) {
    const bool first = is_announced(p, flags) && !announced.loaded;
    if (first) announced.loaded = true;
    return first;
}

/// Does the simulator access on a thread's behalf, or the thread a local variable of
/// its own? Asked in the hook, before any table: where matrices are kept in arrays,
/// most accesses are such.
[[gnu::always_inline]] inline bool is_private(const void* p,
                                              const simt::detail::Worker* w) {
    if (!w || !w->thread) return false;
    if (w->in_runtime) return true;
    const simt::detail::Fiber& fiber = *w->fiber;
    return static_cast<size_t>(static_cast<const char*>(p) - fiber.low) < fiber.size;
}

/// The first access after the running thread has changed, and the unusual ones.
template <uint32_t N, bool kWrites>
[[gnu::noinline]] void other_access(char* p, uintptr_t pc, void* const* frame) {
    simt::detail::Worker* w = simt::detail::worker;
    if (w && w->thread && !w->in_runtime && w->thread != running.thread) {
        w->in_runtime = true;
        if (any_overwrites) settle_overwrites();
        order_runs(state_of(*w->block).order, w->thread, w->thread->rank);
        const bool done = quick_access<N, kWrites>(p, pc, frame, *w);
        w->in_runtime = false;
        if (done) return;
    }
    access(p, N, kWrites ? unsigned{kWrite} : 0u, pc, frame);
}

template <uint32_t N, bool kWrites>
[[gnu::always_inline]] inline void usual_access(void* address,
                                                uintptr_t pc,
                                                void* const* frame) {
    auto* p = static_cast<char*>(address);
    simt::detail::Worker* w = simt::detail::worker;
    if (is_private(p, w)) return;
    // In host code the simulator is always at work.
    if (w && !w->in_runtime) [[likely]] {
        w->in_runtime.set_untold(true);
        const bool done = quick_access<N, kWrites>(p, pc, frame, *w);
        w->in_runtime.set_untold(false);
        if (done) [[likely]]
            return;
    }
    other_access<N, kWrites>(p, pc, frame);
}

[[gnu::always_inline]] inline void any_access(
    char* p, size_t n, unsigned flags, uintptr_t pc, void* const* frame) {
    if (!is_private(p, simt::detail::worker)) access(p, n, flags, pc, frame);
}

unsigned flags_of(int order) {
    const bool both = order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
    const bool acquires =
        both || order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME;
    const bool releases = both || order == __ATOMIC_RELEASE;
    return (acquires ? unsigned{kAcquires} : 0u) |
           (releases ? unsigned{kReleases} : 0u);
}
/// Of a comparison: what fails may acquire, too.
unsigned flags_of(int order, int failure) {
    return flags_of(order) | (flags_of(failure) & kAcquires);
}

template <class T>
bool compare_exchange(volatile T* p,
                      T* expected,
                      T value,
                      unsigned flags,
                      uintptr_t pc,
                      void* const* frame) {
    auto* const address = const_cast<char*>(reinterpret_cast<const volatile char*>(p));
    if (!is_announced(p, flags))
        any_access(address, sizeof(T), kWrite | kAtomic | flags, pc, frame);
    const bool done = __atomic_compare_exchange_n(
        p, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    if (done || !announced.loaded) announced.object = nullptr;
    return done;
}

}  // namespace

extern "C" {

#define SIMT_HOOKS(N)                                   \
    void __tsan_read##N(void* p) {                      \
        usual_access<N, false>(p, SIMT_PC, SIMT_FRAME); \
    }                                                   \
    void __tsan_write##N(void* p) {                     \
        usual_access<N, true>(p, SIMT_PC, SIMT_FRAME);  \
    }                                                   \
    void __tsan_unaligned_read##N(void* p) {            \
        SIMT_ACCESS(p, N, 0);                           \
    }                                                   \
    void __tsan_unaligned_write##N(void* p) {           \
        SIMT_ACCESS(p, N, kWrite);                      \
    }                                                   \
    void __tsan_volatile_read##N(void* p) {             \
        SIMT_ACCESS(p, N, kVolatile);                   \
    }                                                   \
    void __tsan_volatile_write##N(void* p) {            \
        SIMT_ACCESS(p, N, kWrite | kVolatile);          \
    }
SIMT_HOOKS(1)
SIMT_HOOKS(2)
SIMT_HOOKS(4)
SIMT_HOOKS(8)
SIMT_HOOKS(16)
#undef SIMT_HOOKS

void __tsan_read_range(void* p, size_t n) {
    SIMT_ACCESS(p, n, kStructure);
}
void __tsan_write_range(void* p, size_t n) {
    SIMT_ACCESS(p, n, kWrite | kStructure);
}
// Large copies and fills are calls of the C library. The program is linked such that
// they come here (--wrap); __real_ is the C library's own.
void* __real_memcpy(void* to, const void* from, size_t n);
void* __real_memmove(void* to, const void* from, size_t n);
void* __real_memset(void* to, int value, size_t n);

void* __tsan_memcpy(void* to, const void* from, size_t n) {
    SIMT_ACCESS(from, n, kStructure);
    SIMT_ACCESS(to, n, kWrite | kStructure);
    return __real_memcpy(to, from, n);
}
void* __tsan_memmove(void* to, const void* from, size_t n) {
    SIMT_ACCESS(from, n, kStructure);
    SIMT_ACCESS(to, n, kWrite | kStructure);
    return __real_memmove(to, from, n);
}
void* __tsan_memset(void* to, int value, size_t n) {
    SIMT_ACCESS(to, n, kWrite | kStructure);
    return __real_memset(to, value, n);
}

void* __wrap_memcpy(void* to, const void* from, size_t n) {
    if (n != 0 && is_watched_call(from, SIMT_PC)) SIMT_ACCESS(from, n, kStructure);
    if (n != 0 && is_watched_call(to, SIMT_PC)) SIMT_ACCESS(to, n, kWrite | kStructure);
    return __real_memcpy(to, from, n);
}
void* __wrap_memmove(void* to, const void* from, size_t n) {
    if (n != 0 && is_watched_call(from, SIMT_PC)) SIMT_ACCESS(from, n, kStructure);
    if (n != 0 && is_watched_call(to, SIMT_PC)) SIMT_ACCESS(to, n, kWrite | kStructure);
    return __real_memmove(to, from, n);
}
void* __wrap_memset(void* to, int value, size_t n) {
    if (n != 0 && is_watched_call(to, SIMT_PC)) SIMT_ACCESS(to, n, kWrite | kStructure);
    return __real_memset(to, value, n);
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
// An object's pointer to its virtual functions: constructors write it.
void __tsan_vptr_update(void** p, void*) {
    usual_access<sizeof(void*), true>(p, SIMT_PC, SIMT_FRAME);
}
void __tsan_vptr_read(void** p) {
    usual_access<sizeof(void*), false>(p, SIMT_PC, SIMT_FRAME);
}

// Atomic operations other than those of simt/atomics.h, which announce themselves:
// cuda::atomic, cuda::barrier and the like.
#define SIMT_ATOMIC(P, N, FLAGS, ORDER) \
    if (!is_announced(P, flags_of(ORDER))) SIMT_ACCESS(P, N, (FLAGS) | flags_of(ORDER))
#define SIMT_UPDATE(BITS, T, NAME)                                  \
    T __tsan_atomic##BITS##_##NAME(volatile T* p, T v, int order) { \
        SIMT_ATOMIC(p, sizeof(T), kWrite | kAtomic, order);         \
        announced.object = nullptr;                                 \
        return __atomic_##NAME(p, v, __ATOMIC_SEQ_CST);             \
    }
#define SIMT_ATOMICS(BITS, T)                                                \
    T __tsan_atomic##BITS##_load(const volatile T* p, int order) {           \
        if (!is_announced_load(p, flags_of(order)))                          \
            SIMT_ACCESS(p, sizeof(T), kRelaxed | flags_of(order));           \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                         \
    }                                                                        \
    void __tsan_atomic##BITS##_store(volatile T* p, T v, int order) {        \
        SIMT_ACCESS(p, sizeof(T), kWrite | kRelaxed | flags_of(order));      \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                            \
    }                                                                        \
    T __tsan_atomic##BITS##_exchange(volatile T* p, T v, int order) {        \
        SIMT_ATOMIC(p, sizeof(T), kWrite | kAtomic | kStores, order);        \
        announced.object = nullptr;                                          \
        return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                  \
    }                                                                        \
    SIMT_UPDATE(BITS, T, fetch_add)                                          \
    SIMT_UPDATE(BITS, T, fetch_sub)                                          \
    SIMT_UPDATE(BITS, T, fetch_and)                                          \
    SIMT_UPDATE(BITS, T, fetch_or)                                           \
    SIMT_UPDATE(BITS, T, fetch_xor)                                          \
    int __tsan_atomic##BITS##_compare_exchange_strong(                       \
        volatile T* p, T* expected, T v, int order, int failure) {           \
        return compare_exchange(                                             \
            p, expected, v, flags_of(order, failure), SIMT_PC, SIMT_FRAME);  \
    }                                                                        \
    int __tsan_atomic##BITS##_compare_exchange_weak(                         \
        volatile T* p, T* expected, T v, int order, int failure) {           \
        return compare_exchange(                                             \
            p, expected, v, flags_of(order, failure), SIMT_PC, SIMT_FRAME);  \
    }                                                                        \
    T __tsan_atomic##BITS##_compare_exchange_val(                            \
        volatile T* p, T expected, T v, int order, int failure) {            \
        compare_exchange(                                                    \
            p, &expected, v, flags_of(order, failure), SIMT_PC, SIMT_FRAME); \
        return expected;                                                     \
    }
SIMT_ATOMICS(8, uint8_t)
SIMT_ATOMICS(16, uint16_t)
SIMT_ATOMICS(32, uint32_t)
SIMT_ATOMICS(64, uint64_t)
#undef SIMT_ATOMICS
void __tsan_atomic_thread_fence(int order) {
    if (order != __ATOMIC_RELAXED) simt::check::fence(false);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {}

void simt_access_seen(const void* p, size_t bytes, bool write) {
    SIMT_ACCESS(p, bytes, kSeen | (write ? unsigned{kWrite} : 0u));
}
void simt_atomic_seen(const void* p, size_t bytes) {
    announced = {p, false};
    SIMT_ACCESS(p, bytes, kWrite | kAtomic);
}
void simt_atomic_stored(const void* p, size_t bytes) {
    announced = {p, false};
    SIMT_ACCESS(p, bytes, kWrite | kAtomic | kStores);
}
void simt_atomic_scope(bool of_block) {
    set_atomic_scope(of_block);
}
void simt_read_only_seen(const void* p, size_t bytes) {
    read_only_access(static_cast<const char*>(p), bytes, SIMT_PC, SIMT_FRAME);
}

// -fsanitize-coverage=trace-pc: one call for each basic block (--check=count).
void __sanitizer_cov_trace_pc() {
    if (!counting) [[likely]]
        return;
    simt::check::enter_basic_block(
        reinterpret_cast<uintptr_t>(__builtin_return_address(0)),
        static_cast<void* const*>(__builtin_frame_address(0)));
}

}  // extern "C"
