/// simt/thrust/vector.h: host_vector, device_vector and universal_vector.
#pragma once
#include <algorithm>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <vector>

#include "simt/thrust/pointer.h"

namespace thrust {
namespace detail {
/// Where the elements of a vector live.
struct HostSpace {
    template <class T>
    using pointer = T*;
    static void* allocate(size_t bytes) { return ::operator new(bytes); }
    static void release(void* memory) { ::operator delete(memory); }
    static void wait() {}
};
struct DeviceSpace {
    template <class T>
    using pointer = device_ptr<T>;
    static void* allocate(size_t bytes) {
        void* memory = nullptr;
        if (allocate_device(&memory, bytes) != cudaSuccess) throw std::bad_alloc();
        return memory;
    }
    static void release(void* memory) { (void)cudaFree(memory); }
    static void wait() { const Run run{DevicePolicy()}; }
};
struct ManagedSpace : DeviceSpace {
    static void* allocate(size_t bytes) {
        void* memory = nullptr;
        if (cudaMallocManaged(&memory, bytes) != cudaSuccess) throw std::bad_alloc();
        return memory;
    }
};

/// An array that grows, its elements in `Space`. They are value-initialised unless
/// given. Grows like std::vector, and throws std::bad_alloc if memory is short.
template <class T, class Space>
class Vector {
 public:
    using value_type = T;
    using size_type = size_t;
    using difference_type = std::ptrdiff_t;
    using reference = T&;
    using const_reference = const T&;
    using pointer = typename Space::template pointer<T>;
    using const_pointer = typename Space::template pointer<const T>;
    using iterator = pointer;
    using const_iterator = const_pointer;
    using reverse_iterator = std::reverse_iterator<iterator>;
    using const_reverse_iterator = std::reverse_iterator<const_iterator>;

    Vector() = default;
    explicit Vector(size_t n) { resize(n); }
    Vector(size_t n, const T& value) { resize(n, value); }
    template <std::input_iterator It>
    Vector(It first, It last) {
        assign(first, last);
    }
    Vector(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
    Vector(const Vector& other) { assign(other.begin(), other.end()); }
    Vector(Vector&& other) noexcept { swap(other); }
    template <class U, class From>
    Vector(const Vector<U, From>& other) {
        Space::wait();
        assign(other.begin(), other.end());
    }
    template <class U, class Allocator>
    Vector(const std::vector<U, Allocator>& other) {
        assign(other.begin(), other.end());
    }
    ~Vector() {
        clear();
        release();
    }
    Vector& operator=(const Vector& other) {
        if (this != &other) assign(other.begin(), other.end());
        return *this;
    }
    Vector& operator=(Vector&& other) noexcept {
        swap(other);
        return *this;
    }
    template <class U, class From>
    Vector& operator=(const Vector<U, From>& other) {
        assign(other.begin(), other.end());
        return *this;
    }
    template <class U, class Allocator>
    Vector& operator=(const std::vector<U, Allocator>& other) {
        assign(other.begin(), other.end());
        return *this;
    }

    pointer data() { return pointer(data_); }
    const_pointer data() const { return const_pointer(data_); }
    iterator begin() { return data(); }
    iterator end() { return data() + static_cast<difference_type>(size_); }
    const_iterator begin() const { return data(); }
    const_iterator end() const { return data() + static_cast<difference_type>(size_); }
    const_iterator cbegin() const { return begin(); }
    const_iterator cend() const { return end(); }
    reverse_iterator rbegin() { return reverse_iterator(end()); }
    reverse_iterator rend() { return reverse_iterator(begin()); }
    const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
    const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }

    T& operator[](size_t i) { return data_[i]; }
    const T& operator[](size_t i) const { return data_[i]; }
    T& at(size_t i) {
        if (i >= size_) throw std::out_of_range("thrust vector: index past the end");
        return data_[i];
    }
    T& front() { return data_[0]; }
    const T& front() const { return data_[0]; }
    T& back() { return data_[size_ - 1]; }
    const T& back() const { return data_[size_ - 1]; }

    size_t size() const { return size_; }
    size_t capacity() const { return capacity_; }
    size_t max_size() const { return PTRDIFF_MAX / sizeof(T); }
    bool empty() const { return size_ == 0; }

    void reserve(size_t n) {
        if (n <= capacity_) return;
        T* grown = static_cast<T*>(Space::allocate(n * sizeof(T)));
        std::uninitialized_move_n(data_, size_, grown);
        std::destroy_n(data_, size_);
        release();
        data_ = grown;
        capacity_ = n;
    }
    void resize(size_t n) {
        if (n > size_) {
            reserve(n);
            std::uninitialized_value_construct_n(data_ + size_, n - size_);
        }
        truncate(n);
    }
    void resize(size_t n, const T& value) {
        if (n > size_) {
            const T kept = value;  // may be an element of this vector
            reserve(n);
            std::uninitialized_fill_n(data_ + size_, n - size_, kept);
        }
        truncate(n);
    }
    void clear() { truncate(0); }
    void shrink_to_fit() {
        Vector exact(begin(), end());
        swap(exact);
    }
    void push_back(const T& value) {
        const T kept = value;
        if (size_ == capacity_) reserve(std::max<size_t>(8, 2 * capacity_));
        std::construct_at(data_ + size_++, kept);
    }
    void pop_back() { truncate(size_ - 1); }
    void assign(size_t n, const T& value) {
        const T kept = value;
        clear();
        resize(n, kept);
    }
    template <std::input_iterator It>
    void assign(It first, It last) {
        const Run run(policy_of<It>());
        std::vector<T> values;
        for (; first != last; ++first)
            values.push_back(static_cast<T>(*first));
        replace(values);
    }
    iterator insert(iterator position, const T& value) {
        return insert(position, &value, &value + 1);
    }
    template <std::input_iterator It>
    iterator insert(iterator position, It first, It last) {
        const difference_type at = position - begin();
        std::vector<T> values(data_, data_ + size_);
        values.insert(values.begin() + at, first, last);
        replace(values);
        return begin() + at;
    }
    iterator erase(iterator position) { return erase(position, position + 1); }
    iterator erase(iterator first, iterator last) {
        std::move(last, end(), first);
        truncate(size_ - static_cast<size_t>(last - first));
        return first;
    }
    void swap(Vector& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }

 private:
    void truncate(size_t n) {
        if (n < size_) std::destroy_n(data_ + n, size_ - n);
        size_ = n;
    }
    void release() {
        if (data_ != nullptr) Space::release(data_);
        data_ = nullptr;
    }
    /// The same elements as `values`.
    template <class Values>
    void replace(const Values& values) {
        clear();
        reserve(values.size());
        std::uninitialized_copy(values.begin(), values.end(), data_);
        size_ = values.size();
    }

    T* data_ = nullptr;
    size_t size_ = 0;
    size_t capacity_ = 0;
};

template <class T, class A, class U, class B>
bool operator==(const Vector<T, A>& a, const Vector<U, B>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}
template <class T, class A, class U, class Allocator>
bool operator==(const Vector<T, A>& a, const std::vector<U, Allocator>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}
template <class T, class Space>
void swap(Vector<T, Space>& a, Vector<T, Space>& b) {
    a.swap(b);
}
}  // namespace detail

/// Stands for any allocator: memory always comes from the vector's own kind.
template <class T>
struct device_allocator {
    using value_type = T;
};
template <class T, class = void>
using host_vector = detail::Vector<T, detail::HostSpace>;
template <class T, class = device_allocator<T>>
using device_vector = detail::Vector<T, detail::DeviceSpace>;
template <class T>
using universal_vector = detail::Vector<T, detail::ManagedSpace>;
}  // namespace thrust
