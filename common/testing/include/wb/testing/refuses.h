/// wb/testing/refuses.h: functions of which all arguments are in one struct: right ones
/// are changed in one way at a time, and each must be refused by name.
#pragma once

#include <wb/testing/grader.h>
#include <wb/testing/simulator.h>

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <string>

namespace wb::testing {

/// An array, one byte further than its type allows.
template <class T>
T* misaligned(T* array) {
    return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(array) + 1);
}

/// Right arguments are refused, too, on a GPU that is too old.
///
/// @param gpu  its compute capability, times 10
inline void expect_older_gpu_refused(const char* name,
                                     const std::function<void()>& call,
                                     int gpu = 75) {
    const OlderGpu older(gpu);
    const std::string which = "on a GPU of compute capability " +
                              std::to_string(gpu / 10) + "." + std::to_string(gpu % 10);
    expect_refused(name, which, "compute capability", call);
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

    /// @param gpu  its compute capability, times 10
    void older_gpu(int gpu = 75) const {
        expect_older_gpu_refused(
            name, [this] { call(right, nullptr); }, gpu);
    }
};

}  // namespace wb::testing
