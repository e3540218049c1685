/// example.h: what every example needs: arrays on the device, and a verdict at the end.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace example {

/// Ends the program if a CUDA call has failed.
inline void require(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::printf("CUDA: %s\n", cudaGetErrorString(error));
    std::exit(1);
}

/// An array in device memory, made from one in host memory.
template <class T>
class Array {
 public:
    explicit Array(const std::vector<T>& host) : size_(host.size()) {
        require(cudaMalloc(&device_, size_ * sizeof(T)));
        upload(host);
    }
    Array(const Array&) = delete;
    ~Array() { cudaFree(device_); }

    /// What a kernel is passed.
    T* data() { return device_; }
    void upload(const std::vector<T>& host) {
        const size_t bytes = size_ * sizeof(T);
        require(cudaMemcpy(device_, host.data(), bytes, cudaMemcpyHostToDevice));
    }
    /// Waits for the kernels before, and says which error one of them has met.
    std::vector<T> download() const {
        std::vector<T> host(size_);
        const size_t bytes = size_ * sizeof(T);
        require(cudaMemcpy(host.data(), device_, bytes, cudaMemcpyDeviceToHost));
        return host;
    }

 private:
    T* device_ = nullptr;
    size_t size_;
};

/// Values in [-1, 1) that look random and are the same on every machine.
inline std::vector<float> numbers(size_t count) {
    std::vector<float> values(count);
    uint32_t state = 1;
    for (float& value : values) {
        state = state * 1664525u + 1013904223u;
        value = float(state >> 8) / float(1 << 23) - 1.0f;
    }
    return values;
}

/// The size that the command line names, or `fallback`; a multiple of `step`.
inline int size_argument(int count, char** arguments, int fallback, int step) {
    const int size = count > 1 ? std::atoi(arguments[1]) : fallback;
    if (size > 0 && size % step == 0) return size;
    std::printf("usage: %s [size, a multiple of %d]\n", arguments[0], step);
    std::exit(2);
}

/// Collects what comparisons say about the kernels; main() returns exit_status().
class Verdict {
 public:
    /// `got` may differ from `want` by `tolerance` times the larger of 1 and |want|.
    template <class T>
    void compare(const char* kernel,
                 const std::vector<T>& got,
                 const std::vector<T>& want,
                 double tolerance = 0) {
        size_t wrong = got.size() == want.size() ? 0 : 1;
        for (size_t i = 0; i < got.size() && i < want.size(); ++i) {
            const double allowed =
                tolerance * std::fmax(1.0, std::fabs(double(want[i])));
            // Written so that a NaN is wrong.
            if (!(std::fabs(double(got[i]) - double(want[i])) <= allowed)) ++wrong;
        }
        std::printf("%-28s %s\n", kernel, wrong == 0 ? "right" : "WRONG");
        failed_ = failed_ || wrong != 0;
    }
    int exit_status() const { return failed_ ? 1 : 0; }

 private:
    bool failed_ = false;
};

}  // namespace example
