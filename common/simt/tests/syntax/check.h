// What the syntax tests share: comparing values and counting failures.
#pragma once

#include <cstdio>
#include <vector>

/// Number of values that were not what they should be.
inline int failures = 0;

/// Notes a failure with its line unless `got` equals `want`.
template <class T, class U>
void expect_equal(const T& got, const U& want, int line, const char* expression) {
    if (got == static_cast<T>(want)) return;
    ++failures;
    std::printf("line %d: %s is %g, not %g\n",
                line,
                expression,
                static_cast<double>(got),
                static_cast<double>(want));
}
#define EXPECT(got, want) expect_equal((got), (want), __LINE__, #got)

/// A device array whose elements the host can read after a launch.
template <class T>
class DeviceArray {
 public:
    explicit DeviceArray(size_t size) : size_(size) {
        cudaMalloc(&data_, size * sizeof(T));
        cudaMemset(data_, 0, size * sizeof(T));
    }
    ~DeviceArray() { cudaFree(data_); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;

    operator T*() const { return data_; }
    T at(size_t i) const {
        T value;
        const cudaError_t error =
            cudaMemcpy(&value, data_ + i, sizeof(T), cudaMemcpyDeviceToHost);
        if (error != cudaSuccess) {
            ++failures;
            std::printf("cudaMemcpy: %s\n", cudaGetErrorString(error));
        }
        return value;
    }
    size_t size() const { return size_; }

 private:
    T* data_ = nullptr;
    size_t size_;
};
