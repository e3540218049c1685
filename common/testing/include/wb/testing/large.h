/// wb/testing/large.h: an input and an output of more elements than 32 bits can count.
/// A GPU has the memory for them. All is zero but for a few places, and nothing but a
/// few places is looked at, so that a case takes a fraction of a second.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "grader.h"

namespace wb::testing {

class LargeArrays {
 public:
    /// Memory for so many floats; none at all unless a gigabyte is left over.
    LargeArrays(int64_t x_floats, int64_t y_floats)
        : y_bytes_(static_cast<std::size_t>(y_floats) * sizeof(float)) {
        const std::size_t x_bytes = static_cast<std::size_t>(x_floats) * sizeof(float);
        std::size_t free_bytes = 0;
        std::size_t total_bytes = 0;
        CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
        if (free_bytes < x_bytes + y_bytes_ + (std::size_t{1} << 30)) return;
        CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&x), x_bytes));
        CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&y), y_bytes_));
        CUDA_CHECK(cudaMemset(x, 0, x_bytes));
    }
    ~LargeArrays() {
        (void)cudaFree(x);
        (void)cudaFree(y);
    }
    LargeArrays(const LargeArrays&) = delete;
    LargeArrays& operator=(const LargeArrays&) = delete;

    bool has_memory() const { return y != nullptr; }

    /// x[index] = value.
    void set(int64_t index, float value) {
        CUDA_CHECK(cudaMemcpy(x + index, &value, sizeof value, cudaMemcpyHostToDevice));
    }

    /// Runs a launcher and compares y in these places, from which it must not be far
    /// off by more than a millionth.
    void expect(const std::string& implementation,
                const std::string& inputs,
                const std::vector<int64_t>& places,
                const std::vector<double>& expected,
                const std::function<void(cudaStream_t)>& launcher) {
        Grader grade(implementation, inputs);
        float* few = grade.output<float>("y", {static_cast<int64_t>(places.size())});
        CUDA_CHECK(cudaMemset(y, 0xFF, y_bytes_));
        grade.run([&](cudaStream_t stream) {
            launcher(stream);
            for (std::size_t i = 0; i < places.size(); ++i) {
                CUDA_CHECK(cudaMemcpyAsync(few + i,
                                           y + places[i],
                                           sizeof(float),
                                           cudaMemcpyDeviceToDevice,
                                           stream));
            }
        });
        grade.expect("y", expected, [](int64_t) { return 1e-6; });
    }

    float* x = nullptr;
    float* y = nullptr;

 private:
    std::size_t y_bytes_;
};

}  // namespace wb::testing
