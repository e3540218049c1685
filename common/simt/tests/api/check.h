#pragma once
// A minimal test harness for the runtime API. The same sources are compiled by simt-c++
// and by nvcc: what passes here and fails on a GPU is a difference between the two. A
// failed check is printed and the test goes on, so that one run finds all differences.

#include <cuda_runtime.h>

#include <cstdio>

namespace check {

/// What CUDA says of a block of 2000 threads. Version 13 was read off an H100.
constexpr cudaError_t kImpossibleShape =
    CUDART_VERSION >= 13000 ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;

struct Test {
    const char* group;
    const char* name;
    void (*run)();
    Test* next;
};

/// All tests of the program, last one first.
inline Test*& tests() {
    static Test* first = nullptr;
    return first;
}
inline int& failures() {
    static int count = 0;
    return count;
}
inline int& checks() {
    static int count = 0;
    return count;
}

struct Registration {
    explicit Registration(Test& test) {
        test.next = tests();
        tests() = &test;
    }
};

inline void verify(bool ok, const char* file, int line, const char* text) {
    ++checks();
    if (ok) return;
    ++failures();
    std::printf("    FAILED %s:%d: %s\n", file, line, text);
}

inline void verify_error(cudaError_t expected,
                         cudaError_t got,
                         const char* file,
                         int line,
                         const char* call) {
    ++checks();
    (void)cudaGetLastError();
    if (expected == got) return;
    ++failures();
    std::printf("    FAILED %s:%d: %s: expected %s, got %s\n",
                file,
                line,
                call,
                cudaGetErrorName(expected),
                cudaGetErrorName(got));
}

}  // namespace check

#ifndef TEST_GROUP
#error "define TEST_GROUP before check.h"
#endif

/// TEST(name) { ... }
#define TEST(name)                                                              \
    static void test_##name();                                                  \
    static check::Test info_##name = {TEST_GROUP, #name, test_##name, nullptr}; \
    static check::Registration registration_##name(info_##name);                \
    static void test_##name()

#define EXPECT(...) check::verify((__VA_ARGS__), __FILE__, __LINE__, #__VA_ARGS__)

/// The call must return just this code; the last error is cleared.
#define EXPECT_ERROR(expected, ...) \
    check::verify_error((expected), (__VA_ARGS__), __FILE__, __LINE__, #__VA_ARGS__)

#define OK(...) EXPECT_ERROR(cudaSuccess, __VA_ARGS__)
