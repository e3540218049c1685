/// simt/thrust/memory.h: thrust::device_ptr, device_vector and host_vector.
///
/// A device_vector lies in memory of cudaMalloc. The host can read it all the same, so
/// that its elements are ordinary references.
#pragma once
#include <iterator>
#include <new>
#include <vector>

#include "cuda_runtime.h"

namespace thrust {

/// A pointer to device memory.
template <class T>
class device_ptr {
 public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = std::remove_cv_t<T>;
    using difference_type = std::ptrdiff_t;
    using pointer = T*;
    using reference = std::add_lvalue_reference_t<T>;

    device_ptr() = default;
    device_ptr(std::nullptr_t) {}
    explicit device_ptr(T* raw) : raw_(raw) {}
    template <class U, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
    device_ptr(const device_ptr<U>& other) : raw_(other.get()) {}

    T* get() const { return raw_; }
    reference operator*() const { return *raw_; }
    T* operator->() const { return raw_; }
    reference operator[](difference_type i) const { return raw_[i]; }
    explicit operator bool() const { return raw_ != nullptr; }

    device_ptr& operator++() { return *this += 1; }
    device_ptr& operator--() { return *this -= 1; }
    device_ptr operator++(int) { return device_ptr(raw_++); }
    device_ptr operator--(int) { return device_ptr(raw_--); }
    device_ptr& operator+=(difference_type n) {
        raw_ += n;
        return *this;
    }
    device_ptr& operator-=(difference_type n) {
        raw_ -= n;
        return *this;
    }
    friend device_ptr operator+(device_ptr p, difference_type n) { return p += n; }
    friend device_ptr operator+(difference_type n, device_ptr p) { return p += n; }
    friend device_ptr operator-(device_ptr p, difference_type n) { return p -= n; }
    friend difference_type operator-(device_ptr a, device_ptr b) {
        return a.raw_ - b.raw_;
    }
    friend auto operator<=>(device_ptr, device_ptr) = default;

 private:
    T* raw_ = nullptr;
};

template <class T>
device_ptr<T> device_pointer_cast(T* raw) {
    return device_ptr<T>(raw);
}
template <class T>
device_ptr<T> device_pointer_cast(device_ptr<T> pointer) {
    return pointer;
}
template <class T>
T* raw_pointer_cast(T* raw) {
    return raw;
}
template <class T>
T* raw_pointer_cast(device_ptr<T> pointer) {
    return pointer.get();
}
template <class T>
T& raw_reference_cast(T& reference) {
    return reference;
}

/// Device memory that the caller frees.
template <class T>
device_ptr<T> device_malloc(size_t count) {
    void* raw = nullptr;
    if (count != 0 && cudaMalloc(&raw, count * sizeof(T)) != cudaSuccess) {
        throw std::bad_alloc();
    }
    return device_ptr<T>(static_cast<T*>(raw));
}
template <class T>
void device_free(device_ptr<T> pointer) {
    cudaFree(pointer.get());
}

/// The allocator of device_vector.
template <class T>
struct device_allocator {
    using value_type = T;
    device_allocator() = default;
    template <class U>
    device_allocator(const device_allocator<U>&) {}
    T* allocate(size_t count) { return device_malloc<T>(count).get(); }
    void deallocate(T* raw, size_t) { cudaFree(raw); }
    friend bool operator==(device_allocator, device_allocator) { return true; }
};

/// What host_vector and device_vector share: conversions from each other and from
/// std::vector.
template <class T, class Allocator>
class any_vector : public std::vector<T, Allocator> {
    using Base = std::vector<T, Allocator>;

 public:
    using Base::Base;
    any_vector() = default;
    template <class Other>
    any_vector(const std::vector<T, Other>& other) : Base(other.begin(), other.end()) {}
    template <class U, class Other>
    any_vector(const std::vector<U, Other>& other) : Base(other.begin(), other.end()) {}
    template <class U, class Other>
    any_vector& operator=(const std::vector<U, Other>& other) {
        this->assign(other.begin(), other.end());
        return *this;
    }
};

template <class T, class Allocator = std::allocator<T>>
class host_vector : public any_vector<T, Allocator> {
 public:
    using any_vector<T, Allocator>::any_vector;
    using any_vector<T, Allocator>::operator=;
};

template <class T, class Allocator = device_allocator<T>>
class device_vector : public any_vector<T, Allocator> {
    using Base = any_vector<T, Allocator>;

 public:
    using pointer = device_ptr<T>;
    using Base::Base;
    using Base::operator=;

    device_ptr<T> data() { return device_ptr<T>(Base::data()); }
    device_ptr<const T> data() const { return device_ptr<const T>(Base::data()); }
};

}  // namespace thrust
