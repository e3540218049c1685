/// simt/libcu/atomic.h: cuda::atomic and cuda::atomic_ref.
///
/// They differ from std::atomic in what a CUDA thread needs: an operation that changes
/// nothing tells the scheduler that the thread may be spinning, fetch_min and fetch_max
/// exist, and floating-point types add.
#pragma once
#include <type_traits>

#include "simt/libcu/scope.h"

namespace cuda {

namespace simt_detail {
/// The operations on a T at address(); Derived says where it is.
template <class Derived, class T, thread_scope kScope>
class atomic_operations {
    static_assert(std::is_trivially_copyable_v<T>,
                  "atomic types are trivially copyable");
    static_assert(sizeof(T) <= 8, "the simulator has atomics of up to 8 bytes");

 public:
    using value_type = T;

    T load(memory_order order = memory_order_seq_cst) const volatile {
        simt::detail::spin_hint();
        const Scoped<kScope> scoped;
        T value;
        __atomic_load(address(), &value, static_cast<int>(order));
        return value;
    }
    void store(T value, memory_order order = memory_order_seq_cst) const volatile {
        const Scoped<kScope> scoped;
        __atomic_store(address(), &value, static_cast<int>(order));
    }
    T exchange(T value, memory_order order = memory_order_seq_cst) const volatile {
        simt::detail::atomic_begins();
        simt::detail::spin_hint();
        const Scoped<kScope> scoped;
        T old;
        __atomic_exchange(address(), &value, &old, static_cast<int>(order));
        return old;
    }
    bool compare_exchange_strong(T& expected,
                                 T desired,
                                 memory_order success,
                                 memory_order failure) const volatile {
        simt::detail::atomic_begins();
        simt::detail::spin_hint();
        const Scoped<kScope> scoped;
        return __atomic_compare_exchange(address(),
                                         &expected,
                                         &desired,
                                         false,
                                         static_cast<int>(success),
                                         static_cast<int>(failure));
    }
    bool compare_exchange_strong(T& expected,
                                 T desired,
                                 memory_order order = memory_order_seq_cst) const
        volatile {
        return compare_exchange_strong(expected, desired, order, load_part(order));
    }
    bool compare_exchange_weak(T& expected,
                               T desired,
                               memory_order success,
                               memory_order failure) const volatile {
        return compare_exchange_strong(expected, desired, success, failure);
    }
    bool compare_exchange_weak(T& expected,
                               T desired,
                               memory_order order = memory_order_seq_cst) const
        volatile {
        return compare_exchange_strong(expected, desired, order, load_part(order));
    }

    /// Replaces the value by the operation's result; returns the old one.
    T fetch_add(T operand, memory_order order = memory_order_seq_cst) const volatile {
        return update(order,
                      [operand](T old) { return static_cast<T>(old + operand); });
    }
    T fetch_sub(T operand, memory_order order = memory_order_seq_cst) const volatile {
        return update(order,
                      [operand](T old) { return static_cast<T>(old - operand); });
    }
    T fetch_and(T operand, memory_order order = memory_order_seq_cst) const volatile {
        return update(order,
                      [operand](T old) { return static_cast<T>(old & operand); });
    }
    T fetch_or(T operand, memory_order order = memory_order_seq_cst) const volatile {
        return update(order,
                      [operand](T old) { return static_cast<T>(old | operand); });
    }
    T fetch_xor(T operand, memory_order order = memory_order_seq_cst) const volatile {
        return update(order,
                      [operand](T old) { return static_cast<T>(old ^ operand); });
    }
    T fetch_min(T operand, memory_order order = memory_order_seq_cst) const volatile {
        return update(order,
                      [operand](T old) { return operand < old ? operand : old; });
    }
    T fetch_max(T operand, memory_order order = memory_order_seq_cst) const volatile {
        return update(order,
                      [operand](T old) { return old < operand ? operand : old; });
    }

    /// Waits until the value is not `old`.
    void wait(T old, memory_order order = memory_order_seq_cst) const volatile {
        wait_until([&] {
            const T now = load(order);
            return __builtin_memcmp(&now, &old, sizeof now) != 0;
        });
    }
    void notify_one() const volatile {}
    void notify_all() const volatile {}
    bool is_lock_free() const volatile { return true; }

    operator T() const volatile { return load(); }
    T operator++() const volatile { return static_cast<T>(fetch_add(T(1)) + T(1)); }
    T operator++(int) const volatile { return fetch_add(T(1)); }
    T operator--() const volatile { return static_cast<T>(fetch_sub(T(1)) - T(1)); }
    T operator--(int) const volatile { return fetch_sub(T(1)); }
    T operator+=(T v) const volatile { return static_cast<T>(fetch_add(v) + v); }
    T operator-=(T v) const volatile { return static_cast<T>(fetch_sub(v) - v); }
    T operator&=(T v) const volatile { return static_cast<T>(fetch_and(v) & v); }
    T operator|=(T v) const volatile { return static_cast<T>(fetch_or(v) | v); }
    T operator^=(T v) const volatile { return static_cast<T>(fetch_xor(v) ^ v); }

 private:
    T* address() const volatile {
        return static_cast<const volatile Derived*>(this)->address();
    }
    static memory_order load_part(memory_order order) {
        if (order == memory_order_acq_rel) return memory_order_acquire;
        return order == memory_order_release ? memory_order_relaxed : order;
    }
    template <class F>
    T update(memory_order order, F f) const volatile {
        simt::detail::atomic_begins();
        const Scoped<kScope> scoped;
        T old;
        __atomic_load(address(), &old, __ATOMIC_RELAXED);
        for (;;) {
            T next = f(old);
            if (__atomic_compare_exchange(address(),
                                          &old,
                                          &next,
                                          false,
                                          static_cast<int>(order),
                                          static_cast<int>(load_part(order)))) {
                if (__builtin_memcmp(&old, &next, sizeof old) == 0) {
                    simt::detail::spin_hint();
                }
                return old;
            }
        }
    }
};
}  // namespace simt_detail

/// An atomic object. In shared memory it is not initialised: store() first.
template <class T, thread_scope kScope = thread_scope_system>
class atomic : public simt_detail::atomic_operations<atomic<T, kScope>, T, kScope> {
    using Base = simt_detail::atomic_operations<atomic<T, kScope>, T, kScope>;
    friend Base;

 public:
    static constexpr bool is_always_lock_free = true;

    atomic() = default;
    constexpr atomic(T value) : value_(value) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;
    T operator=(T value) {
        this->store(value);
        return value;
    }

 private:
    T* address() const volatile { return const_cast<T*>(&value_); }
    alignas(sizeof(T)) mutable T value_;
};

/// Atomic operations on an object that is otherwise an ordinary one.
template <class T, thread_scope kScope = thread_scope_system>
class atomic_ref
    : public simt_detail::atomic_operations<atomic_ref<T, kScope>, T, kScope> {
    using Base = simt_detail::atomic_operations<atomic_ref<T, kScope>, T, kScope>;
    friend Base;

 public:
    static constexpr bool is_always_lock_free = true;
    static constexpr size_t required_alignment = sizeof(T);

    explicit atomic_ref(T& object) : object_(&object) {}
    atomic_ref(const atomic_ref&) = default;
    T operator=(T value) const {
        this->store(value);
        return value;
    }

 private:
    T* address() const volatile { return object_; }
    T* object_;
};

/// A flag that can be set and cleared atomically.
template <thread_scope kScope = thread_scope_system>
class atomic_flag_of_scope {
 public:
    bool test(memory_order order = memory_order_seq_cst) const {
        return set_.load(order);
    }
    bool test_and_set(memory_order order = memory_order_seq_cst) {
        return set_.exchange(true, order);
    }
    void clear(memory_order order = memory_order_seq_cst) { set_.store(false, order); }

 private:
    atomic<bool, kScope> set_{false};
};
using atomic_flag = atomic_flag_of_scope<>;

}  // namespace cuda
