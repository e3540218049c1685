/// simt/thrust/pointer.h: pointers to device memory.
#pragma once
#include <compare>
#include <cstddef>
#include <iterator>
#include <memory>
#include <ostream>

#include "simt/thrust/policy.h"

namespace thrust {
namespace detail {
/// Memory of Thrust's containers, as by cudaMalloc. Host code reads and writes their
/// elements; so that the checker lets it, they are managed memory in its programs.
inline cudaError_t allocate_device(void** memory, size_t bytes) {
#ifdef SIMT_CHECK
    return cudaMallocManaged(memory, bytes);
#else
    return cudaMalloc(memory, bytes);
#endif
}
}  // namespace detail

/// A device memory reference is an ordinary one: the host may use it directly.
template <class T>
using device_reference = T&;

/// Address of a T in device memory, a random access iterator.
template <class T>
class device_ptr {
 public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = std::remove_cv_t<T>;
    using element_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = device_ptr;
    using reference = std::add_lvalue_reference_t<T>;

    constexpr device_ptr() = default;
    constexpr device_ptr(std::nullptr_t) {}
    /// Implicit, so that `device_ptr<T> p = &vector[0]` works.
    constexpr device_ptr(T* raw) : raw_(raw) {}
    template <class U>
    requires std::convertible_to<U*, T*>
    constexpr device_ptr(const device_ptr<U>& other) : raw_(other.get()) {}

    constexpr T* get() const { return raw_; }
    constexpr reference operator*() const { return *raw_; }
    constexpr T* operator->() const { return raw_; }
    template <class Index>
    constexpr reference operator[](Index i) const {
        return raw_[i];
    }
    explicit constexpr operator bool() const { return raw_ != nullptr; }

    constexpr device_ptr& operator+=(difference_type n) {
        raw_ += n;
        return *this;
    }
    constexpr device_ptr& operator-=(difference_type n) { return *this += -n; }
    constexpr device_ptr& operator++() { return *this += 1; }
    constexpr device_ptr& operator--() { return *this += -1; }
    constexpr device_ptr operator++(int) { return device_ptr(raw_++); }
    constexpr device_ptr operator--(int) { return device_ptr(raw_--); }
    friend constexpr device_ptr operator+(device_ptr p, difference_type n) {
        return p += n;
    }
    friend constexpr device_ptr operator+(difference_type n, device_ptr p) {
        return p += n;
    }
    friend constexpr device_ptr operator-(device_ptr p, difference_type n) {
        return p -= n;
    }
    friend constexpr difference_type operator-(device_ptr a, device_ptr b) {
        return a.raw_ - b.raw_;
    }
    friend constexpr bool operator==(device_ptr a, device_ptr b) = default;
    friend constexpr auto operator<=>(device_ptr a, device_ptr b) = default;
    friend std::ostream& operator<<(std::ostream& out, device_ptr p) {
        return out << static_cast<const void*>(p.raw_);
    }

 private:
    T* raw_ = nullptr;
};

namespace detail {
template <class T>
inline constexpr Place place_of<device_ptr<T>> = Place::device;
template <class Base>
inline constexpr Place place_of<std::reverse_iterator<Base>> = place_of<Base>;
}  // namespace detail

template <class T>
constexpr device_ptr<T> device_pointer_cast(T* raw) {
    return device_ptr<T>(raw);
}
template <class T>
constexpr device_ptr<T> device_pointer_cast(device_ptr<T> pointer) {
    return pointer;
}
/// The address that kernels and the CUDA runtime take.
template <class T>
constexpr T* raw_pointer_cast(device_ptr<T> pointer) {
    return pointer.get();
}
template <class T>
constexpr T* raw_pointer_cast(T* pointer) {
    return pointer;
}
template <class T>
constexpr T& raw_reference_cast(T& reference) {
    return reference;
}

/// Device memory for n elements, not initialised; throws a system_error if there is
/// not enough.
template <class T>
device_ptr<T> device_malloc(size_t n) {
    void* raw = nullptr;
    detail::check(detail::allocate_device(&raw, n * sizeof(T)),
                  "thrust::device_malloc");
    return device_ptr<T>(static_cast<T*>(raw));
}
inline device_ptr<char> device_malloc(size_t bytes) {
    return device_malloc<char>(bytes);
}
template <class T>
void device_free(device_ptr<T> pointer) {
    using Value = std::remove_cv_t<T>;
    detail::check(cudaFree(const_cast<Value*>(pointer.get())), "thrust::device_free");
}
/// n elements, each constructed.
template <class T>
device_ptr<T> device_new(size_t n = 1) {
    const device_ptr<T> made = device_malloc<T>(n);
    std::uninitialized_value_construct_n(made.get(), n);
    return made;
}
template <class T>
void device_delete(device_ptr<T> pointer, size_t n = 1) {
    std::destroy_n(pointer.get(), n);
    device_free(pointer);
}
}  // namespace thrust
