/// check.h: the tests of the device library: programs that run kernels, compare, and
/// print "N passed, M failed". They compile with nvcc, too, and pass on a GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace check {

inline int passed = 0;
inline int failed = 0;

/// Counts a check; says which one failed.
inline void expect(bool holds, const char* what) {
    if (holds) {
        ++passed;
    } else {
        ++failed;
        std::printf("FAILED: %s\n", what);
    }
}

/// Ends the program: what follows would make no sense.
inline void need(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    std::printf("FAILED: %s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}

/// An array on the device, zeroed, that frees itself.
template <class T>
class Array {
 public:
    explicit Array(size_t size) : size_(size) {
        need(cudaMalloc(&data_, size * sizeof(T)), "cudaMalloc");
        need(cudaMemset(data_, 0, size * sizeof(T)), "cudaMemset");
    }
    explicit Array(const std::vector<T>& host) : Array(host.size()) {
        need(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice),
             "copy to the device");
    }
    ~Array() { cudaFree(data_); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;

    T* data() const { return data_; }
    /// The contents, after all kernels have finished.
    std::vector<T> host() const {
        std::vector<T> values(size_);
        need(cudaGetLastError(), "launch");
        need(cudaDeviceSynchronize(), "kernel");
        need(
            cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost),
            "copy to the host");
        return values;
    }

 private:
    T* data_ = nullptr;
    size_t size_;
};

/// Whether values[i] == expected(i) for every i; prints the first that is not.
template <class T, class F>
bool all_equal(const std::vector<T>& values, F expected) {
    for (size_t i = 0; i < values.size(); ++i) {
        const T wanted = static_cast<T>(expected(static_cast<int>(i)));
        if (values[i] == wanted) continue;
        std::printf("  element %zu: got %g, expected %g\n",
                    i,
                    static_cast<double>(values[i]),
                    static_cast<double>(wanted));
        return false;
    }
    return true;
}

/// The program's last line and exit status.
inline int report() {
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed != 0 || passed == 0;
}

}  // namespace check
