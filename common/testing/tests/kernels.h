// Kernels for the tests of the grader: one that is right, and the usual mistakes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace wb::testing {

/// y[i] = factor * x[i] + shift for i in [first, last).
struct Scale {
    float factor = 2.0f;
    float shift = 0.0f;
    int64_t first = 0;
    int64_t last = 0;
};

/// Launches Scale; an empty range is launched too, with one block.
void launch_scale(const float* x, float* y, Scale scale, cudaStream_t stream);

/// y = 2 x for n <= 2048 elements, by way of memory that all launches have in common.
void launch_twice_by_way_of_static(const float* x,
                                   float* y,
                                   int64_t n,
                                   cudaStream_t stream);

/// *sum = the sum of n elements, added in the order in which threads come.
void launch_sum(const float* x, float* sum, int64_t n, cudaStream_t stream);

/// Asks for so much shared memory for each block of a kernel.
cudaError_t allow_shared(int bytes);

/// Puts a launch with zero blocks onto the stream, as a careless host does.
void launch_zero_blocks(cudaStream_t stream);

}  // namespace wb::testing
