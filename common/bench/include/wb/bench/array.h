/// wb/bench/array.h: device memory of a benchmark.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace wb::bench {

/// An array in device memory, freed with its owner. Fresh memory is poisoned with 0xFF
/// bytes, so that a kernel that writes nothing is not mistaken for a fast one.
template <class T>
class Array {
    static_assert(std::is_trivially_copyable_v<T>, "elements are copied as bytes");

 public:
    /// @param count  >= 0
    explicit Array(std::int64_t count) : count_(count) {
        if (count == 0) return;
        void* memory = nullptr;
        CUDA_CHECK(cudaMalloc(&memory, bytes()));
        memory_.reset(static_cast<T*>(memory));
        poison();
    }

    T* data() const { return memory_.get(); }
    std::int64_t size() const { return count_; }
    std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(T); }

    /// Fills the array with 0xFF bytes.
    void poison() const {
        if (count_ > 0) CUDA_CHECK(cudaMemset(data(), 0xFF, bytes()));
    }

    /// One element, fetched from the device. Waits for all work.
    T at(std::int64_t i) const {
        T value;
        CUDA_CHECK(cudaMemcpy(&value, data() + i, sizeof(T), cudaMemcpyDeviceToHost));
        return value;
    }

    /// All elements. Waits for all work.
    std::vector<T> host() const {
        std::vector<T> values(static_cast<std::size_t>(count_));
        if (count_ > 0) {
            CUDA_CHECK(
                cudaMemcpy(values.data(), data(), bytes(), cudaMemcpyDeviceToHost));
        }
        return values;
    }

    /// Some elements, from the one at `first`. Waits for all work.
    std::vector<T> host(std::int64_t first, std::int64_t count) const {
        if (first < 0 || count < 0 || first + count > count_) {
            throw std::invalid_argument("Array::host: not elements of this array");
        }
        std::vector<T> values(static_cast<std::size_t>(count));
        if (count > 0) {
            CUDA_CHECK(cudaMemcpy(values.data(),
                                  data() + first,
                                  values.size() * sizeof(T),
                                  cudaMemcpyDeviceToHost));
        }
        return values;
    }

    /// Overwrites the array with as many elements from the host.
    void upload(const std::vector<T>& values) const {
        if (static_cast<std::int64_t>(values.size()) != count_) {
            throw std::invalid_argument(
                "Array::upload: the number of elements differs");
        }
        if (count_ == 0) return;
        CUDA_CHECK(cudaMemcpy(data(), values.data(), bytes(), cudaMemcpyHostToDevice));
    }

    /// Overwrites the array with a device array of the same size, on a stream.
    void copy_from(const Array& other, cudaStream_t stream) const {
        if (other.count_ != count_) {
            throw std::invalid_argument(
                "Array::copy_from: the number of elements differs");
        }
        if (count_ == 0) return;
        CUDA_CHECK(cudaMemcpyAsync(
            data(), other.data(), bytes(), cudaMemcpyDeviceToDevice, stream));
    }

 private:
    struct Free {
        void operator()(T* memory) const {
            (void)cudaFree(memory);  // a destructor cannot throw
        }
    };

    std::int64_t count_;
    std::unique_ptr<T, Free> memory_;
};

/// An array of standard normal numbers, made on the device: 2^28 of them take
/// milliseconds, where a CPU would take seconds.
/// @param seed  the same seed gives the same numbers
Array<float> random_normal(std::int64_t count, std::uint64_t seed);

}  // namespace wb::bench
