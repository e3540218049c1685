/// harness.h: the tests of the simulator's core.
///
///     TEST("what holds") { CHECK(1 + 1 == 2); }
///
/// Kernels are plain functions here, launched by LAUNCH(k, grid, block)(args): the core
/// is tested without the rewriter.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "../../core/error.h"
#include "../../core/memory.h"
#include "simt/atomics.h"
#include "simt/core.h"
#include "simt/cp_async.h"
#include "simt/fault.h"
#include "simt/launch.h"
#include "simt/options.h"
#include "simt/shared.h"
#include "simt/sync.h"
#include "simt/warp.h"

namespace test {

/// Adds a test to the program; returns true.
bool add(const char* name, void (*body)());

/// Notes that a check of the running test failed.
void fail(const char* file, int line, const std::string& what);

/// Runs the tests whose name contains `filter`; the number that failed.
int run(const char* filter);

/// Device memory of n elements, freed at the end of the scope.
template <class T>
class Buffer {
 public:
    explicit Buffer(size_t n, T value = T()) : size_(n) {
        data_ = static_cast<T*>(
            simt::detail::allocate(n * sizeof(T), simt::detail::MemoryKind::device));
        for (size_t i = 0; i < n; ++i)
            data_[i] = value;
    }
    ~Buffer() { simt::detail::release(data_, simt::detail::MemoryKind::device); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    T* get() const { return data_; }
    T& operator[](size_t i) const { return data_[i]; }
    size_t size() const { return size_; }

 private:
    T* data_;
    size_t size_;
};

/// The fault that the launches since the last call left behind: its code, 0 for none.
/// Clears it, and the report for `report_contains`.
int take_fault();

/// True if the report that take_fault() cleared contains the text.
bool report_contains(const std::string& text);

/// "file.cpp:12", as reports name places.
std::string here(const char* file, int line);

}  // namespace test

#define TEST_CAT2(a, b) a##b
#define TEST_CAT(a, b) TEST_CAT2(a, b)
#define TEST(name)                                    \
    static void TEST_CAT(test_, __LINE__)();          \
    static const bool TEST_CAT(added_, __LINE__) =    \
        ::test::add(name, TEST_CAT(test_, __LINE__)); \
    static void TEST_CAT(test_, __LINE__)()
#define CHECK(...)                                                          \
    do {                                                                    \
        if (!(__VA_ARGS__)) ::test::fail(__FILE__, __LINE__, #__VA_ARGS__); \
    } while (0)
#define LAUNCH(k, ...) ::simt::kernel(#k, k)(__VA_ARGS__)
