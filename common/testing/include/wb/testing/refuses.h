/// wb/testing/refuses.h: functions of which all arguments are in one struct: right ones
/// are changed in one way at a time, and each must be refused by name.
#pragma once

#include <wb/testing/grader.h>

#include <cuda_runtime.h>

#include <cstdint>

namespace wb::testing {

/// An array, one byte further than its type allows.
template <class T>
T* misaligned(T* array) {
    return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(array) + 1);
}

/// Refuses what change() makes of right arguments.
template <class Arguments>
struct Refuses {
    const char* name;
    void (*call)(const Arguments&, cudaStream_t);
    Arguments right;

    /// @param part  stands in what is said
    template <class Change>
    void operator()(const char* part, Change change) const {
        Arguments wrong = right;
        change(wrong);
        expect_refused(name, part, part, [&] { call(wrong, nullptr); });
    }
};

}  // namespace wb::testing
