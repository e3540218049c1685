/// conformance.h: small checks of CUDA's semantics, one source for nvcc and simulator.
///
///     CONFORMANCE(shuffle_xor_exchanges_neighbours) {
///         const auto got = run<int>(1, 32, 32, [] __device__(int* out) {
///             out[threadIdx.x] = __shfl_xor_sync(~0u, threadIdx.x, 1);
///         });
///         expect_each(got, [](int i) { return i ^ 1; });
///     }
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace conformance {

/// Adds a check to the program; returns true.
bool add(const char* name, void (*check)());

/// Ends the running check as failed.
[[noreturn]] inline void fail(const std::string& why) {
    throw std::runtime_error(why);
}

inline void require(bool condition, const char* what) {
    if (!condition) fail(what);
}

/// A failed CUDA call ends the check.
inline void ok(cudaError_t error) {
    if (error != cudaSuccess) fail(std::string("got ") + cudaGetErrorName(error));
}

/// The call must return just this error. It is cleared afterwards.
inline void expect_error(cudaError_t got, cudaError_t expected) {
    (void)cudaGetLastError();
    if (got != expected) {
        fail(std::string("expected ") + cudaGetErrorName(expected) + ", got " +
             cudaGetErrorName(got));
    }
}

template <class T>
std::string show(const T& value) {
    std::ostringstream text;
    text.precision(17);
    text << value;
    return text.str();
}

template <class T>
std::string show(const std::vector<T>& values) {
    std::string text;
    for (const T& value : values)
        text += (text.empty() ? "" : " ") + show(value);
    return text;
}

template <class A, class B>
void expect_equal(const A& got, const B& expected) {
    if (!(got == expected)) fail("expected " + show(expected) + ", got " + show(got));
}

/// got[i] == expected(i) for every i.
template <class T, class F>
void expect_each(const std::vector<T>& got, F expected) {
    for (std::size_t i = 0; i < got.size(); ++i) {
        const T wanted = static_cast<T>(expected(static_cast<int>(i)));
        if (!(got[i] == wanted)) {
            fail("element " + std::to_string(i) + ": expected " + show(wanted) +
                 ", got " + show(got[i]));
        }
    }
}

#ifdef __CUDACC__  // main.cpp needs the list of checks only

template <class T, class F>
__global__ void run_kernel(T* out, F body) {
    body(out);
}

/// Runs `body(out)` in every thread of a launch and returns out[0 .. count).
/// `out` starts as zeros.
template <class T, class F>
std::vector<T> run(dim3 grid, dim3 block, int count, F body, int shared_bytes = 0) {
    T* out = nullptr;
    ok(cudaMalloc(&out, sizeof(T) * static_cast<std::size_t>(count)));
    ok(cudaMemset(out, 0, sizeof(T) * static_cast<std::size_t>(count)));
    run_kernel<<<grid, block, shared_bytes>>>(out, body);
    ok(cudaGetLastError());
    ok(cudaDeviceSynchronize());
    std::vector<T> result(static_cast<std::size_t>(count));
    ok(cudaMemcpy(result.data(), out, sizeof(T) * result.size(), cudaMemcpyDefault));
    ok(cudaFree(out));
    return result;
}

/// The single value that one thread computes.
template <class T, class F>
T run_one(F body) {
    return run<T>(1, 1, 1, body)[0];
}

#endif  // __CUDACC__

}  // namespace conformance

#define CONFORMANCE(name)                             \
    void conformance_##name();                        \
    [[maybe_unused]] static const bool added_##name = \
        conformance::add(#name, conformance_##name);  \
    void conformance_##name()
