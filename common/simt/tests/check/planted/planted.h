/// planted.h: a program of small kernels, each with one planted bug, or with none.
///
///     PLANTED(race, missing_barrier) { ... launch ... }
///
/// `program` alone lists its cases as "name kind"; `program name` runs one of them.
/// The line that must be named in the report ends in a comment with the case's name.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace planted {

struct Case {
    const char* name;
    const char* kind;  // of the finding, as in the JSON; "none" in a correct program
    void (*run)();
};

inline std::vector<Case>& cases() {
    static std::vector<Case> all;
    return all;
}

struct Registered {
    Registered(const char* name, const char* kind, void (*run)()) {
        cases().push_back({name, kind, run});
    }
};

#define PLANTED(KIND, NAME)                                                       \
    static void run_##NAME();                                                     \
    static const planted::Registered registered_##NAME(#NAME, #KIND, run_##NAME); \
    static void run_##NAME()

/// `n` elements of device memory with values 0, 1, 2, ...
template <class T>
T* numbered(int n) {
    std::vector<T> host(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i)
        host[static_cast<size_t>(i)] = T(i % 7);
    T* p = nullptr;
    cudaMalloc(&p, host.size() * sizeof(T));
    cudaMemcpy(p, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}

/// `n` elements of device memory that nobody has written.
template <class T>
T* unset(int n) {
    T* p = nullptr;
    cudaMalloc(&p, static_cast<size_t>(n) * sizeof(T));
    return p;
}

/// `n` zeros in device memory.
template <class T>
T* zeros(int n) {
    T* p = unset<T>(n);
    cudaMemset(p, 0, static_cast<size_t>(n) * sizeof(T));
    return p;
}

}  // namespace planted

int main(int argc, char** argv) {
    for (const planted::Case& c : planted::cases()) {
        if (argc == 1) std::printf("%s %s\n", c.name, c.kind);
        if (argc != 2 || std::strcmp(argv[1], c.name) != 0) continue;
        c.run();
        const cudaError_t error = cudaDeviceSynchronize();
        if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorName(error));
        return error != cudaSuccess;
    }
    return argc == 1 ? 0 : 2;
}
