// What the tests of the counters share.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <string>

#include "simt/check.h"

using simt::check::Counters;

inline int failures = 0;
inline std::string current;  // what is being counted

inline void expect(double got, double want, const char* expression, int line) {
    if (got == want) return;
    ++failures;
    std::printf("line %d: %s: %s is %g, not %g\n",
                line,
                current.c_str(),
                expression,
                got,
                want);
}
#define EXPECT(got, want) \
    expect(static_cast<double>(got), static_cast<double>(want), #got, __LINE__)

/// The launches while it lives are counted under its name.
class Section {
 public:
    explicit Section(const char* name) {
        current = name;
        simt::check::begin_section(name);
    }
    ~Section() { simt::check::end_section(); }
    Section(const Section&) = delete;

    Counters counters(const char* kernel) const {
        const cudaError_t error = cudaDeviceSynchronize();
        if (error != cudaSuccess) {
            ++failures;
            std::printf("%s: %s\n", kernel, cudaGetErrorString(error));
        }
        const Counters c = simt::check::counters(kernel);
        if (c.launches == 0) {
            ++failures;
            std::printf("%s: no launch was counted\n", kernel);
        }
        return c;
    }
};

/// Zeros in device memory.
template <class T>
class Buffer {
 public:
    explicit Buffer(size_t size) {
        cudaMalloc(&data_, size * sizeof(T));
        cudaMemset(data_, 0, size * sizeof(T));
    }
    ~Buffer() { cudaFree(data_); }
    Buffer(const Buffer&) = delete;
    T* get() const { return data_; }

 private:
    T* data_ = nullptr;
};

inline int verdict() {
    std::printf("%s\n", failures == 0 ? "all right" : "FAILED");
    return failures == 0 ? 0 : 1;
}
